import JacquardProtocol

/// The words by which the simulator shows the protocol's values.
extension TagCharacteristic {
    var word: String {
        switch self {
        case .command: "command"
        case .response: "response"
        case .notify: "notify"
        case .rawData: "raw"
        }
    }

    init?(word: String) {
        guard let channel = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = channel
    }
}

extension TagCommand.Target {
    var word: String {
        switch self {
        case .tag: "tag"
        case .gear: "gear"
        }
    }
}

extension TouchMode {
    var word: String {
        switch self {
        case .gesture: "gesture"
        case .continuous: "continuous"
        }
    }
}

extension LEDPattern.Kind {
    var word: String {
        switch self {
        case .solid: "solid"
        case .breathing: "breathing"
        case .pulsing: "pulsing"
        case .singleBlink: "single_blink"
        case .doubleBlink: "double_blink"
        case .tripleBlink: "triple_blink"
        case .custom: "custom"
        }
    }
}

extension HapticPattern.Symbol {
    var word: String {
        switch self {
        case .halted: "halted"
        case .sineIncrease: "sine_increase"
        case .sineDecrease: "sine_decrease"
        case .linearIncrease: "linear_increase"
        case .linearDecrease: "linear_decrease"
        case .parabolicIncrease: "parabolic_increase"
        case .parabolicDecrease: "parabolic_decrease"
        case .constantOn: "constant_on"
        }
    }
}

extension LEDPattern.Color {
    /// `#rrggbb`.
    var hex: String { "#" + [red, green, blue].hex }
}

extension Sequence<UInt8> {
    /// Two lower-case digits a byte.
    var hex: String {
        map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    }
}

extension Array<UInt8> {
    /// Reads two digits a byte; nil for anything else.
    init?(hex: String) {
        let digits = Array<Character>(hex)
        let pairs = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
        let bytes = pairs.compactMap { $0 }
        guard digits.count.isMultiple(of: 2), bytes.count == pairs.count, digits.allSatisfy(\.isHexDigit) else {
            return nil
        }
        self = bytes
    }
}
