/// The text of a file, by the lines and columns of libyaml.
struct YAMLText {
    /// A confusable character and where it is.
    struct Confusable: Hashable, Sendable {
        let character: ConfusableCharacter
        let position: YAMLPosition
    }

    /// UTF-8 without a byte order mark in front.
    let bytes: [UInt8]
    /// The beginning of each line.
    private let lineStarts: [Int]

    /// A configuration has no longer lines; of a hostile file no more is read.
    private static let longestLine = 1_024

    /// Editors of Windows write a byte order mark in front, which would count as a column of the first line.
    init(_ bytes: [UInt8]) {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        lineStarts = [0] + Self.lineEnds(of: text)
        self.bytes = text
    }

    /// The places after the line breaks of YAML 1.1: CR, LF, both together, NEL, LS and PS. Source: YAML 1.1, section 4.1.4.
    private static func lineEnds(of text: [UInt8]) -> [Int] {
        text.withUnsafeBufferPointer { bytes in
            var ends: [Int] = []
            var index = 0
            while index < bytes.count {
                let byte = bytes[index]
                index += 1
                let isEnd =
                    switch byte {
                    case 0x0A: true
                    case 0x0D: index == bytes.count || bytes[index] != 0x0A
                    case 0x85: index >= 2 && bytes[index - 2] == 0xC2
                    case 0xA8, 0xA9: index >= 3 && bytes[index - 2] == 0x80 && bytes[index - 3] == 0xE2
                    default: false
                    }
                if isEnd { ends.append(index) }
            }
            return ends
        }
    }

    /// The bytes of a line from a column on; nil outside of the text.
    func rest(from position: YAMLPosition) -> ArraySlice<UInt8>? {
        guard lineStarts.indices.contains(position.line - 1), position.column <= Self.longestLine else { return nil }
        var rest = line(position.line)
        for _ in 1..<max(position.column, 1) {
            guard !rest.isEmpty else { return nil }
            rest = rest.dropFirst().drop(while: UTF8.isContinuation)
        }
        return rest
    }

    /// The bytes of a line with its line break, at most ``longestLine``; empty outside of the text.
    private func line(_ number: Int) -> ArraySlice<UInt8> {
        guard lineStarts.indices.contains(number - 1) else { return [] }
        let end = number < lineStarts.count ? lineStarts[number] : bytes.count
        return bytes[lineStarts[number - 1]..<end].prefix(Self.longestLine)
    }

    /// Whether a comment begins at a place, after blanks, without a blank after its `#`.
    ///
    /// YAML takes such a text for a comment; the user may take it for a part of the value.
    func beginsCut(_ position: YAMLPosition) -> Bool {
        guard let rest = rest(from: position) else { return false }
        let comment = rest.drop(while: Self.isBlank)
        guard comment.count < rest.count, comment.first == UInt8(ascii: "#"), let next = comment.dropFirst().first
        else {
            return false
        }
        return !" \t\r\n#".utf8.contains(next)
    }

    /// The first confusable character between two places.
    func confusable(from start: YAMLPosition, to end: YAMLPosition) -> Confusable? {
        guard let first = rest(from: start)?.startIndex, let last = rest(from: end)?.startIndex, first < last else {
            return nil
        }
        return confusable(in: bytes[first..<min(last, first + Self.longestLine)])
    }

    private func confusable(
        in slice: ArraySlice<UInt8>, where isMeant: (ConfusableCharacter) -> Bool = { _ in true }
    ) -> Confusable? {
        // All of them are beyond ASCII.
        var index = slice.startIndex
        while index < slice.endIndex {
            if slice[index] >= 0xC2, let character = character(at: index), isMeant(character) {
                return Confusable(character: character, position: YAMLPosition(offset: index, in: bytes))
            }
            index += 1
        }
        return nil
    }

    private func character(at index: Int) -> ConfusableCharacter? {
        let end = bytes[(index + 1)...].prefix(3).firstIndex { !UTF8.isContinuation($0) } ?? min(index + 4, bytes.count)
        return String(validating: bytes[index..<end], as: UTF8.self)?.unicodeScalars.first
            .flatMap(ConfusableCharacter.init)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}

// MARK: Where the text is no YAML

extension YAMLText {
    /// A place at which the meaning of a line is decided, and what is wrong with it.
    struct Culprit: Hashable, Sendable {
        let position: YAMLPosition
        let problem: String
    }

    /// The first confusable character or tab that changes the structure of some lines: in the indentation, in a key, or between a
    /// key and its value.
    func structuralCulprit(inLines lines: ClosedRange<Int>) -> Culprit? {
        for number in lines {
            if let culprit = structuralCulprit(in: line(number)) { return culprit }
        }
        return nil
    }

    private func structuralCulprit(in line: ArraySlice<UInt8>) -> Culprit? {
        let indented = line.drop { $0 == UInt8(ascii: " ") }
        if indented.first == UInt8(ascii: "\t"), indented.contains(where: { !Self.isBlank($0) && $0 != 0x0A }) {
            return tab(at: indented.startIndex)
        }
        let afterBlanks = indented.drop(while: Self.isBlank)
        guard let first = afterBlanks.first, first != UInt8(ascii: "#") else { return nil }
        let end = afterBlanks.indices.first { endsKey(at: $0, in: afterBlanks) } ?? afterBlanks.endIndex
        let isQuoted = first == UInt8(ascii: "\"") || first == UInt8(ascii: "'")
        if !isQuoted, let found = confusable(in: afterBlanks[..<end]) {
            return culprit(found, in: "in front of a key, or in it")
        }
        let value = afterBlanks[end...].dropFirst().drop(while: Self.isBlank)
        guard let index = value.indices.first, let character = character(at: index) else { return nil }
        return culprit(
            Confusable(character: character, position: YAMLPosition(offset: index, in: bytes)),
            in: "in front of a value")
    }

    private func endsKey(at index: Int, in line: ArraySlice<UInt8>) -> Bool {
        if line[index] == UInt8(ascii: "#") { return index > line.startIndex && Self.isBlank(line[index - 1]) }
        return line[index] == UInt8(ascii: ":")
    }

    private func culprit(_ found: Confusable, in place: String) -> Culprit {
        Culprit(position: found.position, problem: "\(found.character.name) \(place): \(found.character.remedy)")
    }

    private func tab(at index: Int) -> Culprit {
        Culprit(
            position: YAMLPosition(offset: index, in: bytes), problem: "a tab (U+0009) in the indentation: use spaces")
    }

    /// A tab where only spaces can stand.
    func tab(at position: YAMLPosition) -> Culprit? {
        guard let rest = rest(from: position), rest.first == UInt8(ascii: "\t") else { return nil }
        return tab(at: rest.startIndex)
    }

    /// A typographic quote in the line of a quote that is never closed.
    func closingQuote(after position: YAMLPosition) -> Culprit? {
        rest(from: position).flatMap { confusable(in: $0, where: { $0.kind == .quote }) }.map {
            Culprit(
                position: $0.position,
                problem: "\($0.character.name) does not close the quote before it: \($0.character.remedy)")
        }
    }

    /// A value in front of an error, or at it, that begins with a character that YAML reserves.
    func reservedValue(at error: YAMLPosition) -> Culprit? {
        let start = YAMLPosition(line: error.line, column: 1)
        guard let line = rest(from: start), let place = rest(from: error)?.startIndex else { return nil }
        let value: ArraySlice<UInt8>
        if place < line.endIndex, begins(at: place, in: line) {
            value = line[place...]
        } else if let separator = line.indices.last(where: { $0 < place && separates(at: $0, in: line) }) {
            value = line[(separator + 1)...].drop(while: Self.isBlank)
        } else {
            return nil
        }
        guard let first = value.first, isReserved(value) else { return nil }
        let isQuote = first == UInt8(ascii: "\"") || first == UInt8(ascii: "'")
        // A quoted value is in order unless something follows its end.
        if isQuote, place <= value.startIndex + 1 || bytes[place - 1] != first { return nil }
        let reason =
            isQuote
            ? "goes on after its closing quote" : "begins with \(Unicode.Scalar(first)), which YAML reserves"
        return Culprit(
            position: YAMLPosition(offset: value.startIndex, in: bytes),
            problem: "the value \(reason): put the value in quotes")
    }

    /// Whether a value of a list or of keys in brackets begins at this byte.
    private func begins(at place: Int, in line: ArraySlice<UInt8>) -> Bool {
        line[..<place].last { !Self.isBlank($0) }.map { ",[{".utf8.contains($0) } ?? false
    }

    /// Whether a value can begin after this byte: a colon or a dash of a list, with a blank.
    private func separates(at index: Int, in line: ArraySlice<UInt8>) -> Bool {
        guard line.indices.contains(index + 1), Self.isBlank(line[index + 1]) else { return false }
        if line[index] == UInt8(ascii: ":") { return true }
        return line[index] == UInt8(ascii: "-") && line[..<index].allSatisfy { Self.isBlank($0) || $0 == line[index] }
    }

    /// Whether a plain value cannot begin like this. Source: YAML 1.1, sections 4.2 (indicators) and 9.1.3 (plain style).
    private func isReserved(_ value: ArraySlice<UInt8>) -> Bool {
        guard let first = value.first else { return false }
        if "?:-".utf8.contains(first) {
            return value.dropFirst().first.map { " \t\r\n,]}".utf8.contains($0) } ?? true
        }
        return ",[]{}&*!|>'\"%@`".utf8.contains(first)
    }
}
