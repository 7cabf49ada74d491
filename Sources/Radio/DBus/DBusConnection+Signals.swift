public import EventLoop
internal import Logging

/// A subscription to signals. Ends with ``cancel()``, or when it is released.
@LoopActor
public final class DBusSubscription {
    private var end: (@LoopActor () -> Void)?

    init(_ end: @escaping @LoopActor () -> Void) {
        self.end = end
    }

    /// Ends the subscription.
    public func cancel() {
        end?()
        end = nil
    }

    isolated deinit {
        end?()
    }
}

extension DBusConnection {
    /// Subscribes to signals. Signals are delivered after the bus has replied: to miss no change, subscribe first and
    /// then read the current state.
    ///
    /// If the rule's sender is a well-known name, also call ``watchName(_:onChange:)`` for it.
    ///
    /// - Parameters:
    ///   - rule: the signals to receive.
    ///   - handler: called for each signal.
    /// - Returns: the subscription. Keep it as long as signals are needed.
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

    /// Reports the owner of a well-known name: the current owner first, then each change.
    ///
    /// - Parameters:
    ///   - name: the name, such as `org.bluez`.
    ///   - onChange: called with the owner's unique name; nil without an owner.
    /// - Returns: the subscription. Keep it as long as changes are needed.
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
            // The bus reports a name without an owner as an error.
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
