/// One element of `G/adapter`.
struct AdapterDocument: Encodable {
    let id: String
    @OrNull var address: String?
    let state: String
    let discovering: Bool
    let connected: Int

    init(_ adapter: AdapterFacts) {
        id = adapter.id
        address = adapter.address
        state = adapter.state.rawValue
        discovering = adapter.isDiscovering
        connected = adapter.connectedCount
    }
}
