import Bluetooth
import EventLoop
import Time

/// Deadlines that are checked.
extension Oracle {
    func checkCommands() {
        var settled = 0
        for id in order.prefix(200) {
            guard let command = commands[id] else { continue }
            let age = world.now - command.sentAt
            guard age > Self.longestCommand * 2 else { break }
            defer { (commands[id], settled) = (nil, settled + 1) }
            // It may have had any effect until then.
            if command.demand.name != nil, command.results == 0, let tag = command.tag {
                tag.nameLostAt = max(tag.nameLostAt, command.sentAt + Self.longestCommand)
            }
            guard command.results == 0, let first = command.acknowledged.first else { continue }
            // A result waits for the broker for a minute at most.
            let isExcused =
                command.acknowledged.contains { $0.process.isDead || $0.process.hasStoppedAlone }
                || isResultLost(since: first.at)
            if !isExcused { violated("command \(id) was acknowledged and has no result") }
        }
        order.removeFirst(settled)
    }

    /// Whether a result may be lost because the broker was away for too long.
    func isResultLost(since instant: Instant) -> Bool {
        absences.contains { $0.lowerBound < instant + Self.longestCommand && $0.upperBound > instant }
    }

    /// Notes for how long bridges have no broker. A connection that ends soon does not count.
    func noteAbsences() {
        for host in world.hosts {
            let isPresent = world.hasBroker(host.instance)
            defer { wasPresent[host.number] = isPresent }
            if isPresent, wasPresent[host.number] ?? false {
                absentSince[host.number] = nil
                continue
            }
            let since = absentSince[host.number] ?? world.now - .seconds(5)
            absentSince[host.number] = since
            guard world.now - since >= .seconds(50) else { continue }
            if absences.last?.lowerBound == since { absences.removeLast() }
            absences.append(since..<(world.now + .seconds(10)))
            if absences.count > 100 { absences.removeFirst(50) }
        }
    }

    /// A command has its result soon if its tag is connected all the time, as is the broker.
    func checkPromptness() {
        for id in order.prefix(200) {
            guard let command = commands[id], command.results == 0, let tag = command.tag,
                let (process, at) = command.acknowledged.first, process.isRunning,
                world.now - at > Self.longestIdleness, tag.linkedAt < at - .seconds(30),
                let host = world.hosts.first(where: { $0.process === process }), host.isLinked(tag),
                world.hasBroker(host.instance), !world.faults.hadBrokerOutage(within: Self.longestResponse),
                !isResultLost(since: at)
            else { continue }
            if let last = process.central?.lastWrite(to: tag), world.now - last > Self.longestIdleness {
                violated("command \(id) waits, and nothing was sent to \(tag.serial) for \(world.now - last)")
            }
            guard world.now - at > Self.longestResponse else { continue }
            violated("command \(id) of the connected tag \(tag.serial) has no result after \(world.now - at)")
        }
    }

    func checkConnections() {
        for tag in world.tags {
            let isReceived =
                tag.link == nil && tag.isAdvertising
                && world.hosts.contains {
                    $0.lists(tag) && tag.isReceivable(by: $0.radio) && $0.radio.state == .poweredOn
                        && $0.process?.isRunning == true
                }
            guard isReceived, !tag.needsPairing, !world.faults.isActive, !world.people.isHeld(tag) else {
                waitingSince[tag.serial] = nil
                continue
            }
            let since = waitingSince[tag.serial] ?? world.now
            waitingSince[tag.serial] = since
            // Without a fault, each tag needs a few seconds.
            let isUndisturbed = world.faults.lastChange == nil
            let limit = isUndisturbed ? .seconds(10 + Int64(world.options.tags) * 7 / 2) : Self.longestWait
            guard world.now - since > limit else { continue }
            violated("\(tag.serial) is received and has not been connected for \(world.now - since)")
        }
    }

    /// Each bridge connects to a broker that accepts it.
    func checkSessions() {
        for host in world.hosts {
            guard world.isBrokerOpen, let process = host.process, process.isRunning,
                !world.broker.isConnected("jacquard-\(host.instance)"), !world.cutBridges.contains(host.instance)
            else {
                lonelySince[host.number] = nil
                continue
            }
            let since = lonelySince[host.number] ?? world.now
            lonelySince[host.number] = since
            if world.now - since > Self.longestSession {
                violated("\(host.instance) has not been connected to the broker for \(world.now - since)")
            }
        }
    }
}
