import JacquardProtocol

/// What a gesture is called in payloads.
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

/// How often each gesture was made since the start.
struct GestureCounts: Sendable {
    private var counts = [UInt64](repeating: 0, count: GestureName.allCases.count)

    /// Counts one.
    mutating func add(_ name: GestureName) {
        counts[name.index] += 1
    }

    /// The gestures that were made, by name.
    var byName: [String: UInt64] {
        Dictionary(
            uniqueKeysWithValues: GestureName.allCases.filter { counts[$0.index] > 0 }
                .map { ($0.rawValue, counts[$0.index]) })
    }
}

extension GestureName {
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
