public import Bluetooth

extension JacquardManager {
    /// Whether Bluetooth can be used: the present state first, then each change. Source: JacquardSDKiOS, `centralState`.
    ///
    /// Each use is a stream of its own. Of 16 changes that nobody reads the oldest are lost; the last always arrives.
    public var centralState: AsyncStream<CentralState> { centralStates.stream() }

    /// Whether a scan that somebody wanted runs: now, and each change, whoever ended it. Looking for a missing tag is none.
    /// Source: JacquardSDKiOS, `isScanning`.
    ///
    /// Each use is a stream of its own. Of 16 changes that nobody reads the oldest are lost; the last always arrives.
    public var isScanning: AsyncStream<Bool> { scanStates.stream() }

    /// The tags that a scan hears, from now on. Source: JacquardSDKiOS, `advertisingTags`.
    ///
    /// Each use is a stream of its own. Of 1,024 tags that nobody reads the oldest are lost.
    public var advertisingTags: AsyncStream<AdvertisedTag> { advertisements.stream() }

    /// Tags that were connected before: those that this host has a bond with, and those that are wanted and were found.
    /// Source: JacquardSDKiOS, `preConnectedTags`.
    ///
    /// The SDK asks the system which devices with the service it is connected to, whichever program connected them. A
    /// `Central` has no such question, so this tells what the central has told of bonds by itself; a
    /// tag that was bonded and never heard since the start of the Bluetooth service is not recognised as one.
    public var preConnectedTags: [PreConnectedTag] {
        let found = drivers.keys.filter { drivers[$0]?.facts.isStopped == false }
        return sightings.bonded.filter { sightings[$0] != nil }.union(found)
            .sorted { $0.description < $1.description }
            .map { PreConnectedTag(identifier: $0, displayName: sightings[$0]?.displayName ?? "") }
    }
}
