/// Whether gear reports gestures, or touches. Any number may come.
///
/// Source: `DataStreamState` of the schema.
public struct DataStreamState: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    public let rawValue: UInt32

    /// Takes any number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// It does not.
    public static let disabled = DataStreamState(rawValue: 0)
    /// It does.
    public static let enabled = DataStreamState(rawValue: 1)
}

extension TouchMode {
    /// The states of the two streams in this mode: exactly one of them is on.
    var streams: (inference: DataStreamState, touch: DataStreamState) {
        switch self {
        case .gesture: (.enabled, .disabled)
        case .continuous: (.disabled, .enabled)
        }
    }

    /// The mode in which the streams are in these states; nil if none is.
    init?(inference: DataStreamState?, touch: DataStreamState?) {
        guard let mode = Self.allCases.first(where: { $0.streams == (inference, touch) }) else { return nil }
        self = mode
    }
}
