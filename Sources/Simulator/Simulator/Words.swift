import GATTRecording
import JacquardProtocol
import Text

/// The words by which the simulator shows the protocol's values.
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
