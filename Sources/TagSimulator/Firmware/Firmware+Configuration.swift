import JacquardProtocol

/// The requests that change how the tag is set.
extension Firmware {
    /// Merges the given fields; the answer holds all of the radio's settings.
    ///
    /// The first one of a connection makes the tag report its battery and its gear.
    mutating func configure(_ request: TagConfiguration) -> Reply {
        let newName = request.ble?.customAdvertisedName
        if let newName, !BLEConfiguration.nameByteCounts.contains(newName.utf8.count) {
            // A real tag refused a name so: with an empty body.
            return .refused(.badParameter, body: .config(TagConfiguration()))
        }
        configuration.merge(request)
        var answer = TagConfiguration()
        answer.ble = configuration.ble
        var reply = Reply.with(.config(answer), told: newName.map(Told.renamed))
        if link?.isConfigured == false {
            link?.isConfigured = true
            reply.afterwards = announcedBattery + (gear.map { notify($0.notification) } ?? [])
        }
        return reply
    }

    /// Keeps an element; needs a key and a value.
    mutating func store(_ request: ConfigSetRequest) -> Reply {
        guard let element = request.element, let key = element.key, element.value != nil else {
            return .refused(.badParameter)
        }
        store[StoreKey(request.vendorID, request.productID, key)] = element
        return Reply(told: .stored(element))
    }

    /// Reads an element; one that was never written comes without a value.
    func stored(_ request: ConfigGetRequest) -> Reply {
        guard let key = request.key else { return .refused(.badParameter) }
        let element = store[StoreKey(request.vendorID, request.productID, key)]
        return .with(.configGet(ConfigGetResponse(element: element ?? ConfigElement(key: key, value: nil))))
    }
}

/// What an element of the store is kept under.
struct StoreKey: Hashable, Sendable {
    let vendorID: JacquardIdentifier
    let productID: JacquardIdentifier
    let key: String

    init(_ vendorID: JacquardIdentifier?, _ productID: JacquardIdentifier?, _ key: String) {
        self.vendorID = vendorID ?? .google
        self.productID = productID ?? .tag
        self.key = key
    }
}
