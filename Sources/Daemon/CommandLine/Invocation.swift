import Configuration

/// What the command line asks for.
enum Invocation: Hashable, Sendable {
    /// Be the bridge, with what the command line puts in the place of defaults and configuration.
    case run(config: String?, state: String?, logLevel: Settings.Log.Level?)
    /// Say what is wrong with the configuration, or print the values of keys.
    case checkConfig(config: String?, isJSON: Bool = false, keys: [String] = [])
    /// Ask the running bridge for something, or look at what it publishes.
    case ask(ClientRequest, ClientOptions)
    /// Say what is wrong with this machine and the broker.
    case doctor(state: String?, ClientOptions)
}

/// What every command of the client takes.
struct ClientOptions: Hashable, Sendable {
    /// The file of `--config`; nil: wherever the bridge would look.
    var config: String?
    /// Whether machines read the output.
    var isJSON = false
}
