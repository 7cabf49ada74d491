import BlueZ
import Bluetooth
import Bridge
import EventLoop
import Jacquard
import JacquardProtocol
import Logging
import MQTT

/// Joins the radio, the bridge and the broker: carries each event of one to the next, and decides nothing.
///
/// Up: manager -> ``Bridge/BridgeState`` -> ``Bridge/Outbox`` -> client. Down: client -> ``Bridge/BridgeState`` -> manager.
@LoopActor
final class BridgeService {
    private let log: Logger
    private let central: BlueZCentral
    private let manager: JacquardManager
    private let client: MQTTClient
    private let tags: [(identity: TagIdentity, entry: TagEntry)]
    private let ids: [TagIdentity: TagID]
    private let identities: [TagID: TagIdentity]
    private var bridge: BridgeState
    private var outbox = Outbox()
    private var reconnects = -1
    private var armed: ContinuousClock.Instant?
    private lazy var bridgeTimer = LoopTimer { [unowned self] in
        armed = nil
        carryOut { bridge, now in bridge.deadlineReached(at: now) }
    }
    private lazy var healthTimer = LoopTimer { [unowned self] in measure() }

    /// How often the process measures itself.
    private static let healthInterval = Duration.seconds(60)

    /// Builds the parts; nothing happens before ``start()``.
    ///
    /// - Parameters:
    ///   - configuration: what the user has decided.
    ///   - busAddress: of the bus that BlueZ is on.
    ///   - boot: tells this start from others.
    ///   - log: the program's logger.
    init(_ configuration: Configuration, busAddress: String, boot: String, log: Logger) {
        self.log = log
        tags = configuration.knownTags
        ids = Dictionary(tags.map { ($0.identity, $0.entry.id) }) { first, _ in first }
        identities = Dictionary(tags.map { ($0.entry.id, $0.identity) }) { first, _ in first }
        bridge = BridgeState(configuration: configuration.bridge, boot: boot, startedAt: .now)
        central = BlueZCentral(
            busAddress: busAddress, adapter: configuration.adapterChoice, log: log.labelled("bluez"))
        manager = JacquardManager(central: central, timing: configuration.timing, log: log.labelled("jacquard"))
        client = MQTTClient(configuration: configuration.client(will: bridge.will), log: log.labelled("mqtt"))
    }

    /// Begins; returns when the bus has been asked for the first time.
    func start() async {
        manager.onEvent = { [unowned self] in handle($0) }
        client.onEvent = { [unowned self] in handle($0) }
        carryOut { bridge, now in bridge.start(at: now) }
        client.start()
        measure()
        await central.start()
    }

    /// Says goodbye on both sides: at most three seconds for the radio, and two for the broker meanwhile.
    func stop() async {
        healthTimer.disarm()
        manager.onEvent = nil
        carryOut { bridge, now in bridge.stop(at: now) }
        async let radio: Void = central.stop()
        await client.stop()
        await radio
    }

    // MARK: Up

    private func handle(_ event: JacquardManager.Event) {
        switch event {
        case .tag(let identity, let event):
            guard let id = ids[identity] else { return }
            carryOut { bridge, now in bridge.tag(id, event, at: now) }
        case .advertised(let tag): sighted(tag)
        case .adapters(let adapters):
            carryOut { bridge, now in bridge.adapters(adapters.map { AdapterFacts($0) }, at: now) }
        case .centralState(let state):
            log.notice("Bluetooth has changed", [(.state, "\(state)")])
            // After each change the wanted tags are asked for again: while Bluetooth is off, their state says so.
            for (identity, entry) in tags where entry.connect == .always { manager.connect(identity) }
        }
    }

    private func sighted(_ tag: AdvertisedTag) {
        for (identity, entry) in tags where identity.matches(tag) {
            let sighting = TagSighting(
                address: tag.identifier.description, adapter: central.adapterID, rssi: tag.rssi, name: tag.displayName)
            carryOut { bridge, now in bridge.sighted(entry.id, sighting, at: now) }
        }
    }

    private func carryOut(_ event: (inout BridgeState, Moment) -> [BridgeAction]) {
        let now = Moment.now
        for action in event(&bridge, now) {
            switch action {
            case .publish(let publication): send(outbox.submit(publication, at: now.instant))
            case .perform(let command, on: let id, let token):
                guard let identity = identities[id] else { continue }
                manager.enqueue(command, on: identity, token: token)
            }
        }
        guard armed != bridge.deadline else { return }
        armed = bridge.deadline
        bridgeTimer.arm(at: armed)
    }

    private func send(_ deliveries: [Outbox.Delivery]) {
        for delivery in deliveries {
            do throws(MQTTError) {
                try client.publish(MQTTMessage(delivery.publication), ticket: delivery.ticket ?? 0)
            } catch {
                refused(delivery, error)
            }
        }
    }

    /// A message that the client does not take will not be taken later either; one that found no connection is still in
    /// the outbox, which is told of the loss next.
    private func refused(_ delivery: Outbox.Delivery, _ error: MQTTError) {
        guard error.code != .notConnected else { return }
        log.warning("cannot publish", [(.topic, delivery.publication.topic), (.error, error.description)])
        guard let ticket = delivery.ticket else { return }
        EventLoop.shared.atEndOfTurn { [weak self] in self?.acknowledged(ticket) }
    }

    private func acknowledged(_ ticket: UInt64) {
        send(outbox.acknowledged(ticket, at: .now))
    }

    // MARK: Down

    private func handle(_ event: MQTTEvent) {
        switch event {
        case .acknowledged(let ticket): acknowledged(ticket)
        case .message(let message): carryOut { bridge, now in bridge.received(IncomingMessage(message), at: now) }
        case .connected(let session): connected(session)
        case .disconnected: outbox.disconnected(at: .now)
        case .rejected(let ticket, let error):
            log.warning("the broker refuses a message", [(.error, error.description)])
            acknowledged(ticket)
        }
    }

    /// Subscribe, then `online` and all facts, then what has waited: the order of the contract.
    private func connected(_ session: MQTTSession) {
        reconnects += 1
        client.subscribe(
            to: bridge.subscriptions.compactMap { subscription in
                (try? MQTTTopicFilter(subscription.filter)).map {
                    ($0, MQTTQoS(rawValue: subscription.qos) ?? .atLeastOnce)
                }
            })
        carryOut { bridge, now in bridge.brokerConnected(at: now) }
        carryOut { bridge, _ in bridge.broker(protocolVersion: session.version == .v5 ? 5 : 4) }
        send(outbox.connected(at: .now))
        tellDrops()
    }

    // MARK: Health

    private func measure() {
        let measurement = HealthMeasurement(
            residentKilobytes: ProcessMeasurement.residentKilobytes,
            queued: outbox.queued,
            dropped: outbox.dropped.total,
            brokerReconnects: max(0, reconnects))
        carryOut { bridge, now in bridge.measured(measurement, at: now) }
        tellDrops()
        healthTimer.arm(at: .now + Self.healthInterval, accuracy: .seconds(5))
    }

    private func tellDrops() {
        let dropped = outbox.takeDroppedEvents()
        guard !dropped.isEmpty else { return }
        carryOut { bridge, now in bridge.eventsDropped(dropped, at: now) }
    }
}
