import DBus
import EventLoop

/// An object on the bus.
@LoopActor
protocol BusObject: AnyObject {
    var path: String { get }
    /// Its own interfaces; those of every object are the tree's business.
    var interfaces: [BusInterface] { get }
}

/// An interface of an object. Created for each access, because its closures may retain the object.
@LoopActor
struct BusInterface {
    let name: String
    var properties: [BusProperty] = []
    var methods: [BusMethod] = []
}

/// A property. Reading gives nil while it does not exist, which many of BlueZ' do at times.
@LoopActor
struct BusProperty {
    let name: String
    let signature: String
    let get: () -> DBusValue?
    var set: ((DBusValue) throws(BlueZError) -> Void)?

    init(
        _ name: String, _ signature: String, _ get: @escaping () -> DBusValue?,
        set: ((DBusValue) throws(BlueZError) -> Void)? = nil
    ) {
        self.name = name
        self.signature = signature
        self.get = get
        self.set = set
    }
}

/// A method; its body answers the call once, now or later.
@LoopActor
struct BusMethod {
    let name: String
    let takes: String
    let gives: String
    let body: (BusCall) -> Void

    init(_ name: String, takes: String = "", gives: String = "", _ body: @escaping (BusCall) -> Void) {
        self.name = name
        self.takes = takes
        self.gives = gives
        self.body = body
    }
}

/// A pending method call. Pending property changes are signalled before the reply, as BlueZ does.
@LoopActor
final class BusCall {
    let arguments: [DBusValue]
    private let call: DBusMethodCall
    private let tree: ExportedObjects

    init(_ call: DBusMethodCall, in tree: ExportedObjects) {
        self.call = call
        self.tree = tree
        arguments = call.message.arguments
    }

    var sender: String { call.message.sender }
    var path: String { call.message.path }
    var interface: String { call.message.interface }
    var member: String { call.message.member }
    var signature: String { arguments.map(\.signature).joined() }

    func reply(_ arguments: DBusValue...) {
        guard tree.isOpen else { return }
        tree.flush()
        call.reply(arguments)
    }

    func refuse(_ error: BlueZError) {
        guard tree.isOpen else { return }
        tree.flush()
        call.refuse(error.name, error.text)
    }
}
