import JSON
import JacquardProtocol

extension LEDPattern.Color {
    /// Reads `"#rrggbb"` or `{"r":0,"g":0,"b":0}`; other keys do not matter.
    init?(_ value: JSONValue) {
        switch value {
        case .string(let text): self.init(hexadecimal: text)
        case .object(let parts): self.init(parts: parts)
        default: return nil
        }
    }

    private init?(hexadecimal text: String) {
        let digits = text.utf8.dropFirst()
        guard text.utf8.first == UInt8(ascii: "#"), digits.count == 6,
            digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let number = UInt32(text.dropFirst(), radix: 16)
        else { return nil }
        self.init(
            red: UInt8(truncatingIfNeeded: number >> 16),
            green: UInt8(truncatingIfNeeded: number >> 8),
            blue: UInt8(truncatingIfNeeded: number))
    }

    private init?(parts: [String: JSONValue]) {
        guard case .integer(let red) = parts["r"], case .integer(let green) = parts["g"],
            case .integer(let blue) = parts["b"], let red = UInt8(exactly: red), let green = UInt8(exactly: green),
            let blue = UInt8(exactly: blue)
        else { return nil }
        self.init(red: red, green: green, blue: blue)
    }

    /// The colour at a brightness; 255 leaves it as it is.
    func scaled(by brightness: UInt8) -> LEDPattern.Color {
        func part(_ part: UInt8) -> UInt8 {
            UInt8(truncatingIfNeeded: (UInt32(part) * UInt32(brightness) + 127) / 255)
        }
        return LEDPattern.Color(red: part(red), green: part(green), blue: part(blue))
    }
}
