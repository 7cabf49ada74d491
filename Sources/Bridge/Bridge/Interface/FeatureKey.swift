/// A key of the configuration that is a feature's.
public struct FeatureKey {
    /// The type of a value, and its place.
    public enum Value {
        /// None: it is a section.
        case section
        /// `true` or `false`.
        case flag(WritableKeyPath<BridgeOptions, Bool>)
        /// A whole number.
        case integer(WritableKeyPath<BridgeOptions, Int>, ClosedRange<Int>)
        /// A whole number of seconds.
        case seconds(WritableKeyPath<BridgeOptions, Duration>, ClosedRange<Int>)
        /// A folder, or nil.
        case folder(WritableKeyPath<BridgeOptions, String?>)
    }

    /// The key in dotted form.
    public let path: String
    /// Its value.
    public let value: Value
    /// A sentence for the documentation.
    public let sentence: String
    /// Its place in the add-on for Home Assistant; nil inside of a section that has none.
    public let addOn: AddOn?
    /// A value and a sentence for the example configuration; nil for the default and ``sentence``.
    public let example: (value: String, sentence: String)?

    /// The place of a key in the add-on for Home Assistant.
    public enum AddOn {
        /// An option with this name.
        case option(String)
        /// None, with a clause that says why.
        case omitted(String)
    }

    init(
        _ path: String, _ value: Value, _ sentence: String, _ addOn: AddOn? = nil,
        example: (value: String, sentence: String)? = nil
    ) {
        (self.path, self.value, self.sentence) = (path, value, sentence)
        (self.addOn, self.example) = (addOn, example)
    }
}
