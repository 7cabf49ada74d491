import Bluetooth
import Time

/// One device from the request to connect it until its `disconnected`.
struct ProxyLink: Sendable {
    enum Phase: Hashable, Sendable {
        /// Waiting for an advertisement, for its turn, or for a free link.
        case waiting
        /// The proxy is connecting it.
        case connecting(until: Instant)
        /// The link is up.
        case linked
        /// The proxy is ending the link or the attempt, for this reason; nil if it was requested.
        case disconnecting(BluetoothError?, until: Instant)
    }

    /// A discovered characteristic.
    struct Characteristic: Hashable, Sendable {
        let handle: UInt32
        let properties: UInt32
        /// The handle of the descriptor 0x2902; nil if there is none.
        let configuration: UInt32?
    }

    /// A request of the client about a characteristic. The proxy gets one at a time.
    struct Operation: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case notify
            case configure
            case write([UInt8], WriteType)
        }

        var kind: Kind
        let id: BluetoothUUID
        let characteristic: Characteristic
        /// Until when it is repeated while the proxy is busy; nil before the first time.
        var repeatedUntil: Instant?
        /// Whether it was repeated after the link was encrypted.
        var wasRepeatedEncrypted = false

        /// The handle of the response.
        var handle: UInt32 { kind == .configure ? characteristic.configuration ?? 0 : characteristic.handle }
    }

    /// The state of the first operation.
    enum Progress: Hashable, Sendable {
        case idle
        /// Sent; the response is due at this time.
        case sent(until: Instant)
        /// To be sent again at this time.
        case pausing(until: Instant)
        /// To be sent again when the link is encrypted, or to fail at this time.
        case securing(until: Instant, Int32)
    }

    /// A requested search for characteristics of a service.
    struct Search: Hashable, Sendable {
        let service: BluetoothUUID
        let characteristics: [BluetoothUUID]
    }

    /// The services of the device.
    enum Table: Hashable, Sendable {
        case unknown
        case requested(until: Instant, [ProxyService])
        case known([ProxyService])
    }

    /// The most characteristics of a device that are read.
    static let mostCharacteristics = 1024

    var phase = Phase.waiting
    /// The ATT MTU; nil if it is unknown.
    var mtu: Int?
    var table = Table.unknown
    var searches: [Search] = []
    var characteristics: [BluetoothUUID: Characteristic] = [:]
    /// The number of requests for each subscription that is being enabled; 0 when it is.
    var subscriptions: [BluetoothUUID: Int] = [:]
    /// By the handle of the value.
    var notifying: [UInt32: BluetoothUUID] = [:]
    var operations: [Operation] = []
    var progress = Progress.idle
    /// Timeout of the requested pairing; nil without one.
    var pairingUntil: Instant?
    /// Whether the proxy has reported a pairing or an encryption of this link.
    var isEncrypted = false
    /// Whether there was a bond when the link came up, or one was reported since.
    var wasBonded = false
    /// Whether the device has refused the bond on this link.
    var hasLostBond = false

    /// When something has to be done without a message; nil if never.
    var deadline: Instant? {
        var next: Instant?
        switch phase {
        case .waiting: return nil
        // The end of the link is the end of everything else.
        case .connecting(let until), .disconnecting(_, let until): return until
        case .linked: break
        }
        if case .requested(let until, _) = table { next.lower(to: until) }
        switch progress {
        case .idle: break
        case .sent(let until), .pausing(let until), .securing(let until, _): next.lower(to: until)
        }
        next.lower(to: pairingUntil)
        return next
    }

    /// Searches the services of the device.
    ///
    /// - Returns: the characteristics of the service; the error if one is missing.
    func find(_ search: Search, in services: [ProxyService]) -> Result<[BluetoothUUID: Characteristic], BluetoothError>
    {
        let service = services.first { BluetoothUUID($0.id) == search.service }
        guard let service else {
            return .failure(BluetoothError(.serviceMissing, text: "the device does not offer the service"))
        }
        var found: [BluetoothUUID: Characteristic] = [:]
        for one in service.characteristics {
            found[BluetoothUUID(one.id)] = Characteristic(
                handle: one.handle, properties: one.properties,
                configuration: one.descriptors.first { $0.id == .clientConfiguration }?.handle)
        }
        guard search.characteristics.allSatisfy({ found[$0] != nil }) else {
            return .failure(
                BluetoothError(.characteristicMissing, text: "a characteristic of the service is missing"))
        }
        return .success(found)
    }
}

extension ProxyLink.Characteristic {
    /// The properties as `Central` has them.
    ///
    /// Source: Bluetooth Core Specification 5.3, volume 3, part G, 3.3.1.1.
    var centralProperties: CharacteristicProperties {
        var set: CharacteristicProperties = []
        if properties & 0x04 != 0 { set.insert(.writeWithoutResponse) }
        if properties & 0x08 != 0 { set.insert(.write) }
        if properties & 0x30 != 0 { set.insert(.notify) }
        return set
    }

    /// The value of the descriptor 0x2902: notifications, or indications if there are only those.
    var configurationValue: [UInt8] { properties & 0x10 != 0 ? [1, 0] : [2, 0] }
}

extension BluetoothUUID {
    init(_ id: ProxyService.ID) {
        self.init(high: id.high, low: id.low)
    }
}

extension BluetoothError {
    static let noLink = BluetoothError(.busy, text: "the proxy has no free link")

    /// The error of a link that was lost or could not be made.
    ///
    /// - Parameter reason: a reason of the HCI, such as 0x08, or an error of ESP-IDF.
    init(linkError reason: Int32) {
        let name = "esphome.link." + Self.text(reason)
        let end: DisconnectReason? =
            switch reason {
            case 0x08: .timeout
            case 0x13, 0x15: .remote
            case 0x16: .local
            default: nil
            }
        self =
            switch reason {
            case 0x05, 0x06, 0x3D: BluetoothError(.authenticationFailed, name: name, text: "the encryption failed")
            case 0x3E: BluetoothError(.connectionFailed, name: name, text: "the link could not be made")
            default:
                BluetoothError(
                    .connectionFailed, name: name, text: end?.text ?? "the link ended, reason \(Self.text(reason))",
                    end: end)
            }
    }

    /// The error of an access.
    ///
    /// - Parameter code: an error of ATT, or of ESP-IDF.
    init(accessError code: Int32) {
        let name = "esphome.gatt." + Self.text(code)
        self =
            switch code {
            case 0x02, 0x03, 0x06:
                BluetoothError(.notPermitted, name: name, text: "the device does not permit the access")
            case 0x05, 0x08, 0x0C, 0x0F:
                BluetoothError(.authenticationFailed, name: name, text: "the device requires a bond: pair it")
            // 0x84, 0x8F: ESP-IDF; 0x94: the stack of the Pico W.
            case 0x84, 0x8F, 0x94: BluetoothError(.busy, name: name, text: "the proxy is busy")
            default: BluetoothError(.other, name: name, text: "the access failed, error \(Self.text(code))")
            }
    }

    /// A number as ESPHome writes it: its own errors, such as -1, are negative.
    private static func text(_ number: Int32) -> String {
        number < 0 ? "\(number)" : "0x" + String(number, radix: 16)
    }
}
