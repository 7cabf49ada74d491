import Testing

/// One message in three forms that have to be the same: a value, text of protoc, and bytes.
struct Example<Message: Sendable>: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The message as `protoc --decode` prints it.
    let text: String
    /// The message as the protocol article writes it in hex; nil where it has no such example.
    let packet: [UInt8]?
    /// The message as this module has it.
    let message: Message

    init(_ name: String, hex: String? = nil, _ message: Message, text: String) {
        testDescription = name
        self.text = text + "\n"
        packet = hex.map { [UInt8](hex: $0) }
        self.message = message
    }
}
