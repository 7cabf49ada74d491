/// Something that a person should look at.
struct Problem: Hashable, Sendable {
    /// What kind of problem.
    enum Code: String, Sendable {
        case noAdapter = "no_adapter"
        case adapterNotReady = "adapter_not_ready"
        case badFirmware = "bad_firmware"
    }

    let code: Code
    let text: String

    /// Whether no tag can be reached because of it.
    var isFatal: Bool { code == .noAdapter }
}

/// What is known about the bridge's own health.
struct HealthBook: Sendable {
    private var problems: [Problem: Moment] = [:]
    private var measurement: HealthMeasurement?

    /// Takes a fresh measurement.
    mutating func measured(_ measurement: HealthMeasurement) {
        self.measurement = measurement
    }

    /// Takes the problems of now; those that were there before keep their time.
    ///
    /// - Returns: whether anything changed.
    mutating func found(_ current: Set<Problem>, at now: Moment) -> Bool {
        guard current != Set(problems.keys) else { return false }
        problems = Dictionary(uniqueKeysWithValues: current.map { ($0, problems[$0] ?? now) })
        return true
    }

    /// The document of now.
    func document(startedAt: Moment, at now: Moment) -> HealthDocument {
        HealthDocument(
            problems, measurement: measurement, uptime: startedAt.instant.duration(to: now.instant))
    }
}

extension Problem {
    /// What is wrong with the adapters: each that is not ready, and that none is. Before the first word nothing is.
    static func problems(of adapters: [AdapterFacts]?) -> Set<Problem> {
        guard let adapters else { return [] }
        var problems = Set(
            adapters.filter { $0.state != .poweredOn }.map { adapter in
                let state = adapter.state.rawValue.replacing("_", with: " ")
                return Problem(code: .adapterNotReady, text: "Bluetooth adapter \(adapter.id) is \(state)")
            })
        if !adapters.contains(where: { $0.state == .poweredOn }) {
            problems.insert(Problem(code: .noAdapter, text: "No Bluetooth adapter is ready: no tag can be reached"))
        }
        return problems
    }
}
