import JacquardProtocol
import Testing

@Suite("PairingSerial")
struct PairingSerialTests {
    /// Serial and the bytes behind the company identifier. The first three are of the SDKs' tests.
    static let examples: [(String, [UInt8])] = [
        ("0023", [0x00, 0x20, 0x0C, 0x3F]),
        ("0086", [0x00, 0x80, 0x18, 0x3F]),
        ("03WU", [0xC0, 0x00, 0x7A, 0x3F]),
        ("003R", [0x00, 0x30, 0x6C, 0x3F]),
        ("00FT", [0x00, 0xF0, 0x74, 0x3F]),
        ("K8s2", [0x14, 0x62, 0x0B, 0x3F]),
        ("Az09", [0x4A, 0x0F, 0x24, 0x3F]),
        ("A-b-", [0x8A, 0x5F, 0xFA, 0x3F]),
        ("zzzz", [0x7D, 0xDF, 0xF7, 0x3F]),
        ("0GWPw9eQus", [0x00, 0x04, 0x66, 0x7A, 0x82, 0x6A, 0xB8, 0xFD, 0x03]),
    ]

    @Test(
        "is the last four characters before the last hyphen of the printed number",
        arguments: [
            ("0-07-9324FLHBK0003R-1903", "003R"), ("9412FLHBK00086-1904", "0086"), ("003R-1903", "003R"),
            ("003R", "003R"), ("A-b-", "A-b-"), ("0-07-9324FLHBK0003R-", "0-07-9324FLHBK0003R-"),
            ("0GWPw9eQus", "0GWPw9eQus"), ("9324FLHBK0003R-19/03", nil), ("", nil),
        ] as [(String, String?)])
    func printed(text: String, serial: String?) {
        #expect(PairingSerial(printed: text)?.description == serial)
    }

    @Test("is decoded from manufacturer data", arguments: examples)
    func decoding(serial: String, bytes: [UInt8]) {
        #expect(PairingSerial(manufacturerData: bytes)?.description == serial)
    }

    @Test("is encoded as a tag advertises it", arguments: examples)
    func encoding(serial: String, bytes: [UInt8]) {
        #expect(PairingSerial(serial)?.manufacturerData == bytes)
    }

    @Test("ends at the last byte if there is no end code")
    func withoutEndCode() {
        #expect(PairingSerial(manufacturerData: [0x00, 0x30, 0x6C])?.description == "003R")
        #expect(PairingSerial(manufacturerData: [0x00, 0x30])?.description == "00")
    }

    @Test("ends at the end code whatever follows")
    func behindEndCode() {
        #expect(PairingSerial(manufacturerData: [0x00, 0x30, 0x6C, 0x3F, 0x01, 0x02])?.description == "003R")
    }

    @Test("is not empty", arguments: [[], [0x3F], [0xFF, 0xFF, 0xFF]] as [[UInt8]])
    func empty(bytes: [UInt8]) {
        #expect(PairingSerial(manufacturerData: bytes) == nil)
    }

    @Test("rejects text that a tag cannot advertise", arguments: ["", "00 3", "003ß", "00/3", "00+3", "003R\n"])
    func foreignText(text: String) {
        #expect(PairingSerial(text) == nil)
    }

    @Test("is unchanged after encoding and decoding at every length and with every character")
    func roundTrip() throws {
        let alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-"
        for length in 1...alphabet.count {
            let serial = try #require(PairingSerial(String(alphabet.suffix(length))))
            #expect(PairingSerial(manufacturerData: serial.manufacturerData) == serial)
        }
    }

    @Test("is advertised by Google's number")
    func companyIdentifier() {
        #expect(PairingSerial.companyIdentifier == 224)
    }
}
