/// The battery levels of a tag that are kept across restarts: the discharge since the last charge, and a summary of
/// earlier ones.
public struct BatteryHistory: Hashable, Sendable {
    /// How a tag is used. Each use has its own rate of discharge.
    public enum Load: UInt8, Hashable, Sendable, CaseIterable {
        /// Connected in gesture mode, or not connected.
        case gesture
        /// Connected in continuous mode: the gear reports its touch lines all the time.
        case continuous
    }

    /// A change of the level or of the load.
    public struct Point: Hashable, Sendable {
        /// Seconds since 1970-01-01T00:00:00Z.
        public var second: UInt32
        /// Percent.
        public var level: UInt8
        /// The load from this point on.
        public var load: Load

        /// Creates a point.
        public init(second: UInt32, level: UInt8, load: Load) {
            self.second = second
            self.level = level
            self.load = load
        }
    }

    /// An earlier discharge: how long one percent lasted under each load. nil for a load that was used too little.
    public struct Discharge: Hashable, Sendable {
        /// Seconds for one percent in gesture mode.
        public var gesture: UInt32?
        /// Seconds for one percent in continuous mode.
        public var continuous: UInt32?

        /// Creates a summary.
        public init(gesture: UInt32? = nil, continuous: UInt32? = nil) {
            self.gesture = gesture
            self.continuous = continuous
        }

        /// Seconds for one percent under a load.
        subscript(load: Load) -> UInt32? {
            get { load == .gesture ? gesture : continuous }
            set { if load == .gesture { gesture = newValue } else { continuous = newValue } }
        }
    }

    /// Maximum number of points per tag; the oldest is dropped.
    public static let maxPoints = 200
    /// Maximum number of earlier discharges per tag; the oldest is dropped.
    public static let maxDischarges = 16

    /// The points since the last charge, in order of time.
    public private(set) var points: [Point] = []
    /// The earlier discharges, in order of time.
    public private(set) var discharges: [Discharge] = []

    /// Creates a history from stored values. Points that are not in order are dropped with all before them, and so are
    /// points from a time before the bridge existed: the clock was not set.
    public init(points: [Point] = [], discharges: [Discharge] = []) {
        let known = points.filter { $0.second >= Self.earliestSecond && $0.level <= 100 }
        let start = known.indices.dropFirst().last { known[$0].second < known[$0 - 1].second } ?? 0
        self.points = Array(known[start...].suffix(Self.maxPoints))
        self.discharges = discharges.suffix(Self.maxDischarges)
    }

    /// Whether there is nothing to keep.
    public var isEmpty: Bool { points.isEmpty && discharges.isEmpty }

    /// 2026-01-01T00:00:00Z. An earlier time of day means that the clock is not set.
    static let earliestSecond: UInt32 = 1_767_225_600
}

// MARK: Changes

extension BatteryHistory {
    /// Adds a point.
    ///
    /// - Returns: whether the oldest point was dropped.
    mutating func append(_ point: Point) -> Bool {
        points.append(point)
        guard points.count > Self.maxPoints else { return false }
        points.removeFirst()
        return true
    }

    /// Replaces level and load of the last point.
    mutating func replaceLast(level: UInt8, load: Load) {
        guard let last = points.indices.last else { return }
        points[last].level = level
        points[last].load = load
    }

    /// Moves the points from an index on, after the clock was set.
    mutating func move(from index: Int, bySeconds seconds: Int64) {
        for position in points.indices.dropFirst(index) {
            points[position].second = UInt32(clamping: Int64(points[position].second) + seconds)
        }
    }

    /// Drops the first points.
    mutating func dropFirst(_ count: Int) {
        points.removeFirst(min(count, points.count))
    }

    /// Ends the discharge: keeps a summary of it and removes its points.
    mutating func endDischarge() {
        var discharge = Discharge()
        for load in Load.allCases {
            discharge[load] = DischargeSeries(points, load: load, until: nil)?.secondsPerPercent
        }
        points = []
        guard discharge != Discharge() else { return }
        discharges = (discharges + [discharge]).suffix(Self.maxDischarges)
    }
}
