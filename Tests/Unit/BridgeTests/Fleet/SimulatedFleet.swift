import Foundation
import Glibc
import JacquardProtocol
import MQTTTypes
import Time

@testable import Bridge

/// Many bridges at one broker in memory, each with its connected tags. Time is virtual.
final class SimulatedFleet {
    /// The messages between the broker and one bridge.
    struct Traffic {
        var received = 0
        var receivedBytes = 0
        var published = 0
        var publishedBytes = 0
    }

    private final class Client {
        var state: BridgeState
        var outbox = Outbox()
        var traffic = Traffic()

        init(_ configuration: BridgeConfiguration, at now: Timestamp) {
            state = BridgeState(configuration: configuration, boot: "9f3c", startedAt: now)
        }
    }

    /// Filters or topics with the same number of levels and the same last level.
    private struct Group: Hashable {
        let count: Int
        let last: Substring

        init(_ levels: [Substring], last: Substring? = nil) {
            count = levels.count
            self.last = last ?? levels.last ?? ""
        }
    }

    private var clients: [Client] = []
    private var filters: [Group: [String: Set<Int>]] = [:]
    private var retained: [Group: [String: [UInt8]]] = [:]
    private var queue: [(client: Int, message: MQTTMessage)] = []
    private var now = Scene.beginning
    private let tagsPerBridge: Int

    /// Starts the bridges one after the other.
    init(bridges: Int, tagsPerBridge: Int = 20, watch: Bool) {
        self.tagsPerBridge = tagsPerBridge
        for number in 0..<bridges {
            let name = Self.name(number)
            let tags = (0..<tagsPerBridge).map { Self.tag(number, $0) }
            var configuration = BridgeConfiguration(
                instance: name, version: "0.1.0", tags: tags.map { TagEntry(id: $0, serial: $0.text) })
            configuration.options.watchesFleet = watch
            clients.append(Client(configuration, at: now))
            handle(.started, number)
            for tag in tags {
                handle(.tag(handle(tag, number), .connection(TagConnection(state: .connected, attempt: 1))), number)
            }
            connect(number)
            drain()
            pass(.milliseconds(37))
        }
    }

    private static func name(_ number: Int) -> String { "host-\(1_000 + number)" }

    private static func tag(_ bridge: Int, _ number: Int) -> TagID { .known("\(1_000 + bridge)-\(number)") }

    var count: Int { clients.count }

    /// The largest number of subscriptions of a bridge.
    var subscriptions: Int { clients.map { $0.state.subscriptions.count }.max() ?? 0 }

    /// The traffic of the bridge with the most received messages since the last call of ``resetTraffic()``.
    var traffic: Traffic { clients.map(\.traffic).max { $0.received < $1.received } ?? Traffic() }

    func resetTraffic() {
        for index in clients.indices { clients[index].traffic = Traffic() }
    }

    /// Lets time pass. If `isUsed`, each tag has, in an hour, six gestures, two commands, and six reconnections.
    func pass(_ duration: Duration, isUsed: Bool = false) {
        let end = now.instant + duration
        let pause = Duration.seconds(3_600) / (14 * count * tagsPerBridge)
        var (use, events) = (now.instant + pause, 0)
        while true {
            let (due, client) = earliest
            let next = isUsed && use < due ? use : due
            guard next <= end else { break }
            now = now + max(.zero, next - now.instant)
            if isUsed, next == use {
                useTag(events)
                (use, events) = (use + pause, events + 1)
            } else {
                handle(.deadlineReached, client)
            }
            drain()
        }
        now = now + (end - now.instant)
    }

    /// Removes the bridges.
    ///
    /// - Returns: the memory in bytes that each of them has used, its stored messages included.
    func removeBridges() -> Int {
        let count = count
        (retained, queue) = ([:], [])
        Self.releaseFreeMemory()
        let before = Self.residentBytes
        clients = []
        Self.releaseFreeMemory()
        return (before - Self.residentBytes) / count
    }

    private static var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 4_096 } ?? 0
    }

    /// Returns free memory of the heap to the kernel.
    private static func releaseFreeMemory() {
        // The Glibc module lacks malloc.h.
        typealias Trim = @convention(c) (Int) -> CInt
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: Trim.self)(0)
    }

    private var earliest: (Instant, Int) {
        var earliest = (Instant(sinceBoot: .seconds(1 << 40)), 0)
        for index in clients.indices {
            if let deadline = clients[index].state.deadline, deadline < earliest.0 { earliest = (deadline, index) }
        }
        return earliest
    }

    private func useTag(_ number: Int) {
        let bridge = number % count
        let tag = Self.tag(bridge, number / count % tagsPerBridge)
        switch number / count % 14 {
        case 0, 7: route("jacquard/tag/\(tag.text)/battery/get", [])
        case 1, 3, 5, 8, 10, 12:
            for state in [TagConnection.State.preparingToConnect, .connected] {
                handle(.tag(handle(tag, bridge), .connection(TagConnection(state: state, attempt: 1))), bridge)
            }
        default: handle(.tag(handle(tag, bridge), .gesture(.doubleTap)), bridge)
        }
    }

    private func handle(_ tag: TagID, _ client: Int) -> TagHandle { clients[client].state.handle(of: tag) ?? .none }
}

// MARK: The driver of each bridge

extension SimulatedFleet {
    private func connect(_ client: Int) {
        for subscription in clients[client].state.subscriptions { subscribe(client, subscription.filter) }
        handle(.brokerConnected, client)
        handle(.brokerProtocol(5), client)
        send(clients[client].outbox.connected(at: now.instant), client)
    }

    private func handle(_ event: BridgeEvent, _ client: Int) {
        for action in clients[client].state.handle(event, at: now) {
            switch action {
            case .publish(let publication): send(clients[client].outbox.submit(publication, at: now.instant), client)
            case .subscribe(let filters): filters.forEach { subscribe(client, $0) }
            case .unsubscribe(let filters): filters.forEach { unsubscribe(client, $0) }
            case .perform(_, let tag, let token, _):
                let battery = TagCommandResponse.battery(BatteryStatus(level: 87, isCharging: false))
                handle(.tag(tag, .commandEnded(token: token, .success(battery))), client)
            default: break
            }
        }
    }

    private func send(_ deliveries: [Outbox.Delivery], _ client: Int) {
        var deliveries = deliveries[...]
        while let delivery = deliveries.popFirst() {
            let publication = delivery.publication
            clients[client].traffic.published += 1
            clients[client].traffic.publishedBytes += publication.topic.utf8.count + publication.payload.count
            if publication.message.isRetained {
                retained[Group(Self.levels(publication.topic)), default: [:]][publication.topic] = publication.payload
            }
            route(publication.topic, publication.payload)
            if let ticket = delivery.ticket {
                deliveries += clients[client].outbox.acknowledged(ticket, at: now.instant)
            }
        }
    }

    private func drain() {
        while !queue.isEmpty {
            let messages = queue
            queue = []
            for (client, message) in messages { handle(.message(message), client) }
        }
    }
}

// MARK: The broker

extension SimulatedFleet {
    private static func levels(_ topic: String) -> [Substring] {
        topic.split(separator: "/", omittingEmptySubsequences: false)
    }

    private static func matches(_ filter: String, _ levels: [Substring]) -> Bool {
        zip(Self.levels(filter), levels).allSatisfy { $0 == "+" || $0 == $1 }
    }

    private func subscribe(_ client: Int, _ filter: String) {
        let levels = Self.levels(filter)
        filters[Group(levels), default: [:]][filter, default: []].insert(client)
        for (topic, payload) in retained[Group(levels)] ?? [:] where Self.matches(filter, Self.levels(topic)) {
            deliver(MQTTMessage(topic: topic, payload: payload, isRetained: true), to: client)
        }
    }

    private func unsubscribe(_ client: Int, _ filter: String) {
        filters[Group(Self.levels(filter))]?[filter]?.remove(client)
    }

    private func route(_ topic: String, _ payload: [UInt8]) {
        let levels = Self.levels(topic)
        let message = MQTTMessage(topic: topic, payload: payload)
        for group in [Group(levels), Group(levels, last: "+")] {
            for (filter, subscribers) in filters[group] ?? [:] where Self.matches(filter, levels) {
                for client in subscribers { deliver(message, to: client) }
            }
        }
    }

    private func deliver(_ message: MQTTMessage, to client: Int) {
        clients[client].traffic.received += 1
        clients[client].traffic.receivedBytes += message.topic.utf8.count + message.payload.count
        queue.append((client, message))
    }
}
