import JacquardProtocol
public import Text

extension ScalarRule where Value == String {
    /// A pairing serial: four of the 63 letters of its code on the air. Of the whole number that is printed on the tag, such
    /// as `0-07-9324FLHBK0003R-1903`, the serial is taken. Source: the Protocol article, "Serials".
    public static var serial: ScalarRule {
        let letters = word(limit: 32, alphabet: "0-9 A-Z a-z -") {
            ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "-")
        }
        return ScalarRule(
            allowed: "the four characters printed before the last hyphen, such as 003R, or the whole number"
        ) { text throws(Rejection) in
            let text = try letters.parse(text)
            let serial = PairingSerial(printed: text)?.description ?? text
            guard serial.utf8.count == PairingSerial.printedLength else {
                throw Rejection(
                    text.utf8.count > PairingSerial.printedLength && text.utf8.contains(UInt8(ascii: "-"))
                        ? "is not the whole number: the last hyphen and what follows it are part of it"
                        : "has \(serial.utf8.count) characters")
            }
            return serial
        }
    }
}
