/// Encodes into a node. Paths are not kept: a document of ours fails nowhere but at a number that is not finite.
struct NodeEncoder: Encoder {
    let node: JSONNode
    let keys: JSONText.Keys
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.beginObject()
        return KeyedEncodingContainer(NodeMembers(node: node, keys: keys))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.beginArray()
        return NodeElements(node: node, keys: keys)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension NodeEncoder: SingleValueEncodingContainer {
    func encodeNil() { node.set(word: "null") }
    func encode(_ value: Bool) { node.set(word: value ? "true" : "false") }
    func encode(_ value: String) { node.set(string: value) }
    func encode(_ value: Double) throws { try node.set(number: value) }
    func encode(_ value: Float) throws { try node.set(number: value) }
    func encode(_ value: some FixedWidthInteger & Encodable) { node.set(number: value) }
    func encode(_ value: some Encodable) throws { try value.encode(to: self) }
}

/// The members of an object.
struct NodeMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    private let node: JSONNode
    private let keys: JSONText.Keys
    private let isSpelledAnew: Bool
    var codingPath: [any CodingKey] { [] }

    init(node: JSONNode, keys: JSONText.Keys) {
        self.node = node
        self.keys = keys
        // A key type that takes any text is a dictionary's: its keys are data.
        isSpelledAnew = keys == .snakeCase && Key(stringValue: "\u{0}") == nil
    }

    private func member(_ key: some CodingKey) -> NodeEncoder {
        let name = isSpelledAnew ? key.stringValue.snakeCased : key.stringValue
        return NodeEncoder(node: node.member(name), keys: keys)
    }

    func encodeNil(forKey key: Key) { member(key).encodeNil() }
    func encode(_ value: Bool, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: String, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: Double, forKey key: Key) throws { try member(key).encode(value) }
    func encode(_ value: Float, forKey key: Key) throws { try member(key).encode(value) }
    func encode(_ value: some FixedWidthInteger & Encodable, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: some Encodable, forKey key: Key) throws { try value.encode(to: member(key)) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { member(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { NodeEncoder(node: node.member("super"), keys: keys) }
    func superEncoder(forKey key: Key) -> any Encoder { member(key) }
}

/// The elements of a list.
struct NodeElements: UnkeyedEncodingContainer {
    let node: JSONNode
    let keys: JSONText.Keys
    var codingPath: [any CodingKey] { [] }
    var count: Int { node.count }

    private func element() -> NodeEncoder { NodeEncoder(node: node.element(), keys: keys) }

    func encodeNil() { element().encodeNil() }
    func encode(_ value: Bool) { element().encode(value) }
    func encode(_ value: String) { element().encode(value) }
    func encode(_ value: Double) throws { try element().encode(value) }
    func encode(_ value: Float) throws { try element().encode(value) }
    func encode(_ value: some FixedWidthInteger & Encodable) { element().encode(value) }
    func encode(_ value: some Encodable) throws { try value.encode(to: element()) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        element().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }
    func superEncoder() -> any Encoder { element() }
}

extension String {
    /// `uniqueID` as `unique_id`, `enabledByDefault` as `enabled_by_default`: a capital begins a word, and so does the last
    /// of several before a small letter.
    fileprivate var snakeCased: String {
        let letters = Array(utf8)
        var result: [UInt8] = []
        for (index, letter) in letters.enumerated() {
            guard letter.isCapital else {
                result.append(letter)
                continue
            }
            let isInside = index > 0 && letters[index - 1].isCapital
            let isLast = index + 1 < letters.count && !letters[index + 1].isCapital
            if index > 0, !isInside || isLast { result.append(UInt8(ascii: "_")) }
            result.append(letter | 0x20)
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isCapital: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
}
