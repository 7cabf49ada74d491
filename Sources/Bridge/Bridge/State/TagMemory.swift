/// What the state file has of a tag, and what of it no other fact of the tag has.
struct TagMemory: Sendable {
    /// The tag's record in the state file; nil if there is none.
    var record: TagRecord?
    /// The address of the last connection; nil before the first. That of a sighting may come from an advertisement.
    var address: String? { didSet { isSet = true } }
    /// The features that were switched off, and whose topics may still be retained.
    var left: LeftFeatures = [] { didSet { isSet = true } }
    /// What the LED plays on when the bridge stops; nil before that.
    var light: TagRecord.Light? { didSet { isSet = true } }
    /// Whether a part of the record was set since it was compared with the stored one; `isHeld` is always compared.
    var isSet = true

    /// Features of a tag with a retained topic.
    struct LeftFeatures: OptionSet {
        let rawValue: UInt8

        static let presence = Self(rawValue: 1)
        static let radios = Self(rawValue: 2)
    }
}
