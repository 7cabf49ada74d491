package import Bluetooth
package import JacquardProtocol
package import Tags

/// Requests and events as lines of a transcript: `> connect 01`, `003R connecting 0`.
package enum Line {
    package static func of(_ request: CentralRequest) -> String {
        switch request {
        case .scan(let options): options == nil ? "> scan off" : "> scan on"
        case .watch: "> watch"
        case .connect(let address): "> connect \(address.short)"
        case .disconnect(let address): "> disconnect \(address.short)"
        case .pair(let address): "> pair \(address.short)"
        case .beginPairing(let address, let radio): "> begin pairing \(address.short) \(radio ?? "")"
        case .checkBond(let address, let radio): "> check bond \(address.short) \(radio)"
        case .endPairing(let address): "> end pairing \(address.short)"
        case .forget(let address): "> forget \(address.short)"
        case .acceptPairing(from: let addresses): "> accept" + addresses.map { " " + $0.short }.sorted().joined()
        case .discover(_, characteristics: _, of: let address): "> discover \(address.short)"
        case .subscribe(_, of: let address): "> subscribe \(address.short)"
        case .write(_, to: _, of: let address, _): "> write \(address.short)"
        }
    }

    package static func of(_ event: TagManager.Event, identity: (TagHandle) -> TagIdentity?) -> String {
        func name(_ tag: TagHandle) -> String { identity(tag).map { Self.name($0) } ?? "nobody" }
        return text(event, name)
    }

    private static func text(_ event: TagManager.Event, _ name: (TagHandle) -> String) -> String {
        switch event {
        case .centralState(let state): "central \(state)"
        case .fault(let fault): "fault \(fault?.text ?? "none")"
        case .adapters(let adapters): "adapters \(adapters.count)"
        case .scanning(let isScanning): isScanning ? "scanning" : "not scanning"
        case .advertised(let tag, let isNew, of: _):
            "\(isNew ? "heard" : "again") \(tag.pairingSerialNumber) at \(tag.identifier.short)"
        case .duplicateSerial(let serial, let addresses):
            "duplicate \(serial) at" + addresses.map { " " + $0.short }.joined()
        case .pairing(let tag, let stage): "pairing \(name(tag)) \(word(stage))"
        case .paired(let tag, let error): "paired \(name(tag))" + tail(error)
        case .forgotten(let tag, let error): "forgotten \(name(tag))" + tail(error)
        case .tag(let tag, let event): "\(name(tag)) \(of(event))"
        }
    }

    private static func of(_ event: TagEvent) -> String {
        switch event {
        case .connection(let connection): word(connection.state) + tail(connection.error)
        case .information: "information"
        case .battery(let battery): "battery \(battery.level)"
        case .gear(let gear): gear.map { "gear \($0.componentID)" } ?? "no gear"
        case .touchMode(let mode): "touch mode \(mode)"
        case .gesture(let gesture): "gesture \(gesture.rawValue)"
        case .touch(let touch): "touch \(touch.sequence)"
        case .fragmentsLost: "fragments lost"
        case .raw(let bytes, view: _): "raw \(bytes.count)"
        case .motion: "motion"
        case .notified: "notified"
        case .commandEnded(let token, .success): "command \(token) done"
        case .commandEnded(let token, .failure(let error)): "command \(token): \(error)"
        }
    }

    private static func word(_ state: TagConnection.State) -> String {
        switch state {
        case .preparingToConnect: "preparing"
        case .connecting(let step): "connecting \(step)"
        case .initializing(let step): "initializing \(step)"
        case .configuring(let step): "configuring \(step)"
        case .connected: "connected"
        case .disconnected: "disconnected"
        }
    }

    private static func word(_ stage: PairingStep) -> String {
        switch stage {
        case .searching: "searching"
        case .found(let address): "found \(address.short)"
        case .bonded: "bonded"
        }
    }

    private static func tail(_ error: TagConnectionError?) -> String {
        error.map { ": \($0.code)" } ?? ""
    }

    /// The serial, the end of the address behind an @, or both.
    private static func name(_ tag: TagIdentity) -> String {
        (tag.serial?.description ?? "") + (tag.address.map { "@" + $0.short } ?? "")
    }
}
