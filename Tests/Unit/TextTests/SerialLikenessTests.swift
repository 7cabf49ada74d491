import Testing

@testable import Text

@Suite("Serials that look alike")
struct SerialLikenessTests {
    private static let serials = ["003R", "0001", "04pX", "0012"]

    @Test(
        "a mistyped serial is recognized",
        arguments: [
            ("003r", "003R"), ("003R ", "003R"), (" 003R", "003R"), ("O03R", "003R"), ("000l", "0001"),
            ("000I", "0001"), ("o0ol", "0001"), ("04px", "04pX"), ("04PX", "04pX"), ("03R", "003R"), ("3R", "003R"),
            ("00R", "003R"), ("003", "003R"), ("0003R", "003R"), ("12", "0012"), ("0-07-9324FLHBK0003R", "003R"),
            ("9324FLHBK003R", "003R"), ("0-07-9324FLHBK0003", "003R"), ("0-07-9324FLHBK0003r-19", "003R"),
        ])
    func mistyped(typed: String, serial: String) {
        #expect(SerialLikeness.matches(to: typed, in: Self.serials) == [serial])
    }

    @Test(
        "other texts resemble no serial",
        arguments: ["003R", "0002", "R300", "R", "", " ", "-", "1234", "ä", String(repeating: "003R", count: 100)])
    func different(typed: String) {
        #expect(SerialLikeness.matches(to: typed, in: Self.serials).isEmpty)
    }

    @Test("a serial that differs in case takes precedence over one that looks alike")
    func precedence() {
        #expect(SerialLikeness.matches(to: "00ol", in: ["0001", "00OL"]) == ["00OL"])
        #expect(SerialLikeness.matches(to: "12", in: ["0012", "4012", "1200"]) == ["0012", "4012"])
    }

    @Test("the hint names at most three serials")
    func hint() {
        #expect(SerialLikeness.hint(for: "003r", in: Self.serials) == " (did you mean 003R?)")
        #expect(
            SerialLikeness.hint(for: "12", in: ["0012", "1012", "2012", "3012"])
                == " (did you mean 0012 or 1012 or 2012?)")
        #expect(SerialLikeness.hint(for: "7777", in: Self.serials).isEmpty)
    }

    @Test("the sentence for an unknown tag questions the known ones first, then the received ones")
    func unknownTag() {
        func sentence(_ typed: String, _ known: [String] = ["0001", "003R"], _ received: [String] = ["003R", "04pX"])
            -> String
        {
            SerialLikeness.unknownTag(typed, known: known, received: received)
        }
        #expect(sentence("03R") == #"There is no tag "03R" (did you mean 003R?); there are 0001, 003R"#)
        #expect(sentence("04px") == #"There is no tag "04px" (did you mean 04pX?); there are 0001, 003R"#)
        #expect(sentence("04pX") == #"There is no tag "04pX" (received, but not paired); there are 0001, 003R"#)
        #expect(sentence("7777", [], []) == #"There is no tag "7777"; there are none"#)
        let many = (1_000..<1_100).map(String.init)
        #expect(sentence("7", many, []).hasSuffix("1018, 1019"))
        #expect(sentence(String(repeating: "x", count: 41), [], []).contains("x…\""))
    }

    @Test("letters that look like digits are named")
    func caution() {
        #expect(
            SerialLikeness.caution("000l") == #""000l" contains the letter l, which looks like the digit 1"#)
        #expect(SerialLikeness.caution("0O01")?.hasSuffix("the digit 0") == true)
        #expect(SerialLikeness.caution("003R") == nil && SerialLikeness.caution("04pX") == nil)
    }
}
