import JacquardProtocol
import Testing

@testable import Bridge

/// The result of a command for a light in its initial state.
struct LEDForm: CustomTestStringConvertible, Sendable {
    let payload: String
    let pattern: LEDPattern
    var target = TagCommand.Target.tag

    init(_ payload: String, _ pattern: LEDPattern, on target: TagCommand.Target = .tag) {
        self.payload = payload
        self.pattern = pattern
        self.target = target
    }

    var testDescription: String { payload }
}

extension LEDForm {
    private static let red = LEDPattern.Color(red: 255, green: 0, blue: 0)
    private static let orange = LEDPattern.Color(red: 255, green: 128, blue: 0)

    private static func solid(_ color: LEDPattern.Color, _ milliseconds: UInt32) -> LEDPattern {
        .predefined(.solid, color: color, durationMilliseconds: milliseconds)
    }

    static let all = [
        // Bare words.
        LEDForm("flash", solid(.white, 1_000)),
        LEDForm("on", solid(.white, 10_000)),
        LEDForm("ON", solid(.white, 10_000)),
        LEDForm(" on\n", solid(.white, 10_000)),
        LEDForm("off", .haltAll),
        LEDForm("#ff8000", solid(orange, 10_000)),
        LEDForm("#FF8000", solid(orange, 10_000)),
        LEDForm(#""flash""#, solid(.white, 1_000)),
        // Home Assistant's JSON light, as it is.
        LEDForm(#"{"state":"ON"}"#, solid(.white, 10_000)),
        LEDForm(#"{"state":"on"}"#, solid(.white, 10_000)),
        LEDForm(#"{"state":"OFF"}"#, .haltAll),
        LEDForm(#"{"state":"OFF","transition":3.0}"#, .haltAll),
        LEDForm(#"{"state":"OFF","flash":1}"#, .haltAll),
        LEDForm(#"{"state":"ON","color":{"r":255,"g":128,"b":0}}"#, solid(orange, 10_000)),
        LEDForm(#"{"state":"ON","color":{"r":255,"g":128,"b":0},"brightness":255}"#, solid(orange, 10_000)),
        LEDForm(#"{"state":"ON","brightness":128}"#, solid(.init(red: 128, green: 128, blue: 128), 10_000)),
        LEDForm(
            #"{"state":"ON","color":{"r":255,"g":128,"b":0},"brightness":51}"#,
            solid(.init(red: 51, green: 26, blue: 0), 10_000)),
        LEDForm(#"{"state":"ON","brightness":0}"#, .haltAll),
        LEDForm(
            #"{"state":"ON","effect":"breathe"}"#,
            .predefined(.breathing, color: .white, durationMilliseconds: 10_000)),
        LEDForm(#"{"state":"ON","flash":1}"#, solid(.white, 1_000)),
        LEDForm(#"{"state":"ON","flash":5}"#, solid(.white, 5_000)),
        LEDForm(#"{"state":"ON","flash":0.5}"#, solid(.white, 500)),
        LEDForm(#"{"state":"ON","color":{"r":255,"g":0,"b":0},"flash":1}"#, solid(red, 1_000)),
        LEDForm(#"{"state":"ON","transition":2.0}"#, solid(.white, 10_000)),
        LEDForm(#"{"state":"ON","transition":"slow","colour_temp":370,"white":1}"#, solid(.white, 10_000)),
        LEDForm(
            #"{"state":"ON","color":{"r":255,"g":0,"b":0},"brightness":200,"effect":"breathe","flash":1}"#,
            .predefined(.breathing, color: .init(red: 200, green: 0, blue: 0), durationMilliseconds: 1_000)),
        // A pattern by its name.
        LEDForm(
            ##"{"color":"#ff0000","pattern":"breathing","duration_ms":2000,"component":"tag"}"##,
            .predefined(.breathing, color: red, durationMilliseconds: 2_000)),
        LEDForm(
            ##"{"color":"#ff0000","pattern":"breathing","duration_ms":2000,"component":"gear"}"##,
            .predefined(.breathing, color: red, durationMilliseconds: 2_000), on: .gear),
        LEDForm(##"{"color":"#ff0000"}"##, solid(red, 10_000)),
        LEDForm(#"{"color":"red"}"#, solid(red, 10_000)),
        LEDForm(#"{"color":"Orange"}"#, solid(orange, 10_000)),
        LEDForm("red", solid(red, 10_000)),
        LEDForm("RED", solid(red, 10_000)),
        LEDForm(
            #"{"frames":[{"color":"red","duration_ms":100}]}"#,
            LEDPattern(
                kind: .custom, frames: [.init(color: red, lengthMilliseconds: 100)], durationMilliseconds: 100,
                playType: .play, isResumable: false)),
        LEDForm(##"{"color":"#ff0000","brightness":null,"pattern":null}"##, solid(red, 10_000)),
        LEDForm(#"{"pattern":"solid","duration_ms":1}"#, solid(.white, 1)),
        LEDForm(#"{"pattern":"solid","duration_ms":86400000}"#, solid(.white, 86_400_000)),
        LEDForm(
            #"{"pattern":"solid","duration_ms":5,"play":"toggle","resumable":true}"#,
            .predefined(.solid, color: .white, durationMilliseconds: 5, playType: .toggle, isResumable: true)),
        // Frames.
        LEDForm(
            ##"{"frames":[{"color":"#ff0000","duration_ms":100}],"duration_ms":2000,"resumable":true,"play":"toggle"}"##,
            LEDPattern(
                kind: .custom, frames: [.init(color: red, lengthMilliseconds: 100)], durationMilliseconds: 2_000,
                playType: .toggle, isResumable: true)),
        LEDForm(
            ##"{"frames":[{"color":"#ff0000","duration_ms":100},{"color":{"r":0,"g":0,"b":0},"duration_ms":50}]}"##,
            LEDPattern(
                kind: .custom,
                frames: [
                    .init(color: red, lengthMilliseconds: 100), .init(color: .black, lengthMilliseconds: 50),
                ],
                durationMilliseconds: 150)),
        LEDForm(
            ##"{"pattern":"custom","brightness":51,"frames":[{"color":"#ff8000","duration_ms":100}]}"##,
            LEDPattern(
                kind: .custom,
                frames: [.init(color: .init(red: 51, green: 26, blue: 0), lengthMilliseconds: 100)],
                durationMilliseconds: 100)),
        // Stop everything.
        LEDForm(#"{"halt_all":true}"#, .haltAll),
        LEDForm(#"{"halt_all":true,"component":"gear"}"#, .haltAll, on: .gear),
    ]
}
