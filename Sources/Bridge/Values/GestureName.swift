import JacquardProtocol

/// The name of a gesture in payloads.
enum GestureName: String, Hashable, Sendable, CaseIterable {
    case doubleTap = "double_tap"
    case brushIn = "brush_in"
    case brushOut = "brush_out"
    case cover
    case brushUp = "brush_up"
    case brushDown = "brush_down"
    /// Any other number.
    case unknown

    init(_ gesture: Gesture) {
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

/// Number of gestures of each kind since the start.
struct GestureCounts: Sendable {
    private var counts = [UInt64](repeating: 0, count: GestureName.allCases.count)

    /// Counts a gesture.
    mutating func add(_ name: GestureName) {
        counts[name.index] += 1
    }

    /// The count of a gesture.
    subscript(name: GestureName) -> UInt64 { counts[name.index] }

    /// The gestures with a count above 0, sorted by name.
    var made: [GestureName] { GestureName.sorted.filter { self[$0] > 0 } }
}

extension GestureName {
    /// All gestures, sorted by name.
    static let sorted = allCases.sorted { $0.rawValue < $1.rawValue }

    /// The position among all names.
    var index: Int {
        switch self {
        case .doubleTap: 0
        case .brushIn: 1
        case .brushOut: 2
        case .cover: 3
        case .brushUp: 4
        case .brushDown: 5
        case .unknown: 6
        }
    }
}
