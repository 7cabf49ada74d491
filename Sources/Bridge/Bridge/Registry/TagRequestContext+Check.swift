import JacquardProtocol

extension TagRequestContext {
    /// The context in which a command is checked before there is a tag: whether it is valid does not depend on one.
    ///
    /// - Parameter signal: the name of a signal that the configuration may have; nil if the command plays none.
    init(checkingSignal signal: String?) {
        var options = BridgeOptions()
        options.signals = signal.map { [Signal(name: $0)] } ?? []
        self.init(entry: TagEntry(id: "-", serial: "-"), settings: Settings(options), features: Features(options))
    }
}
