import ProtobufWire
import Testing

@Suite("WireReader")
struct WireReaderTests {
    @Test(
        "reads varints of one to ten bytes",
        arguments: [
            ([0x00], 0), ([0x01], 1), ([0x7F], 127), ([0x80, 0x01], 128), ([0xC0, 0x01], 192), ([0x80, 0x08], 1024),
            ([0xC0, 0x80, 0x01], 16448), ([0xFF, 0xFF, 0xFF, 0xFF, 0x0F], 4_294_967_295),
            // A group of zeros on top is a longer way to write the same number.
            ([0x81, 0x80, 0x00], 1),
            ([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], UInt64.max),
            // Of the tenth byte only one bit has room.
            ([0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7F], 1 << 63),
        ] as [([UInt8], UInt64)])
    func varint(bytes: [UInt8], number: UInt64) throws {
        var reader = WireReader(bytes[...])
        #expect(try reader.readVarint() == number)
        #expect(reader.remaining.isEmpty)
    }

    @Test("reads each wire type and the end")
    func wireTypes() throws {
        var reader = WireReader([
            0x08, 0x96, 0x01,  // 1: varint 150
            0x11, 1, 2, 3, 4, 5, 6, 7, 8,  // 2: fixed64
            0x1A, 2, 0x68, 0x69,  // 3: two bytes
            0x25, 1, 2, 3, 4,  // 4: fixed32
            0xF8, 0xFF, 0xFF, 0xFF, 0x0F, 0,  // 536,870,911, the highest number: varint 0
        ])
        #expect(try reader.nextField().map(Fact.init) == Fact(1, .varint(150)))
        #expect(try reader.nextField().map(Fact.init) == Fact(2, .fixed64(0x0807_0605_0403_0201)))
        #expect(try reader.nextField().map(Fact.init) == Fact(3, .bytes([0x68, 0x69])))
        #expect(try reader.nextField().map(Fact.init) == Fact(4, .fixed32(0x0403_0201)))
        #expect(try reader.nextField().map(Fact.init) == Fact(536_870_911, .varint(0)))
        #expect(try reader.nextField() == nil)
        #expect(try reader.nextField() == nil)
    }

    @Test("reads a slice from its start to its end")
    func slice() throws {
        let bytes: [UInt8] = [0xC0, 0x02, 0x08, 0x05, 0xFF]
        var reader = WireReader(bytes[2..<4])
        #expect(try reader.nextField().map(Fact.init) == Fact(1, .varint(5)))
        #expect(try reader.nextField() == nil)
    }

    @Test(
        "rejects an invalid field",
        arguments: [
            ([0x08], .truncated),  // a tag without a value
            ([0x08, 0x80], .truncated),  // a varint without its end
            ([0x80], .truncated),  // a tag without its end
            ([0x09, 1, 2, 3, 4, 5, 6, 7], .truncated),  // seven bytes of eight
            ([0x0D, 1, 2, 3], .truncated),  // three bytes of four
            ([0x0A, 3, 1, 2], .truncated),  // two bytes of three
            // A length that no Int can hold.
            ([0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], .truncated),
            ([0x08] + [UInt8](repeating: 0x80, count: 11), .varintTooLong),
            ([0x00, 0x00], .invalidFieldNumber),  // number 0
            ([0x80, 0x80, 0x80, 0x80, 0x10, 0x00], .invalidFieldNumber),  // number 536,870,912
            ([0x0B, 0x0C], .unsupportedWireType(3)),  // the start of a group
            ([0x0C], .unsupportedWireType(4)),  // the end of a group
            ([0x0E, 0x00], .unsupportedWireType(6)),
            ([0x0F, 0x00], .unsupportedWireType(7)),
        ] as [([UInt8], ProtobufWireError)])
    func refusal(bytes: [UInt8], error: ProtobufWireError) {
        var reader = WireReader(bytes[...])
        #expect(throws: error) { try reader.nextField() }
    }
}

/// A field that can be compared.
private struct Fact: Equatable {
    enum Value: Equatable {
        case varint(UInt64)
        case fixed64(UInt64)
        case fixed32(UInt32)
        case bytes([UInt8])
    }

    let number: UInt32
    let value: Value

    init(_ number: UInt32, _ value: Value) {
        self.number = number
        self.value = value
    }

    init(_ field: WireField) {
        number = field.number
        value =
            switch field.value {
            case .varint(let number): .varint(number)
            case .fixed64(let number): .fixed64(number)
            case .fixed32(let number): .fixed32(number)
            case .bytes(let bytes): .bytes(Array(bytes))
            }
    }
}
