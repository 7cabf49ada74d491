/// Encodes into a node. Paths are not kept: a document of ours fails nowhere but at a number that is not finite.
struct NodeEncoder: Encoder {
    let nodes: JSONNodes
    let node: Int
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        nodes.beginObject(node)
        return KeyedEncodingContainer(NodeMembers(nodes: nodes, node: node))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        nodes.beginArray(node)
        return NodeElements(nodes: nodes, node: node)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension NodeEncoder: SingleValueEncodingContainer {
    func encodeNil() { nodes.set(node, word: "null") }
    func encode(_ value: Bool) { nodes.set(node, word: value ? "true" : "false") }
    func encode(_ value: String) { nodes.set(node, string: value) }
    func encode(_ value: Double) throws { try nodes.set(node, number: value) }
    func encode(_ value: Float) throws { try nodes.set(node, number: value) }
    func encode(_ value: some FixedWidthInteger & Encodable) { nodes.set(node, number: value) }
    func encode(_ value: some Encodable) throws { try value.encode(to: self) }
}

/// The members of an object.
struct NodeMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let nodes: JSONNodes
    let node: Int
    var codingPath: [any CodingKey] { [] }

    private func member(_ key: some CodingKey) -> NodeEncoder { member(key.stringValue) }
    private func member(_ key: String) -> NodeEncoder { NodeEncoder(nodes: nodes, node: nodes.member(key, of: node)) }

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
    func superEncoder() -> any Encoder { member("super") }
    func superEncoder(forKey key: Key) -> any Encoder { member(key) }
}

/// The elements of a list.
struct NodeElements: UnkeyedEncodingContainer {
    let nodes: JSONNodes
    let node: Int
    var codingPath: [any CodingKey] { [] }
    var count: Int { nodes.count(of: node) }

    private func element() -> NodeEncoder { NodeEncoder(nodes: nodes, node: nodes.element(of: node)) }

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
