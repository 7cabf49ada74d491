import Bluetooth
import EventLoop
import JSON
import JacquardProtocol
import TagFirmware
import Time

/// Judges the final results of commands to tags.
extension Oracle {
    /// A final result with its command.
    struct Judgement {
        let demand: Demand
        let tag: AirTag
        let process: BridgeProcess
        let sentAt: Instant
        /// The code of the error; nil for `ok`.
        let code: String?
    }

    /// The longest time from the link of an undisturbed tag until commands reach it.
    private static let longestSetUp = Duration.seconds(10)
    /// The longest time in which an undisturbed tag executes a command, and those before it.
    private static let longestExecution = Duration.seconds(3)
    /// The longest time until a bridge notices an event of a tag, or the end of a silent link.
    private static let notice = Duration.seconds(5)

    /// Judges the first final result of a command.
    func judge(_ document: JSONValue, _ id: String, _ command: Command, _ process: BridgeProcess) {
        guard let tag = command.tag else { return }
        let code = document["error"]?["code"]?.string
        if command.demand.kind == .disconnect, code == nil, world.options.bridges == 1 {
            tag.history.held(by: command.sentAt, at: world.now)
        }
        let result = Judgement(
            demand: command.demand, tag: tag, process: process, sentAt: command.sentAt, code: code)
        guard let cause = complaint(result) else { return }
        violated("command \(id) to \(tag.serial) ends with \(code ?? "ok"): \(cause)")
    }

    /// Returns what is wrong with a result; nil if it may be right.
    private func complaint(_ result: Judgement) -> String? {
        if case .invalid(let code) = result.demand.kind {
            if result.code == code { return nil }
            // A bridge that stops, or does not list the tag, does not read the command.
            guard let code = result.code, ["tag_offline", "unknown_tag"].contains(code) else {
                return "it is invalid, and has to end with \(code)"
            }
        }
        if let since = result.tag.history.heldSince, since < result.sentAt, result.process.startedAt < since,
            !result.demand.isForConnection, !isRightForHeld(result)
        {
            return "the tag is held"
        }
        if isLate(result) { return "the tag has been connected for a while" }
        return result.code.map { complaint(about: $0, result) } ?? complaintAboutSuccess(result)
    }

    /// Whether the result of a command to a tag that is held may be right.
    private func isRightForHeld(_ result: Judgement) -> Bool {
        switch result.code {
        case "not_permitted", "invalid_argument", "unknown_tag": true
        case "tag_offline": result.process.isStopping
        default: false
        }
    }

    /// Whether a result comes too late, although its tag has been connected and undisturbed.
    private func isLate(_ result: Judgement) -> Bool {
        let begin = max(result.sentAt, result.tag.linkedAt + Self.longestSetUp)
        let age = world.now - begin
        return age > Self.longestExecution && wasReachable(result, at: begin)
            && !world.faults.hadBrokerOutage(within: world.now - result.sentAt)
    }

    private func complaintAboutSuccess(_ result: Judgement) -> String? {
        let history = result.tag.history
        switch result.demand.kind {
        case .effect(let effect):
            return history.effects[effect].map { $0 < result.sentAt } ?? true ? "the tag has not done it" : nil
        case .response: return history.requested < result.sentAt ? "the tag has received no request" : nil
        case .signal, .connect:
            let isLinked = result.process.central?.isLinked(result.tag) ?? false
            return isLinked || history.linkEnded > result.sentAt - Self.notice ? nil : "the tag is not connected"
        case .disconnect:
            let isLinked = result.process.central?.isLinked(result.tag) ?? false
            return isLinked && !history.mayBeWanted(since: result.sentAt) ? "the tag is connected" : nil
        case .invalid: return nil
        }
    }

    /// Returns what is wrong with an error; nil if it may be right.
    private func complaint(about code: String, _ result: Judgement) -> String? {
        let (tag, history) = (result.tag, result.tag.history)
        let isDisturbed = isDisturbed(tag, since: result.sentAt)
        switch code {
        case "invalid_argument": return hasName(result) ? nil : "it is valid"
        case "unsupported": return canExecute(result) ? "tag and gear can do it" : nil
        case "not_permitted":
            let mayBeHeld = world.people.isHeld(tag) || history.mayBeHeld(since: result.sentAt)
            return mayBeHeld ? nil : "the tag is not held"
        case "tag_offline": return complaintAboutOffline(result, isDisturbed)
        case "expired": return complaintAboutExpiry(result)
        case "in_use":
            return wasUsedElsewhere(result) ? nil : "no other program has used the tag"
        case "timeout", "link_lost":
            let isLinkLost = history.linkEnded >= result.sentAt || result.process.isStopping
            return isLinkLost || isDisturbed ? nil : "the link is up, and the tag responds"
        case "tag_error":
            let mayRefuse = isDisturbed || history.gearChanged > result.sentAt - Self.notice
            return mayRefuse ? nil : "the tag has not refused it"
        case "unknown_tag", "busy": return isDisturbed ? nil : "nothing was wrong with the tag"
        default: return "no such error is possible"
        }
    }

    /// Whether another program may use a tag, or has used it since the last attempt of the bridge.
    private func wasUsedElsewhere(_ result: Judgement) -> Bool {
        let tag = result.tag
        // A bridge makes no attempt while another bridge is connected.
        let since = world.options.bridges > 1 ? result.process.startedAt : min(tag.linkedAt, result.sentAt)
        return tag.history.usedElsewhere >= since || world.options.sharesAdapter
            || world.hosts.contains { $0.radio.takenByOthers.contains(tag.address) }
    }

    private func complaintAboutOffline(_ result: Judgement, _ isDisturbed: Bool) -> String? {
        if wasReachable(result, at: result.sentAt) { return "the tag is connected" }
        // Another bridge has connected it.
        let isElsewhere = world.options.bridges > 1 && result.tag.link != nil
        let hasTime = result.demand.timeToLive > world.now - result.sentAt
        return hasTime && !isDisturbed && !isElsewhere && !result.process.isStopping ? "the tag may still come" : nil
    }

    private func complaintAboutExpiry(_ result: Judgement) -> String? {
        let end = result.sentAt + result.demand.timeToLive
        if world.now < end { return "it may wait longer" }
        return wasReachable(result, at: end) ? "the tag has been connected in time" : nil
    }

    /// Whether a tag and its gear can execute a command.
    private func canExecute(_ result: Judgement) -> Bool {
        guard let capability = result.demand.capability else { return true }
        let change = max(result.tag.history.gearChanged, result.tag.history.linkMoved)
        return change <= result.sentAt - Self.notice && isKnown(capability, to: result.tag)
    }

    /// Whether the gear of a tag has a capability, and the catalogue says so.
    private func isKnown(_ capability: Capability, to tag: AirTag) -> Bool {
        guard let product = tag.firmware.gear?.gear.product else { return false }
        return GearCatalogue.builtIn.component(
            vendorID: product.vendor.id, productID: product.product.id, componentID: 0
        ).capabilities.contains(capability)
    }

    /// Whether a tag has the name that a command sets, or has had it since, or a bridge believes so.
    private func hasName(_ result: Judgement) -> Bool {
        guard let name = result.demand.name else { return false }
        // Another bridge may have changed the name meanwhile.
        if world.options.bridges > 1, result.process.central?.isLinked(result.tag) != true { return true }
        return result.tag.firmware.name == name || fact("tag/\(result.tag.serial)/info")?["tag_name"]?.string == name
            || result.tag.history.effects[.name(name)].map { $0 >= result.sentAt } ?? false
    }

    /// Whether requests to a tag, or its responses, have failed since an instant, or may have failed.
    private func isDisturbed(_ tag: AirTag, since instant: Instant) -> Bool {
        tag.troubledUntil >= instant || tag.needsPairing || tag.history.linkMoved > instant - Self.notice
            || world.hosts.contains { $0.radio.faultRate > 0 || $0.radio.troubledUntil >= instant }
    }

    /// Whether commands reach a tag at an instant for certain, and have since.
    private func wasReachable(_ result: Judgement, at instant: Instant) -> Bool {
        result.process.central?.isLinked(result.tag) ?? false && result.process.isRunning
            && result.process.startedAt <= instant && result.tag.history.linkEnded < instant
            && result.tag.linkedAt + Self.longestSetUp <= instant
            && !isDisturbed(result.tag, since: instant - Self.longestSetUp)
    }
}
