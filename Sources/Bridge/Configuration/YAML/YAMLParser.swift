import CYAML

/// libyaml's parser over a text in memory: the one owner of both.
struct YAMLParser: ~Copyable {
    /// The text.
    let text: YAMLText
    /// The beginning of the last step.
    private var last = YAMLPosition.start
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
        text = YAMLText(bytes)
        let bytes = text.bytes
        // One byte at least: libyaml asserts that the pointer is not null.
        let input = UnsafeMutablePointer<UInt8>.allocate(capacity: max(bytes.count, 1))
        bytes.withUnsafeBufferPointer { source in
            _ = UnsafeMutableBufferPointer(start: input, count: bytes.count).initialize(fromContentsOf: source)
        }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, input, bytes.count)
        self.input = input
        self.parser = parser
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
            throw YAMLSyntaxError(parser.pointee, text, after: last)
        }
        // Frees what the event points to; its text was copied before.
        defer { yaml_event_delete(&event) }
        let step = YAMLEvent(event)
        last = step.position
        return step
    }
}
