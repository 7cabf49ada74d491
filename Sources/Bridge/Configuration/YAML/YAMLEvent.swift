import CYAML

/// One step of libyaml through a text, copied to values of Swift.
struct YAMLEvent: Hashable, Sendable {
    /// The kind of an event.
    enum Kind: Hashable, Sendable {
        case streamStart, streamEnd
        case documentStart, documentEnd
        /// `*name`.
        case alias
        /// A text as it is written, without any guess at its type; plain: neither quoted nor a block.
        case scalar(text: String, isPlain: Bool)
        case sequenceStart, sequenceEnd
        case mappingStart, mappingEnd
    }

    /// How a value is written.
    enum Style: Hashable, Sendable {
        /// A text in quotes, or lines with an indentation of their own.
        case other
        case plain
        /// A text of several lines, after `|` or `>`.
        case block
        /// A list or keys in brackets.
        case flow
    }

    /// The kind.
    let kind: Kind
    /// How it is written.
    let style: Style
    /// The beginning.
    let position: YAMLPosition
    /// The end; nil for anything but a plain scalar.
    let end: YAMLPosition?
    /// Whether a name was given to it: `&name`.
    let hasAnchor: Bool
    /// Whether a type was given to it: `!name`.
    let hasTag: Bool
}

extension YAMLEvent {
    /// Copies what libyaml reports; the event of libyaml stays its caller's to delete.
    init(_ event: yaml_event_t) {
        position = YAMLPosition(event.start_mark)
        style = Self.style(event)
        end = style == .plain ? YAMLPosition(event.end_mark) : nil
        switch event.type {
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            kind = .scalar(
                text: Self.text(scalar.value, scalar.length), isPlain: style == .plain)
            (hasAnchor, hasTag) = (scalar.anchor != nil, scalar.tag != nil)
        case YAML_SEQUENCE_START_EVENT:
            kind = .sequenceStart
            (hasAnchor, hasTag) = (event.data.sequence_start.anchor != nil, event.data.sequence_start.tag != nil)
        case YAML_MAPPING_START_EVENT:
            kind = .mappingStart
            (hasAnchor, hasTag) = (event.data.mapping_start.anchor != nil, event.data.mapping_start.tag != nil)
        default:
            kind = Self.bareKind(event.type)
            (hasAnchor, hasTag) = (false, false)
        }
    }

    private static func style(_ event: yaml_event_t) -> Style {
        switch event.type {
        case YAML_SCALAR_EVENT:
            switch event.data.scalar.style {
            case YAML_PLAIN_SCALAR_STYLE: .plain
            case YAML_LITERAL_SCALAR_STYLE, YAML_FOLDED_SCALAR_STYLE: .block
            default: .other
            }
        case YAML_SEQUENCE_START_EVENT:
            event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE ? .flow : .other
        case YAML_MAPPING_START_EVENT: event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE ? .flow : .other
        default: .other
        }
    }

    private static func bareKind(_ type: yaml_event_type_t) -> Kind {
        switch type {
        case YAML_STREAM_START_EVENT: .streamStart
        case YAML_DOCUMENT_START_EVENT: .documentStart
        case YAML_DOCUMENT_END_EVENT: .documentEnd
        case YAML_ALIAS_EVENT: .alias
        case YAML_SEQUENCE_END_EVENT: .sequenceEnd
        case YAML_MAPPING_END_EVENT: .mappingEnd
        // libyaml answers a call after the end with an event of no type.
        default: .streamEnd
        }
    }

    private static func text(_ start: UnsafePointer<yaml_char_t>?, _ length: Int) -> String {
        String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
    }
}
