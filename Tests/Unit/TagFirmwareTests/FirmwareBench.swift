import JacquardProtocol
import TagFirmware
import Testing
import Time

/// A firmware on the bench: requests go in as packets, and what comes out is sorted.
struct Bench {
    var firmware: Firmware
    var now = Instant(sinceBoot: .seconds(3_600))
    /// Packets on the response characteristic, in order.
    var responses: [[UInt8]] = []
    /// Packets on the notify characteristic, in order.
    var notifications: [[UInt8]] = []
    /// Everything else that the firmware wanted, in order.
    var others: [FirmwareAction] = []

    private var reassemblers: [TagCharacteristic: Reassembler] = [:]

    /// The tag 003R, connected and subscribed by default.
    init(gear word: String? = nil, isConnected: Bool = true, mtu: Int = 247) throws {
        let serial = try #require(PairingSerial("003R"))
        firmware = Firmware(FirmwareIdentity(serial: serial), gear: word.flatMap(SimulatedGear.init))
        guard isConnected else { return }
        connect(mtu: mtu)
    }

    mutating func connect(mtu: Int = 247) {
        _ = firmware.connected(mtu: mtu, at: now)
        for channel in TagCharacteristic.notifying { firmware.subscribed(channel) }
    }

    /// A bench with a configured tag; earlier notifications are discarded.
    static func configured(gear word: String? = nil) throws -> Bench {
        var bench = try Bench(gear: word)
        try bench.request(.notificationQueueDepth(14))
        bench.forget()
        return bench
    }

    mutating func forget() {
        (responses, notifications, others) = ([], [], [])
    }

    /// Sends a packet in fragments.
    mutating func send(_ packet: [UInt8]) throws {
        for fragment in try Fragmenter.fragments(of: packet) {
            take(firmware.write(fragment, on: .command, at: now))
        }
    }

    /// Sends a request with id 1 and returns the last answer.
    @discardableResult
    mutating func request(_ request: Request) throws -> Response {
        try send(request.encoded(id: 1))
        return try Response.decode(try #require(responses.last)[...])
    }

    /// Lets time pass; the firmware is called once, at the end.
    mutating func wait(_ duration: Duration) {
        now += duration
        take(firmware.timeReached(at: now))
    }

    /// Puts fragments together and keeps the rest.
    mutating func take(_ actions: [FirmwareAction]) {
        for action in actions {
            guard case .notify(let fragment, let channel) = action else {
                others.append(action)
                continue
            }
            guard case .packet(let packet) = reassemblers[channel, default: Reassembler()].receive(fragment) else {
                continue
            }
            if channel == .response { responses.append(Array(packet)) } else { notifications.append(Array(packet)) }
        }
    }
}
