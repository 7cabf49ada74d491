import ProtobufWire
import Testing

@Suite("WireField")
struct WireFieldTests {
    @Test("converts an integer to the width of the schema")
    func integers() {
        let minusTwelve = WireField(number: 1, value: .varint(UInt64(bitPattern: -12)))
        var uint32: UInt32?
        var uint64: UInt64?
        var int32: Int32?
        var int64: Int64?
        minusTwelve.read(&uint32)
        minusTwelve.read(&uint64)
        minusTwelve.read(&int32)
        minusTwelve.read(&int64)
        #expect(uint32 == 4_294_967_284)
        #expect(uint64 == 18_446_744_073_709_551_604)
        #expect(int32 == -12)
        #expect(int64 == -12)
    }

    @Test("treats every number except 0 as true", arguments: [(0, false), (1, true), (2, true), (UInt64.max, true)])
    func bool(number: UInt64, truth: Bool) {
        var value: Bool?
        WireField(number: 1, value: .varint(number)).read(&value)
        #expect(value == truth)
    }

    @Test("reads floating point by its bits")
    func floatingPoint() {
        var float: Float?
        var double: Double?
        WireField(number: 1, value: .fixed32(0x41A0_0000)).read(&float)
        WireField(number: 1, value: .fixed64(0x4034_0000_0000_0000)).read(&double)
        #expect(float == 20)
        #expect(double == 20)
    }

    @Test("repairs text that is not UTF-8")
    func text() {
        var text: String?
        WireField(number: 1, value: .bytes([0x4A, 0xC3, 0xA4])).read(&text)
        #expect(text == "Jä")
        WireField(number: 1, value: .bytes([0x4A, 0xFF])).read(&text)
        #expect(text == "J\u{FFFD}")
    }

    @Test("keeps a variable whose type does not match")
    func foreignType() {
        let number = WireField(number: 1, value: .varint(7))
        let bytes = WireField(number: 1, value: .bytes([7]))
        var uint32: UInt32? = 1
        var float: Float? = 1
        var double: Double? = 1
        var text: String? = "one"
        var array: [UInt8]? = [1]
        bytes.read(&uint32)
        number.read(&float)
        number.read(&double)
        number.read(&text)
        number.read(&array)
        #expect(uint32 == 1)
        #expect(float == 1)
        #expect(double == 1)
        #expect(text == "one")
        #expect(array == [1])
        #expect(number.message == nil)
    }
}
