public import Bluetooth

extension JacquardManager {
    /// The state of Bluetooth: the current state, then each change. Source: JacquardSDKiOS, `centralState`.
    ///
    /// Each access returns a new stream, which buffers the newest 16 changes.
    public var centralState: AsyncStream<CentralState> { centralStates.stream() }

    /// Whether a requested scan is running: the current value, then each change. The search for a missing tag is
    /// not
    /// reported. Source: JacquardSDKiOS, `isScanning`.
    ///
    /// Each access returns a new stream, which buffers the newest 16 changes.
    public var isScanning: AsyncStream<Bool> { scanStates.stream() }

    /// The tags that a scan finds from now on. Source: JacquardSDKiOS, `advertisingTags`.
    ///
    /// Each access returns a new stream, which buffers the newest 1,024 tags.
    public var advertisingTags: AsyncStream<AdvertisedTag> { advertisements.stream() }

    /// Tags that were connected before: bonded tags, and tags that are to be connected and were found. Source:
    /// JacquardSDKiOS, `preConnectedTags`.
    ///
    /// The SDK gets the connected devices of all programs from the system. A `Central` has no such request, so the
    /// list is
    /// based on the bonds that it reports. A bonded tag that has not advertised since the Bluetooth service started
    /// is
    /// missing: its advertisement shows that it is a tag.
    public var preConnectedTags: [PreConnectedTag] {
        let found = drivers.keys.filter { drivers[$0]?.facts.isStopped == false }
        return sightings.bonded.filter { sightings[$0] != nil }.union(found)
            .sorted { $0.description < $1.description }
            .map { PreConnectedTag(identifier: $0, displayName: sightings[$0]?.displayName ?? "") }
    }
}
