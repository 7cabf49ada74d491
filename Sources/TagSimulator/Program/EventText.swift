import JacquardProtocol

/// An event as a line for people.
enum EventText {
    static func line(for event: SimulatorEvent) -> String {
        event.tag + " " + text(of: event.kind)
    }

    private static func text(of kind: SimulatorEvent.Kind) -> String {
        switch kind {
        case .told(let told): text(of: told)
        case .connected: "connected"
        case .disconnected: "disconnected"
        case .subscribed(let channel, let isOn): "\(isOn ? "subscribed to" : "unsubscribed from") \(channel.word)"
        case .burst(let sent, let dropped): "made \(sent), dropped \(dropped)"
        }
    }

    private static func text(of told: Told) -> String {
        switch told {
        case .led(let pattern, let target) where pattern.haltsAll: "LED of the \(target.word): all patterns stopped"
        case .led(let pattern, let target):
            "LED of the \(target.word): \(pattern.kind.word) \(colors(of: pattern)) for "
                + "\(pattern.durationMilliseconds) ms"
        case .haptic(let pattern) where pattern.symbol == .halted: "motor stopped"
        case .haptic(let pattern):
            "motor: \(pattern.symbol.word) \(pattern.onMilliseconds) ms on, \(pattern.offMilliseconds) ms off, "
                + "\(pattern.maxAmplitudePercent) %, \(Int(pattern.repeatNMinusOne) + 1) times"
        case .renamed(let name): "renamed to \"\(name)\""
        case .touchMode(let mode): "touch mode \(mode.word)"
        case .stored(let element): "stored \"\(element.key ?? "")\""
        case .disconnect(let seconds, let onlyMovementWakes):
            "to disconnect in \(seconds) s\(onlyMovementWakes ? " until it is moved" : "")"
        }
    }

    private static func colors(of pattern: LEDPattern) -> String {
        pattern.frames.map(\.color.hex).joined(separator: " ")
    }
}
