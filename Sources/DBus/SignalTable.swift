import EventLoop

/// The subscriptions to signals, and the owner of each watched well-known name.
@LoopActor
final class SignalTable {
    typealias Handler = @LoopActor (DBusMessage) -> Void

    /// An object, as its rule is many texts: every signal looks at all entries, and would copy them.
    private final class Entry {
        let number: Int
        let rule: DBusMatchRule
        let handler: Handler

        init(_ number: Int, _ rule: DBusMatchRule, _ handler: @escaping Handler) {
            self.number = number
            self.rule = rule
            self.handler = handler
        }
    }

    private var entries: [Entry] = []
    private var last = 0
    /// Owners of the well-known names that are watched. A signal is believed only from the owner: anyone on a bus may
    /// send anyone a signal that looks like another's.
    var owners: [String: String] = [:]

    func add(_ rule: DBusMatchRule, _ handler: @escaping Handler) -> Int {
        last += 1
        entries.append(Entry(last, rule, handler))
        return last
    }

    func remove(_ number: Int) {
        entries.removeAll { $0.number == number }
    }

    func deliver(_ message: DBusMessage) {
        for entry in entries
        where message.isNamed(entry.rule.interface, entry.rule.member) && entry.rule.covers(message.path)
            && isFrom(entry.rule.sender, message)
        {
            if let wanted = entry.rule.argument0, message.arguments.first?.text != wanted { continue }
            entry.handler(message)
        }
    }

    private func isFrom(_ name: String, _ message: DBusMessage) -> Bool {
        if message.isFrom(name) { return true }
        guard let owner = owners[name] else { return false }
        return message.isFrom(owner)
    }
}
