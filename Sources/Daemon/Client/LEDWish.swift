import Bridge
import EventLoop
import JSON
import Text
import Time

/// What the command line says about an LED, and the payload of `led/set` that says the same.
struct LEDWish: Hashable, Sendable {
    /// The lights that one word selects.
    enum Light: Hashable, Sendable {
        case on
        case off
        case flash
        /// `#rrggbb`, lower case.
        case color(String)
    }

    /// Which LED. The raw values are the words of command line and payload.
    enum Component: String, CaseIterable, Sendable {
        case tag, gear
    }

    /// The light itself.
    var light: Light
    /// The name of a pattern; the bridge knows which there are.
    var pattern: String?
    /// How long it plays; nil: the bridge's own choice.
    var duration: Duration?
    /// Which LED; nil: the tag's.
    var component: Component?

    /// The payload of the command.
    var payload: [String: JSONValue] {
        var payload: [String: JSONValue] =
            switch light {
            case .on: ["state": "ON"]
            case .off: ["state": "OFF"]
            case .flash: ["flash": 1]
            case .color(let text): ["color": .string(text)]
            }
        payload["pattern"] = pattern.map(JSONValue.string)
        payload["duration_ms"] = duration.map { .integer($0.milliseconds) }
        payload["component"] = component.map { .string($0.rawValue) }
        return payload
    }
}

extension LEDWish.Light {
    /// `on`, `off`, `flash`, a colour's name or `#rrggbb`, in any case.
    static var rule: ScalarRule<Self> {
        ScalarRule(
            allowed: "on, off, flash, " + LEDColorName.all.map(\.name).joined(separator: ", ") + ", #rrggbb"
        ) { text throws(Rejection) in
            switch text.lowercased() {
            case "on": return .on
            case "off": return .off
            case "flash": return .flash
            case let word:
                if let color = LEDColorName.all.first(where: { $0.name == word })?.hexadecimal ?? hexadecimal(word) {
                    return .color(color)
                }
                throw Rejection(
                    "is not a light" + Spelling.hint(for: word, in: ["flash", "off"] + LEDColorName.all.map(\.name)))
            }
        }
    }

    private static func hexadecimal(_ word: String) -> String? {
        let digits = word.utf8.dropFirst()
        let isColor = word.hasPrefix("#") && digits.count == 6 && digits.allSatisfy(ASCII.isHexadecimal)
        return isColor ? word : nil
    }
}
