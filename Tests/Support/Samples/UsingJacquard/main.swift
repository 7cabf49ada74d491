import BlueZ
import Bluetooth
import EventLoop
import Glibc
import Jacquard
import JacquardProtocol
import Logging
import Tags
import Text

/// Connects the first tag that is found, waits for a gesture, and then lights the LED green for two seconds.
@LoopActor
func run() async throws {
    let bus = getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
    let log = Logger("sample", to: StreamSink(level: .warning))
    let central = BlueZCentral(busAddress: bus ?? "unix:path=/var/run/dbus/system_bus_socket", log: log)
    let manager = JacquardManager(central: central, log: log)
    await central.start()
    for await state in manager.centralState {
        print("Bluetooth: \(state)")
        if state == .poweredOn { break }
    }

    try manager.startScanning()
    var states: AsyncStream<TagConnectionState>?
    for await tag in manager.advertisingTags {
        print("Found \(tag.displayName), serial \(tag.pairingSerialNumber), at \(tag.identifier)")
        states = try manager.connect(tag)
        break
    }
    manager.stopScanning()

    guard let states else { return }
    for await state in states {
        switch state {
        case .connecting(let step, let total), .initializing(let step, let total), .configuring(let step, let total):
            print("Step \(step) of \(total)")
        case .preparingToConnect: print("Waiting for the tag")
        case .connected(let tag):
            print("Connected: firmware \(tag.tagComponent.version?.description ?? "unknown")")
            try await play(with: tag)
            try manager.disconnect(tag)
        case .disconnected(let error): print("Disconnected: \(error?.text ?? "as asked")")
        }
    }
    await central.stop()
}

/// Prints notifications. After the first gesture it lights the LED and returns.
@LoopActor
func play(with tag: ConnectedTag) async throws {
    for await notification in tag.notifications {
        switch notification {
        case .battery(let battery): print("Battery: \(battery.level) %")
        case .gear(let gear): print("Gear: \(gear?.product.name ?? "none")")
        case .touch: break
        case .gesture(let gesture):
            print("Gesture: \(gesture.rawValue)")
            let green = LEDPattern.Color(red: 0, green: 255, blue: 0)
            let frame = LEDPattern.Frame(color: green, lengthMilliseconds: 2000)
            try await tag.enqueue(
                .playLEDPattern(LEDPattern(kind: .solid, frames: [frame], durationMilliseconds: 2000), on: .tag))
            return
        }
    }
}

EventLoop.shared.begin {
    do {
        try await run()
    } catch {
        print("Failed: \(error)")
    }
    EventLoop.shared.stop()
}
EventLoop.shared.run()
