import JacquardProtocol

extension ScalarRule where Value == Bool {
    /// `true` or `false`, in any case.
    static var boolean: ScalarRule {
        ScalarRule(allowed: "true, false") { text throws(Rejection) in
            switch text.lowercased() {
            case "true": true
            case "false": false
            default: throw Rejection("is neither true nor false")
            }
        }
    }
}

extension ScalarRule where Value: CaseIterable & RawRepresentable<String> {
    /// One of the words that the type lists.
    static var choice: ScalarRule {
        let words = Value.allCases.map(\.rawValue)
        return ScalarRule(allowed: words.joined(separator: ", ")) { text throws(Rejection) in
            guard let value = Value(rawValue: text) else {
                throw Rejection("is not one of these\(Spelling.hint(for: text, in: words))")
            }
            return value
        }
    }
}

extension ScalarRule where Value == String {
    /// Text for people or for the broker: no control characters.
    static func text(bytes limit: Int) -> ScalarRule {
        ScalarRule(allowed: "1 to \(limit) bytes without control characters") { text throws(Rejection) in
            guard !text.isEmpty else { throw Rejection("is empty") }
            guard text.utf8.count <= limit else { throw Rejection("is too long") }
            guard !text.utf8.contains(where: ASCII.isControl) else { throw Rejection("holds a control character") }
            return text
        }
    }

    /// A word over a small alphabet.
    ///
    /// - Parameters:
    ///   - limit: how many characters at most; one at least.
    ///   - alphabet: the letters in words.
    ///   - isAllowed: the letters as a test.
    /// - Returns: the rule.
    static func word(
        limit: Int, alphabet: String, where isAllowed: @escaping (UInt8) -> Bool
    ) -> ScalarRule {
        ScalarRule(allowed: "1 to \(limit) of \(alphabet)") { text throws(Rejection) in
            guard !text.isEmpty else { throw Rejection("is empty") }
            guard text.utf8.allSatisfy(isAllowed) else { throw Rejection("holds other characters") }
            guard text.utf8.count <= limit else { throw Rejection("is too long") }
            return text
        }
    }

    /// The bridge's name in topics. Source: the MQTT contract, `[a-z0-9-]{1,32}`.
    static var instance: ScalarRule {
        word(limit: InstanceName.lengthLimit, alphabet: "a-z 0-9 -", where: InstanceName.isAllowed)
    }

    /// A pairing serial: the 63 letters of its code on the air. Of the whole number that is printed on the tag, such as
    /// `0-07-9324FLHBK0003R-1903`, the serial is taken. Source: the Protocol article, "Serials".
    static var serial: ScalarRule {
        word(limit: 32, alphabet: "0-9 A-Z a-z -") { ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
            .map { text throws(Rejection) in PairingSerial(printed: text)?.description ?? text }
    }

    /// A vendor or product number as `T/gear` shows it; becomes lower case.
    static var gearNumber: ScalarRule {
        ScalarRule(allowed: "four pairs of hexadecimal digits such as 74-a8-ce-54") { text throws(Rejection) in
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            let arePairs = parts.allSatisfy { $0.utf8.count == 2 && $0.utf8.allSatisfy(ASCII.isHexadecimal) }
            guard parts.count == 4, arePairs else { throw Rejection("is not a number of gear") }
            return text.lowercased()
        }
    }

    /// A tag's name in topics and in Home Assistant's object ids.
    static var tagID: ScalarRule {
        word(limit: 64, alphabet: "0-9 A-Z a-z _ -") {
            ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
    }
}
