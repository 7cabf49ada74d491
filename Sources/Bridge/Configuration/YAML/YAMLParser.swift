import CYAML

/// libyaml's parser over a text in memory: the one owner of both.
struct YAMLParser: ~Copyable {
    private let bytes: [UInt8]
    /// The beginning of each line.
    private let lineStarts: [Int]
    /// The bytes where libyaml reads them: it keeps the pointer until it is deleted.
    private let input: UnsafeMutablePointer<UInt8>
    /// On the heap because libyaml keeps a pointer to it, too.
    private let parser: UnsafeMutablePointer<yaml_parser_t>

    /// Stands before the first event.
    ///
    /// - Parameter bytes: UTF-8; anything else becomes an error of `next`.
    /// - Throws: `YAMLSyntaxError` if there is no memory.
    init(_ bytes: [UInt8]) throws(YAMLSyntaxError) {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            throw YAMLSyntaxError(position: .start, problem: "there is not enough memory to read the file")
        }
        // One byte at least: libyaml asserts that the pointer is not null.
        let input = UnsafeMutablePointer<UInt8>.allocate(capacity: max(bytes.count, 1))
        bytes.withUnsafeBufferPointer { source in
            _ = UnsafeMutableBufferPointer(start: input, count: bytes.count).initialize(fromContentsOf: source)
        }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, input, bytes.count)
        self.bytes = bytes
        lineStarts = [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
        self.input = input
        self.parser = parser
    }

    /// Returns whether a comment begins at a place, after blanks, without a blank after its `#`.
    ///
    /// YAML takes such a text for a comment; the user may take it for a part of the value.
    func beginsCut(_ position: YAMLPosition) -> Bool {
        // A configuration has no longer lines; of a hostile file no more is read.
        guard position.line <= lineStarts.count, position.column <= 1_024 else { return false }
        var rest = bytes[lineStarts[position.line - 1]...]
        for _ in 1..<position.column {
            guard let first = rest.first, first != UInt8(ascii: "\n") else { return false }
            rest = rest.dropFirst().drop(while: UTF8.isContinuation)
        }
        let comment = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard comment.count < rest.count, comment.first == UInt8(ascii: "#"), let next = comment.dropFirst().first
        else {
            return false
        }
        return !" \t\r\n#".utf8.contains(next)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        input.deallocate()
    }

    /// The next step; after the end of the stream that end again.
    ///
    /// - Throws: `YAMLSyntaxError` where the text is no YAML; nothing can be read after it.
    mutating func next() throws(YAMLSyntaxError) -> YAMLEvent {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else {
            throw YAMLSyntaxError(parser.pointee, bytes)
        }
        // Frees what the event points to; its text was copied before.
        defer { yaml_event_delete(&event) }
        return YAMLEvent(event)
    }
}
