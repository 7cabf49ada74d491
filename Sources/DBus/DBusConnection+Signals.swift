public import EventLoop
internal import Logging

/// A wish for signals; ends with ``cancel()`` or with its last owner.
@LoopActor
public final class DBusSubscription {
    private var end: (@LoopActor () -> Void)?

    init(_ end: @escaping @LoopActor () -> Void) {
        self.end = end
    }

    /// No more signals.
    public func cancel() {
        end?()
        end = nil
    }

    isolated deinit {
        end?()
    }
}

extension DBusConnection {
    /// Asks the bus for signals. Those that come after the call's answer are delivered; to miss none, subscribe first and
    /// read the present state then.
    ///
    /// A rule whose sender is a well-known name needs ``watchName(_:onChange:)`` for it.
    ///
    /// - Parameters:
    ///   - rule: which signals.
    ///   - handler: called for each.
    /// - Returns: the subscription, to be kept as long as signals are wanted.
    public func subscribe(
        to rule: DBusMatchRule, handler: @escaping @LoopActor (DBusMessage) -> Void
    ) -> DBusSubscription {
        let number = signals.add(rule, handler)
        changeMatch("AddMatch", rule)
        return DBusSubscription { [weak self] in
            self?.signals.remove(number)
            self?.changeMatch("RemoveMatch", rule)
        }
    }

    /// Follows who owns a well-known name, beginning with the present owner.
    ///
    /// - Parameters:
    ///   - name: such as `org.bluez`.
    ///   - onChange: called with the owner's unique name, or nil when nobody owns it.
    /// - Returns: the subscription, to be kept as long as changes are wanted.
    public func watchName(_ name: String, onChange: @escaping @LoopActor (String?) -> Void) -> DBusSubscription {
        let rule = DBusMatchRule(
            sender: Self.bus, interface: Self.bus, member: "NameOwnerChanged", path: "/org/freedesktop/DBus",
            argument0: name)
        let subscription = subscribe(to: rule) { [weak self] message in
            let arguments = message.arguments
            guard arguments.count == 3, let owner = arguments[2].text else { return }
            self?.setOwner(of: name, to: owner.isEmpty ? nil : owner, onChange)
        }
        call(.call(to: Self.bus, "/org/freedesktop/DBus", Self.bus, "GetNameOwner", [.string(name)])) {
            [weak self] result in
            // An error is the bus's way to say that nobody owns it.
            self?.setOwner(of: name, to: (try? result.get())?.arguments.first?.text, onChange)
        }
        return subscription
    }

    private func setOwner(of name: String, to owner: String?, _ onChange: @LoopActor (String?) -> Void) {
        signals.owners[name] = owner
        onChange(owner)
    }

    private func changeMatch(_ member: String, _ rule: DBusMatchRule) {
        call(.call(to: Self.bus, "/org/freedesktop/DBus", Self.bus, member, [.string(rule.text)])) {
            [weak self] result in
            guard case .failure(let error) = result, error.code == .refused else { return }
            self?.log.warning("the bus refuses a match rule", [(.member, rule.text), (.error, error.description)])
        }
    }
}
