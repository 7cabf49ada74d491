/// A text that must not be seen: however it is printed, only that it is one can be read.
struct Secret: Hashable, Sendable {
    /// The text itself; for the call that needs it, never for a message.
    let value: String
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `(redacted)`.
    var description: String { "(redacted)" }

    /// Always `(redacted)`.
    var debugDescription: String { description }

    /// No children: `dump` and failed expectations look into a value, not at its description.
    var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
