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
    }

    /// The key in dotted form.
    public let path: String
    /// Its value.
    public let value: Value
    /// A sentence for the documentation.
    public let sentence: String
    /// Its place in the add-on for Home Assistant.
    public let addOn: AddOn

    /// The place of a key in the add-on for Home Assistant.
    public enum AddOn {
        /// An option with this name.
        case option(String)
        /// None, with a clause that says why.
        case none(String)
    }

    init(_ path: String, _ value: Value, _ sentence: String, _ addOn: AddOn) {
        (self.path, self.value, self.sentence, self.addOn) = (path, value, sentence, addOn)
    }
}
