import JSON
import JacquardProtocol
import Text

/// A named colour. MQTT commands and command lines use the same table.
public struct LEDColorName: Hashable, Sendable {
    /// Lower case; commands may use any case.
    public let name: String
    /// `#rrggbb`, lower case.
    public let hexadecimal: String

    /// All names, in the order of the documentation.
    public static let all = [
        LEDColorName(name: "red", hexadecimal: "#ff0000"),
        LEDColorName(name: "green", hexadecimal: "#00ff00"),
        LEDColorName(name: "blue", hexadecimal: "#0000ff"),
        LEDColorName(name: "yellow", hexadecimal: "#ffff00"),
        LEDColorName(name: "cyan", hexadecimal: "#00ffff"),
        LEDColorName(name: "magenta", hexadecimal: "#ff00ff"),
        LEDColorName(name: "orange", hexadecimal: "#ff8000"),
        LEDColorName(name: "purple", hexadecimal: "#8000ff"),
        LEDColorName(name: "pink", hexadecimal: "#ff4080"),
        LEDColorName(name: "white", hexadecimal: "#ffffff"),
    ]
}

extension LEDPattern.Color {
    /// Reads a colour name, `"#rrggbb"` or `{"r":0,"g":0,"b":0}`.
    init?(_ value: JSONValue) {
        switch value {
        case .string(let text) where text.utf8.first == UInt8(ascii: "#"): self.init(hexadecimal: text)
        case .string(let text):
            let name = text.lowercased()
            guard let color = LEDColorName.all.first(where: { $0.name == name }) else { return nil }
            self.init(hexadecimal: color.hexadecimal)
        case .object(let parts): self.init(parts: parts)
        default: return nil
        }
    }

    /// The keys of a colour that is an object.
    static let keys = ["r", "g", "b"]

    /// The allowed values, for error texts.
    static var allowed: String {
        let names = LEDColorName.all.map(\.name).joined(separator: ", ")
        return ##"a name (\##(names)), a text such as "#ff8000", or r, g and b, each 0 to 255"##
    }

    private init?(hexadecimal text: String) {
        guard text.utf8.count == 7, text.utf8.first == UInt8(ascii: "#") else { return nil }
        var color: UInt32 = 0
        for byte in text.utf8.dropFirst() {
            guard let digit = ASCII.hexadecimalDigit(byte) else { return nil }
            color = color << 4 | UInt32(digit)
        }
        self.init(
            red: UInt8(truncatingIfNeeded: color >> 16), green: UInt8(truncatingIfNeeded: color >> 8),
            blue: UInt8(truncatingIfNeeded: color))
    }

    private init?(parts: [String: JSONValue]) {
        guard case .integer(let red) = parts["r"], case .integer(let green) = parts["g"],
            case .integer(let blue) = parts["b"], let red = UInt8(exactly: red), let green = UInt8(exactly: green),
            let blue = UInt8(exactly: blue)
        else { return nil }
        self.init(red: red, green: green, blue: blue)
    }

    /// Returns the colour scaled by a brightness; 255 leaves it unchanged.
    func scaled(by brightness: UInt8) -> LEDPattern.Color {
        func part(_ part: UInt8) -> UInt8 {
            UInt8(truncatingIfNeeded: (UInt32(part) * UInt32(brightness) + 127) / 255)
        }
        return LEDPattern.Color(red: part(red), green: part(green), blue: part(blue))
    }
}
