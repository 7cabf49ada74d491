/// The name of a gesture in payloads, in the configuration and in commands of the simulator.
public enum GestureName: String, Hashable, Sendable, CaseIterable {
    case doubleTap = "double_tap"
    case brushIn = "brush_in"
    case brushOut = "brush_out"
    /// ``Gesture/shortCover``.
    case cover
    case brushUp = "brush_up"
    case brushDown = "brush_down"
    /// Any other number.
    case unknown

    /// Creates the name of a gesture.
    public init(_ gesture: Gesture) {
        switch gesture {
        case .doubleTap: self = .doubleTap
        case .brushIn: self = .brushIn
        case .brushOut: self = .brushOut
        case .shortCover: self = .cover
        case .brushUp: self = .brushUp
        case .brushDown: self = .brushDown
        default: self = .unknown
        }
    }
}

extension Gesture {
    /// The words of ``known``, in the same order.
    public static let words = known.map { GestureName($0).rawValue }

    /// Creates the gesture of a word; nil for another one.
    public init?(word: String) {
        guard let index = Self.words.firstIndex(of: word) else { return nil }
        self = Self.known[index]
    }
}
