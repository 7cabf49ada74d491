import JacquardProtocol
import Testing

@Suite("Store of keys and values")
struct ConfigStoreTests {
    /// The product ID that the sample tag reports.
    private static let product = JacquardIdentifier(rawValue: 7)
    private static let other = JacquardIdentifier(rawValue: 8)

    private static let values: [ConfigElement.Value] = [
        .bool(true), .uint32(.max), .uint64(.max), .int32(-7), .int64(.min), .float(0.5), .double(-0.25), .string("é"),
    ]

    @Test("writes all eight types: the tag's own, or another one", arguments: values)
    func configSet(value: ConfigElement.Value) {
        var tag = SessionFixture(in: .connected)
        let element = ConfigElement(key: "k", value: value)
        _ = tag.on(.command(.configSet(key: "k", value), token: 1))
        #expect(tag.lastRequest == .configSet(vendor: .google, product: Self.product, element))
        #expect(tag.confirmAndAnswer() == [.end(1, .success(.done))])
        _ = tag.on(.command(.configSet(key: "k", value, vendor: Self.other, product: Self.other), token: 2))
        #expect(tag.lastRequest == .configSet(vendor: Self.other, product: Self.other, element))
    }

    @Test("reads all eight types, or no value", arguments: values.map(Optional.some) + [nil])
    func configGet(value: ConfigElement.Value?) {
        var tag = SessionFixture(in: .connected)
        _ = tag.on(.command(.configGet(key: "k"), token: 1))
        #expect(tag.lastRequest == .configGet(vendor: .google, product: Self.product, key: "k"))
        let response = ConfigGetResponse(element: ConfigElement(key: "k", value: value))
        #expect(tag.confirmAndAnswer(.configGet(response)) == [.end(1, .success(.configValue(value)))])
        _ = tag.on(.command(.configGet(key: "k", vendor: Self.other, product: Self.other), token: 2))
        #expect(tag.lastRequest == .configGet(vendor: Self.other, product: Self.other, key: "k"))
    }
}
