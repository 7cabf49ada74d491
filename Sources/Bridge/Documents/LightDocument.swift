import JacquardProtocol

/// `T/led`: the state of a light in Home Assistant's JSON schema.
struct LightDocument: Encodable {
    let state: String
    let colorMode = "rgb"
    let color: ColorDocument
    let brightness: UInt8
    let effect: String

    init(_ led: LEDMirror) {
        state = led.isOn ? "ON" : "OFF"
        color = ColorDocument(r: led.look.color.red, g: led.look.color.green, b: led.look.color.blue)
        brightness = led.look.brightness
        effect = led.look.effect.word
    }

    private enum CodingKeys: String, CodingKey {
        case state, color, brightness, effect
        case colorMode = "color_mode"
    }
}

/// A colour in `T/led`, not scaled by the brightness.
struct ColorDocument: Encodable {
    let r: UInt8
    let g: UInt8
    let b: UInt8
}
