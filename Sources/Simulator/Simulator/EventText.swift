import GATTRecording
import JSON
import JacquardProtocol
import TagFirmware
import Text

/// An event as a line for people.
enum EventText {
    static func line(for event: SimulatorEvent) -> String {
        event.tag + " " + text(of: event.kind)
    }

    private static func text(of kind: SimulatorEvent.Kind) -> String {
        switch kind {
        case .effect(let effect): text(of: effect)
        case .connected: "connected"
        case .disconnected: "disconnected"
        case .subscribed(let channel, let isOn): "\(isOn ? "subscribed to" : "unsubscribed from") \(channel.word)"
        case .burst(let sent, let dropped): "made \(sent), dropped \(dropped)"
        }
    }

    private static func text(of effect: TagEffect) -> String {
        switch effect {
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
        case .unrecorded(let request):
            "the recording has no request with domain \(request.domain.rawValue) and opcode \(request.opcode.rawValue)"
        }
    }

    private static func colors(of pattern: LEDPattern) -> String {
        pattern.frames.map(\.color.hex).joined(separator: " ")
    }
}

/// An event as a JSON object; the keys are those of the bridge's contract where it has the same thing.
enum EventRecord {
    static func members(of event: SimulatorEvent) -> [String: JSONValue] {
        var members = content(of: event.kind)
        members["tag"] = .string(event.tag)
        return members
    }

    private static func content(of kind: SimulatorEvent.Kind) -> [String: JSONValue] {
        switch kind {
        case .effect(let effect): content(of: effect)
        case .connected: ["event": .string("connected")]
        case .disconnected: ["event": .string("disconnected")]
        case .subscribed(let channel, let isOn):
            ["event": .string(isOn ? "subscribed" : "unsubscribed"), "channel": .string(channel.word)]
        case .burst(let sent, let dropped):
            ["event": .string("burst"), "sent": .integer(Int64(sent)), "dropped": .integer(Int64(dropped))]
        }
    }

    private static func content(of effect: TagEffect) -> [String: JSONValue] {
        switch effect {
        case .led(let pattern, let target): led(pattern, on: target)
        case .haptic(let pattern): haptic(pattern)
        case .renamed(let name): ["event": .string("renamed"), "name": .string(name)]
        case .touchMode(let mode): ["event": .string("touch_mode"), "mode": .string(mode.word)]
        case .stored(let element):
            ["event": .string("stored"), "key": .string(element.key ?? ""), "value": value(of: element)]
        case .disconnect(let seconds, let onlyMovementWakes):
            [
                "event": .string("disconnect"), "timeout_s": .integer(Int64(seconds)),
                "wake_on_motion": .bool(onlyMovementWakes),
            ]
        case .unrecorded(let request):
            [
                "event": .string("unrecorded"), "domain": .integer(Int64(request.domain.rawValue)),
                "opcode": .integer(Int64(request.opcode.rawValue)),
            ]
        }
    }

    private static func led(_ pattern: LEDPattern, on target: TagCommand.Target) -> [String: JSONValue] {
        let frames = pattern.frames.map { frame in
            JSONValue.object([
                "color": .string(frame.color.hex), "duration_ms": .integer(Int64(frame.lengthMilliseconds)),
            ])
        }
        return [
            "event": .string("led"), "component": .string(target.word), "pattern": .string(pattern.kind.word),
            "color": pattern.frames.first.map { .string($0.color.hex) } ?? .null, "frames": .array(frames),
            "duration_ms": .integer(Int64(pattern.durationMilliseconds)),
            "play": .string(pattern.playType == .play ? "play" : "toggle"), "resumable": .bool(pattern.isResumable),
            "halt_all": .bool(pattern.haltsAll),
        ]
    }

    private static func haptic(_ pattern: HapticPattern) -> [String: JSONValue] {
        [
            "event": .string("haptic"), "pattern": .string(pattern.symbol.word),
            "on_ms": .integer(Int64(pattern.onMilliseconds)), "off_ms": .integer(Int64(pattern.offMilliseconds)),
            "amplitude": .integer(Int64(pattern.maxAmplitudePercent)),
            "repeat": .integer(Int64(pattern.repeatNMinusOne)),
        ]
    }

    private static func value(of element: ConfigElement) -> JSONValue {
        switch element.value {
        case .bool(let value): .bool(value)
        case .uint32(let value): .integer(Int64(value))
        case .int32(let value): .integer(Int64(value))
        case .int64(let value): .integer(value)
        // A JSON reader may not hold all 64 bits.
        case .uint64(let value): .string(String(value))
        case .float(let value): value.isFinite ? .number(Double(value)) : .null
        case .double(let value): value.isFinite ? .number(value) : .null
        case .string(let value): .string(value)
        case nil: .null
        }
    }
}
