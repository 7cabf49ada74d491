import EventLoop
import JacquardProtocol

/// One tag of a manager.
@LoopActor
final class TagRow {
    /// The name of the tag in calls and events. It changes if the owner adds the same tag again.
    var handle: TagHandle
    let identity: TagIdentity
    /// nil before the first request to connect the tag, and after it was forgotten. A stopped driver holds the tag's address.
    var driver: TagDriver?
    /// nil unless the user is pairing the tag.
    var pairing: Pairing?

    init(_ handle: TagHandle, _ identity: TagIdentity) {
        (self.handle, self.identity) = (handle, identity)
    }
}
