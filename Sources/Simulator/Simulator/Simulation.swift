public import EventLoop
public import FakeBlueZ
public import FakeProxy
public import JacquardProtocol
public import TagFirmware

/// Tags and the fake BlueZ around them, and what a person does with both.
@LoopActor
public final class Simulation {
    /// The tags, in the order of their creation.
    public let tags: [SimulatedTag]
    /// The fake BlueZ; nil when another radio carries the tags.
    public let blueZ: BlueZService?
    /// The fake ESPHome proxy; nil if there is none.
    public let proxy: ProxyServer?
    /// Called when a crashed BlueZ cannot come back.
    public var onFailure: ((any Error) -> Void)?

    private lazy var comeback = LoopTimer { [unowned self] in startBlueZ() }
    private lazy var player = LoopTimer { [unowned self] in playByItself() }
    private var playInterval = Duration.zero
    private var played = 0

    /// Puts both together.
    public init(tags: [SimulatedTag], blueZ: BlueZService?, proxy: ProxyServer? = nil) {
        self.tags = tags
        self.blueZ = blueZ
        self.proxy = proxy
    }

    /// Makes every connected tag send random gestures, as a worn garment would.
    public func playGestures(every interval: Duration) {
        playInterval = interval
        player.arm(after: interval)
    }

    /// Carries a command out. Those that concern the program, such as `quit`, are the caller's.
    ///
    /// - Throws: ``CommandError`` when it makes no sense now. Of several tags those before the first error have
    ///   done it.
    public func execute(_ command: SimulatorCommand) throws(CommandError) {
        switch command {
        case .tags(let selection, let action):
            for tag in try selected(selection) { try execute(action, on: tag) }
        case .adapter(let isOn, let number):
            try fake(adapter: number).setPowered(isOn, adapter: number)
        case .loseBond(let selection):
            for tag in try selected(selection) {
                try fake().faults.lostBonds.insert(tag.address)
                proxy?.lostBonds.insert(tag.address)
            }
        case .plug(let isIn, let number): try fake(adapter: number).setPlugged(isIn, adapter: number)
        case .blueZFault(let fault): try fake().inject(fault)
        case .proxyFault(let fault):
            guard let proxy else { throw CommandError("there is no proxy here; start the simulator with --esphome") }
            proxy.inject(fault)
        case .crashBlueZ(let duration):
            try fake().crash()
            comeback.arm(after: duration)
        case .list, .help, .quit: break
        }
    }

    private func fake() throws(CommandError) -> BlueZService {
        guard let blueZ else { throw CommandError("there is no BlueZ here; another radio carries the tag") }
        return blueZ
    }

    /// - Throws: ``CommandError`` if BlueZ has no adapter with this number.
    private func fake(adapter number: Int?) throws(CommandError) -> BlueZService {
        let blueZ = try fake()
        let numbers = 0..<blueZ.adapterCount
        guard let number, !numbers.contains(number) else { return blueZ }
        let known = numbers.isEmpty ? "none" : numbers.map(String.init).joined(separator: ", ")
        throw CommandError("there is no adapter \(number); adapters are \(known)")
    }

    private func selected(_ selection: TagSelection) throws(CommandError) -> [SimulatedTag] {
        let (selected, name, known): ([SimulatedTag], String, [String])
        switch selection {
        case .all: return tags
        case .serial(let serial):
            (selected, name, known) = (tags.filter { $0.serial == serial }, serial, tags.map(\.serial))
        case .address(let address):
            (selected, name, known) = (tags.filter { $0.address == address }, address, tags.map(\.address))
        }
        guard !selected.isEmpty else {
            throw CommandError("there is no tag \(name); tags are \(known.joined(separator: ", "))")
        }
        return selected
    }

    private func execute(_ action: TagAction, on tag: SimulatedTag) throws(CommandError) {
        do {
            try tag.execute(action)
        } catch {
            throw CommandError("\(tag.serial): \(error)")
        }
    }

    private func startBlueZ() {
        Task(executorPreference: EventLoop.shared) { await self.comeBack() }
    }

    private func comeBack() async {
        do {
            try await blueZ?.start()
        } catch {
            onFailure?(error)
        }
    }

    private func playByItself() {
        player.arm(after: playInterval)
        let gesture = Gesture.known[played % Gesture.known.count]
        played += 1
        // A tag that is not connected, or has been set to continuous touch, sits this one out.
        for tag in tags { try? tag.execute(.play(Burst(.gesture(gesture)))) }
    }
}

/// Something that people want to see of a simulated tag.
public struct SimulatorEvent: Equatable, Sendable {
    /// The kind of an event.
    public enum Kind: Equatable, Sendable {
        /// A client command with a visible or audible effect.
        case effect(TagEffect)
        /// A host has connected.
        case connected
        /// The link has gone.
        case disconnected
        /// The host has switched notifications on, or off.
        case subscribed(TagCharacteristic, isOn: Bool)
        /// Several gestures or touches were made: how many, and how many values of them found no room.
        case burst(sent: Int, dropped: Int)
    }

    /// Serial of the tag.
    public let tag: String
    /// Its kind.
    public let kind: Kind
}
