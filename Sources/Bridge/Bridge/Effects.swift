/// What the bridge has decided, in the order in which the driver performs it.
///
/// Who decides something adds it at once, so that the order of the statements is the order of the actions.
public struct Effects: Sendable {
    /// The actions, in order.
    public private(set) var actions: [BridgeAction] = []

    /// Creates a list without actions.
    public init() {}

    /// Adds an action.
    mutating func add(_ action: BridgeAction) {
        actions.append(action)
    }

    /// Adds a message for the broker.
    mutating func publish(_ publication: Publication) {
        actions.append(.publish(publication))
    }

    /// Adds messages for the broker.
    mutating func publish(_ publications: [Publication]) {
        for publication in publications { actions.append(.publish(publication)) }
    }

    /// Adds what was decided before and follows only now.
    mutating func append(_ earlier: Effects) {
        actions += earlier.actions
    }

    /// Adds facts that are published even if the broker has them.
    mutating func remind(_ add: (inout Effects) -> Void) {
        publish(Self.collected(add).publications.map(\.reminder))
    }

    /// Returns what a function adds.
    static func collected(_ add: (inout Effects) -> Void) -> Effects {
        var effects = Effects()
        add(&effects)
        return effects
    }

    /// The messages for the broker, in order.
    var publications: [Publication] {
        actions.compactMap { if case .publish(let publication) = $0 { publication } else { nil } }
    }

    /// The most actions whose memory is kept. The facts of all tags at once take 1.4 kB for each tag.
    private static let mostKept = 64

    /// Passes each action on, in order, and keeps the memory for the next ones if they were few.
    public mutating func takeEach(_ body: (BridgeAction) -> Void) {
        let areMany = actions.count > Self.mostKept
        // The last one moves out of its list; each other way of reading copies it.
        actions.reverse()
        while let action = actions.popLast() { body(action) }
        if areMany { actions = [] }
    }
}
