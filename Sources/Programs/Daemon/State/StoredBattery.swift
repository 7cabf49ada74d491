import Bridge
import JSON
import JacquardProtocol

/// The history of a tag's battery in `batteries.json`.
struct StoredBattery: Hashable, Sendable {
    /// The tag's name in topics.
    var id: TagID
    /// The pairing serial: another tag may get the id.
    var serial: String
    /// The points since the last charge, three numbers each: seconds since 1970, percent, and the load.
    var points: [Int64]
    /// The earlier discharges, two numbers each: seconds for one percent under each load; 0 if unknown.
    var discharges: [Int64]
}

extension StoredBattery {
    /// The key of the tag's record.
    var key: StoredTag.Key { StoredTag.Key(id: id, serial: serial) }
}

/// The contents of `batteries.json`.
struct StoredBatteries: Hashable, Sendable {
    /// The version of the format.
    static let version: Int64 = 1

    /// A file with a later version is not read or overwritten.
    var version = Self.version
    /// The batteries, sorted by the tag's id.
    var batteries: [StoredBattery] = []
}

extension StoredBatteries: JSONRecord {
    func addMembers(to object: inout JSONWriter) {
        object.add("batteries", batteries)
        object.add("version", version)
    }

    /// Reads a file of this version: the valid records, and the number of damaged ones; nil for anything else.
    static func read(_ document: JSONValue) -> (batteries: [StoredBattery], damaged: Int)? {
        guard document["version"]?.integer == version, let elements = document["batteries"]?.elements else {
            return nil
        }
        let batteries = elements.compactMap { StoredBattery($0) }
        return (batteries, elements.count - batteries.count)
    }
}

extension StoredBattery: JSONRecord {
    func addMembers(to object: inout JSONWriter) {
        object.add("discharges", discharges)
        object.add("id", id.text)
        object.add("points", points)
        object.add("serial", serial)
    }

    fileprivate init?(_ document: JSONValue) {
        guard let serial = document["serial"]?.string, let id = document["id"]?.string.flatMap({ TagID($0) }),
            let points = Self.integers(document["points"]), points.count.isMultiple(of: 3),
            let discharges = Self.integers(document["discharges"]), discharges.count.isMultiple(of: 2)
        else { return nil }
        self.init(id: id, serial: serial, points: points, discharges: discharges)
    }

    private static func integers(_ list: JSONValue?) -> [Int64]? {
        guard let elements = list?.elements else { return nil }
        let numbers = elements.compactMap(\.integer)
        return numbers.count == elements.count ? numbers : nil
    }

    /// Converts a history of the bridge.
    init(_ id: TagID, serial: String, _ history: BatteryHistory) {
        self.init(
            id: id, serial: serial,
            points: history.points.flatMap { [Int64($0.second), Int64($0.level), Int64($0.load.rawValue)] },
            discharges: history.discharges.flatMap { [Int64($0.gesture ?? 0), Int64($0.continuous ?? 0)] })
    }

    /// The history for the bridge. Values out of range are left out.
    var history: BatteryHistory {
        BatteryHistory(
            points: stride(from: 0, to: points.count, by: 3).compactMap { point(at: $0) },
            discharges: stride(from: 0, to: discharges.count, by: 2).map { index in
                BatteryHistory.Discharge(
                    gesture: Self.duration(discharges[index]), continuous: Self.duration(discharges[index + 1]))
            })
    }

    private func point(at index: Int) -> BatteryHistory.Point? {
        guard let second = UInt32(exactly: points[index]), let level = UInt8(exactly: points[index + 1]),
            let load = UInt8(exactly: points[index + 2]).flatMap(BatteryHistory.Load.init(rawValue:))
        else { return nil }
        return BatteryHistory.Point(second: second, level: level, load: load)
    }

    private static func duration(_ number: Int64) -> UInt32? {
        number > 0 ? UInt32(exactly: number) : nil
    }
}
