import JSON
import Testing

@Suite("Times")
struct TimeTextTests {
    @Test(
        "are UTC with milliseconds",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_795_169_702_114, "2026-11-20T10:15:02.114Z"),
            (-1, "1969-12-31T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"), (1_772_323_200_000, "2026-03-01T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func text(milliseconds: Int64, text: String) {
        #expect(TimeText.utc(milliseconds) == text)
        #expect(TimeText.unixMilliseconds(text) == (milliseconds < 0 ? nil : milliseconds))
    }

    @Test("far outside the calendar don't trap", arguments: [Int64.min, .max])
    func extremes(milliseconds: Int64) {
        #expect(TimeText.utc(milliseconds).hasSuffix("Z"))
    }

    @Test("are correct in every second although the last text is cached")
    func memory() {
        var writer = TimeText()
        for (milliseconds, text) in [(999, "00.999Z"), (1_000, "01.000Z"), (1_001, "01.001Z"), (999, "00.999Z")]
            as [(Int64, String)]
        {
            var bytes: [UInt8] = []
            writer.append(milliseconds, to: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self) == "1970-01-01T00:00:" + text)
        }
    }

    @Test(
        "of another form, or that do not exist, are none",
        arguments: [
            "", "yesterday", "2026-11-20", "2026-11-20T10:15:02Z", "2026-11-20T10:15:02.114",
            "2026-02-30T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z", "2026-11-20T24:00:00.000Z", "2026-11-20 10:15:02.114Z",
            "2026-11-20T10:15:02.114+00:00", "-999999999999T9:9:9.999Z", "9999999999-9-9T9:9:9.99Z",
        ])
    func otherTexts(text: String) {
        #expect(TimeText.unixMilliseconds(text) == nil)
    }
}
