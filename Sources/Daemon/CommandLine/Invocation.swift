/// What the command line asks for.
enum Invocation: Hashable, Sendable {
    /// Be the bridge, with what the command line puts in the place of defaults and configuration.
    case run(config: String?, state: String?, logLevel: Configuration.Log.Level?)
    /// Say what is wrong with the configuration.
    case checkConfig(config: String?)
    /// Explain a command; nil: the program.
    case help(topic: String?)
    /// Print the version.
    case version
}
