import JacquardProtocol
import Text
import Time

/// The findings about one tag: whether it may be connected, is received, has a bond, and is connected.
struct TagFindings {
    private let tag: TagMirror
    /// Whether a device has a bond with this host, by address; nil if BlueZ did not answer.
    private let bonds: [String: Bool]?
    /// Whether another bridge is connected to the tag.
    private let isConnectedElsewhere: Bool
    /// The serials of received tags that the bridge does not know.
    private let strangers: [String]
    private let now: Timestamp

    /// How long after its last advertisement a tag counts as received. Tags advertise several times a second.
    private static let memory = Duration.seconds(60)

    init(
        _ tag: TagMirror, _ bonds: [String: Bool]?, isConnectedElsewhere: Bool = false, strangers: [String] = [],
        now: Timestamp
    ) {
        self.tag = tag
        self.bonds = bonds
        self.isConnectedElsewhere = isConnectedElsewhere
        self.strangers = strangers
        self.now = now
    }

    /// The findings from the policy to the last error.
    var all: [Finding] { [policy, received, bond, link, lastError] }

    private var isLinked: Bool { tag.link.connection.state.isLinked }

    /// Whether the configuration or the user prevents the connection.
    var policy: Finding {
        let id = tag.entry.id
        switch tag.entry.connect {
        case .never:
            return Finding(
                .connectionPolicy, .failed, "disabled in the configuration",
                remedies: ["set the tag's connect to always or on_demand, then reload the bridge"])
        case .always where tag.link.intent.isHeld, .onDemand where tag.link.intent.isHeld:
            return Finding(
                .connectionPolicy, .failed, "disconnected by the user",
                remedies: ["jacquard2mqtt connection \(id) connect"])
        case .always: return Finding(.connectionPolicy, .ok, "the bridge keeps tag \(id) connected")
        case .onDemand: return Finding(.connectionPolicy, .ok, "the bridge connects tag \(id) when a command arrives")
        }
    }

    /// Whether the bridge receives the tag.
    var received: Finding {
        if isLinked { return Finding(.received, .ok, "linked to the adapter") }
        if isConnectedElsewhere { return Finding(.received, .skipped, "a linked tag sends no advertisements") }
        if let lastSeen = tag.lastSeen, now.instant - lastSeen.instant <= Self.memory {
            let signal = tag.sighting.rssi.map { " at \($0) dBm" } ?? ""
            return Finding(.received, .ok, "received \(lastSeen.ago(at: now))\(signal)")
        }
        if let fault = tag.link.bluetoothFault {
            return Finding(.received, .skipped, "not known: \(fault.text)")
        }
        if let since = sleepingSince {
            return Finding(.received, .skipped, "the tag sleeps since \(since). \(TagAdvice.sleeps)")
        }
        let silence = tag.lastSeen.map { "last received \($0.ago(at: now))" } ?? "not received since the bridge started"
        guard isAwaited else {
            return Finding(.received, .skipped, "\(silence): the bridge does not wait for it now")
        }
        return Finding(.received, .failed, silence, remedies: remediesOfSilence)
    }

    /// Since when the tag sleeps; nil if it does not, or if presence is off.
    private var sleepingSince: String? {
        tag.presence.flatMap { $0.state == .asleep ? $0.since.text : nil }
    }

    /// Whether the bridge scans for the tag, or the last command could not reach it. Without a scan, silence means nothing.
    private var isAwaited: Bool {
        tag.link.intent.isWanted || (policy.verdict != .failed && !tag.link.connectsOnDemand)
    }

    private var remediesOfSilence: [String] {
        let battery = tag.battery.latest.map { "; at the last report its battery was at \($0.value.level) %" } ?? ""
        return remediesOfSerial + [TagAdvice.wake, "bring it near the adapter", "charge it\(battery)"]
    }

    /// Remedies if another tag is received, and this one never was: its serial can be misread.
    private var remediesOfSerial: [String] {
        guard tag.lastSeen == nil, !strangers.isEmpty else { return [] }
        let serial = tag.entry.serial
        let similar = SerialLikeness.matches(to: serial, in: strangers)
        guard similar.isEmpty else {
            return ["\(similar[0]) is received and looks like \(serial): compare the serial with the print on the tag"]
        }
        let named = strangers.prefix(Self.mostNamed).joined(separator: ", ")
        return ["compare the serial with the print on the tag: received, but not known, are \(named)"]
    }

    /// The number of serials that a remedy names.
    private static let mostNamed = 10

    /// Whether the tag has a bond with this host.
    var bond: Finding {
        if let radios = tag.radios?.withoutBond, let first = radios.first {
            return Finding(
                .bond, .failed, "no bond with \(radios.joined(separator: ", ")), and no other radio receives the tag",
                remedies: ["jacquard2mqtt pair \(tag.entry.serial) --radio \(first)"])
        }
        let remedies = ["jacquard2mqtt pair \(tag.entry.serial), and hold the tag's button for three seconds"]
        if let failure = tag.link.failure, failure.code == .peerRemovedPairingInfo {
            return Finding(.bond, .failed, "the tag has removed its bond with this host", remedies: remedies)
        }
        let listed = tag.sighting.address.flatMap { address in bonds.map { $0[address] ?? false } }
        switch listed ?? tag.sighting.isPaired {
        case true?: return Finding(.bond, .ok, "bonded with this host")
        // A simulated tag, for example.
        case false? where tag.isConnected: return Finding(.bond, .ok, "not needed: connected without a bond")
        case false?: return Finding(.bond, .warning, "no bond with this host", remedies: remedies)
        case nil: return Finding(.bond, .skipped, "not known: the bridge has not received the tag yet")
        }
    }

    /// Whether the tag is connected.
    var link: Finding {
        let connection = tag.link.connection
        if isConnectedElsewhere { return Finding(.link, .ok, "connected to another bridge") }
        switch connection.state {
        case .connected: return Finding(.link, .ok, "connected since \(tag.link.since.text)")
        case .connecting, .initializing, .configuring:
            let step = connection.state.step.map { " \($0)/\(TagConnection.totalSteps)" } ?? ""
            return Finding(.link, .warning, "\(connection.state.word)\(step), attempt \(max(1, connection.attempt))")
        case .preparingToConnect, .disconnected: return noLink
        }
    }

    /// Why the last attempt has failed.
    private var lastFailure: Finding? {
        tag.link.failure.map {
            Finding(.link, .failed, "not connected: \(tag.link.text(of: $0))", remedies: [tag.link.hint(of: $0)])
        }
    }

    /// The state of Bluetooth, if it is why the tag is not connected.
    private var fault: Cause? {
        guard let fault = tag.link.bluetoothFault else { return nil }
        return tag.link.failure.map { tag.link.cause(of: $0) != nil } ?? true ? fault : nil
    }

    /// Why a tag that sleeps is not connected; nil if it does not sleep.
    private var sleep: String? {
        guard tag.link.intent.restsUntil != nil || tag.link.waitsForMotion || sleepingSince != nil else { return nil }
        return "not connected, because " + (sleepingSince == nil ? "it was sent to sleep" : "it sleeps")
    }

    private var noLink: Finding {
        guard policy.verdict != .failed else { return Finding(.link, .skipped, "not tried") }
        if let fault { return Finding(.link, .skipped, "not connected: \(fault.text)") }
        if let lastFailure { return lastFailure }
        if let sleep { return Finding(.link, .ok, sleep) }
        if tag.entry.connect == .onDemand, !tag.link.intent.isWanted {
            return Finding(.link, .ok, "not connected, because no command is waiting")
        }
        guard received.verdict != .failed else {
            return Finding(.link, .skipped, "not tried: the bridge waits until it receives the tag")
        }
        return Finding(
            .link, .failed, "not connected since \(tag.link.since.text)",
            remedies: ["ask again in ten seconds", "jacquard2mqtt run --log-level debug"])
    }

    /// The state of the tag, and why it is not connected, as `why` prints it, with the first remedy; nil while it is
    /// connected, and during the first attempt to connect it. It has no time that passes, because it is shown until the next
    /// event.
    var reason: (status: TagStatus, why: String?) {
        if tag.isConnected { return (.connected, nil) }
        if policy.verdict == .failed {
            return (tag.entry.connect == .never ? .disabled : .disconnectedByUser, policy.found)
        }
        let isAttempted = link.verdict == .warning
        // Without a scan, a link that is up goes on, and no other tag is found.
        if let fault, fault.check != .discovery || !isAttempted {
            return (fault.check == .discovery ? .outOfRange : .bluetoothOff, Finding(fault).sentence)
        }
        if tag.lastSeen == nil, received.verdict == .failed {
            return (isAttempted ? .connecting : .outOfRange, received.sentence)
        }
        if bond.verdict == .failed { return (.noBond, bond.sentence) }
        if let failure = tag.link.failure, let lastFailure {
            return (isAttempted ? .connecting : TagStatus(after: failure.code), lastFailure.sentence)
        }
        if let sleep { return (.asleep, "\(sleep). \(TagAdvice.sleeps)") }
        if isAttempted { return (.connecting, nil) }
        if link.verdict == .ok { return (.onDemand, link.found) }
        return (tag.link.connection.state == .disconnected ? .disconnected : .outOfRange, link.found)
    }

    /// Why the last connection failed.
    var lastError: Finding {
        guard let failure = tag.link.failure else {
            return Finding(.lastError, .ok, tag.isConnected ? "none: connected" : "none since the start")
        }
        let time = tag.link.failedAt.map { ", \($0.ago(at: now))" } ?? ""
        let name = failure.stackName.map { " (\($0))" } ?? ""
        let retry: String
        if let due = tag.link.connection.retryAt {
            retry = "; next attempt in \(max(0, (due - now.instant).components.seconds)) s"
        } else if tag.link.connection.state == .preparingToConnect {
            retry = "; next attempt when it is received"
        } else {
            retry = ""
        }
        return Finding(
            .lastError, .warning, "\(failure.code.word)\(time): \(tag.link.text(of: failure))\(name)\(retry)",
            remedies: [tag.link.hint(of: failure)])
    }
}

extension Finding {
    /// The result, and the first remedy.
    fileprivate var sentence: String { ([found] + remedies.prefix(1)).joined(separator: ". ") }
}
