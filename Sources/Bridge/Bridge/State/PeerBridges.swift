import JSON
import JacquardProtocol
import Time

/// The other bridges with the same base topic.
///
/// A tag's topics do not name its bridge, so every bridge receives every command. Each command must have one result. It
/// comes from the bridge that is connected to the tag; otherwise from the first by name that lists the tag; otherwise
/// from the first of all. A bridge counts while its `state` is `online`.
struct PeerBridges: Sendable {
    private struct Peer {
        var isOnline = false
        /// The number of its session at the broker, according to its document.
        var session: Int64 = 1
        /// When it went offline; kept until its next document.
        var offlineSince: Instant?
        /// Until when it may be back with its session, and then receives the commands of its absence; nil unless it was connected to
        /// tags when its connection to the broker was lost. A bridge that stops is connected to none.
        var returnsUntil: Instant?
        /// The tags that it was connected to then.
        var lastConnected: Set<ExactText> = []
        /// Whether it publishes beats.
        var sendsBeats = false
        /// The tags that it knows.
        var tags: Set<ExactText> = []
        /// The tags that it is connected to; none while it is offline.
        var connected: Set<ExactText> = []
        /// The tags whose facts it leaves to another bridge that is connected to them.
        var elsewhere: Set<ExactText> = []
        /// The tags of its groups.
        var members: Set<GroupMember> = []
        /// Whether it has published anything since this bridge has left a tag to it.
        var isConfirmed = true
        /// Whether it should have by now: it may have died while the broker was away.
        var isDoubted = false
        /// Whether it has published anything since the broker was connected.
        var isProven = false
        /// Whether its retained document may come again after a connection to the broker.
        var mayRepeatInfo = false
        /// The same of its state.
        var mayRepeatState = false
        /// Identifies its process; nil if its document names none.
        var boot: ExactText?
        /// The commands that have failed there.
        var refused: [RefusedCommand] = []
        /// Total size of the ids, groups and commands in bytes.
        var size = 0

        /// Whether its beats are expected.
        var isInRing: Bool { isOnline && sendsBeats }

        /// Whether it executes commands to a tag of a group; nil: commands to the tag itself.
        func receives(_ member: GroupMember?) -> Bool { member.map(members.contains) ?? true }

        /// Whether it is connected to a tag.
        func claims(_ tag: ExactText) -> Bool { isOnline && !isDoubted && connected.contains(tag) }

        mutating func forgetTags() {
            (tags, connected, elsewhere, members, refused, size) = ([], [], [], [], [], 0)
        }

        /// Whether commands to its tags get their results from it.
        var isResponding: Bool { isOnline && !isDoubted }

        /// Whether commands to a tag may get their results from it later.
        func mayReturn(for tag: ExactText) -> Bool { returnsUntil != nil && tags.contains(tag) }

        mutating func confirm() { (isConfirmed, isDoubted) = (true, false) }

        mutating func prove() {
            confirm()
            isProven = true
        }
    }

    /// The effects of a message of another bridge.
    struct Change: Equatable {
        /// The tags that it knows or knew.
        var tags: [TagID] = []
        /// The tags that it is connected to according to a new document, if it is online.
        var connected: [TagID] = []
        /// The tags whose facts it leaves to another bridge from now on.
        var yielded: [TagID] = []
        /// The tags that it no longer knows.
        var removed: [TagID] = []
        /// The tags that it did not know before: it has ignored earlier commands to them.
        var added: [TagID] = []
        /// The commands that have failed there, if it is online.
        var refused: [RefusedCommand] = []
        /// Whether it was published after the connection to the broker.
        var isProof = false
        /// Whether its process is a new one, which has received no earlier commands.
        var isRestarted = false
        /// Since when it has not received the commands that have arrived, if it has a new session.
        var missedSince: Instant?
        /// Whether it has gone offline.
        var isGone = false
    }

    private let instance: ExactText
    private var peers: [ExactText: Peer] = [:]
    /// When this bridge has received its last message from the broker; nil before the first one.
    private var lastMessageAt: Instant?
    /// The number of this bridge's session at the broker; each one that was lost in an interruption is followed by the next.
    private(set) var session = 1
    /// From the last message before the last of these interruptions until its end; nil if there was none.
    private(set) var missed: Duration?
    /// When the connection to the broker was made; nil before the first one.
    private var connectedAt: Instant?
    /// Whether the broker has sent this bridge's own `online` last.
    private var isOwnStateOnline = false
    /// The tags that this bridge is connected to according to its own document, as every subscriber receives it. They outlast a
    /// connection to the broker: other bridges have left the commands to it that follow in its session.
    private var claimedHere: Set<ExactText> = []
    /// Whether other bridges regard this one as online, and as connected to the tags of its document.
    private var isClaiming = true
    /// The tags that this bridge knows according to its own document, as every subscriber receives it; empty before the first one.
    private var listedHere: Set<ExactText> = []
    /// When to call ``deadlineReached(at:)``: the first of the bridges that may be back no longer has its session; nil if there is none.
    private(set) var deadline: Instant?
    private var tagCount = 0
    private var byteCount = 0
    /// Whether the bridges of the ring have changed since the last call of ``takeRingChange()``.
    private var isRingChanged = false

    /// Maximum number of bridges.
    static let maxCount = 1_024
    /// Maximum number of tags of all bridges. A bridge that would exceed it counts as one without tags.
    static let maxTags = 16_384
    /// Maximum total size of the ids in bytes.
    static let maxBytes = 256 << 10
    /// Maximum size of a document in bytes; longer ones are ignored.
    static let longestInfo = 65_536
    /// How much earlier a bridge may receive a message than another one.
    private static let headStart = Duration.milliseconds(100)
    /// How long the broker keeps the session of a bridge that is not connected.
    static let sessionExpiry = Duration.seconds(30)
    /// Maximum size of `boot` in bytes; longer ones are ignored.
    private static let longestBoot = 64

    init(instance: String) {
        self.instance = ExactText(instance)
    }

    /// Whether no other bridge is known.
    var isEmpty: Bool { peers.isEmpty }

    /// Handles the document of a bridge; an empty or invalid one removes its tags.
    ///
    /// - Parameters:
    ///   - info: the document.
    ///   - name: the instance name of the bridge.
    ///   - isStored: whether the first message since the connection may be the retained one, which a bridge has published that
    ///     may have died since.
    ///   - now: the current time.
    /// - Returns: the effects.
    mutating func received(info: [UInt8], of name: String, isStored: Bool = false, at now: Instant) -> Change {
        let name = ExactText(name)
        guard name != instance, info.count <= Self.longestInfo else { return Change() }
        let old = peers[name]
        var peer = old ?? Peer(mayRepeatInfo: isStored, mayRepeatState: isStored)
        let isProof = !isStored || !peer.mayRepeatInfo
        if isProof { peer.prove() }
        peer.mayRepeatInfo = false
        peer.forgetTags()
        let document = JSONValue(parsing: info)
        peer.sendsBeats = document?["watch"]?.flag == true
        if let document, let tags = Self.ids(document["tags"]) {
            peer.tags = Set(tags)
            peer.connected = Set(Self.ids(document["connected"]) ?? []).intersection(peer.tags)
            peer.elsewhere = Set(Self.ids(document["elsewhere"]) ?? []).intersection(peer.tags)
            peer.members = GroupMember.all(in: document["groups"])
            peer.refused = RefusedCommand.all(in: document["refused"])
            peer.size =
                tags.reduce(0) { $0 + $1.text.utf8.count } + peer.members.reduce(0) { $0 + $1.size }
                + peer.refused.reduce(0) { $0 + $1.size }
        }
        if let boot = document?["boot"]?.string, boot.utf8.count <= Self.longestBoot { peer.boot = ExactText(boot) }
        peer.session = document?["session"]?.integer ?? 1
        peer.offlineSince = nil
        keep(peer, name)
        var change = change(of: name, since: old)
        change.isProof = isProof
        change.isRestarted = peer.boot != nil && peer.boot != old?.boot
        guard let old, peer.session > old.session else { return change }
        if !isProof, let since = old.offlineSince {
            // It was back before this bridge, at an unknown time.
            change.missedSince = since
        } else if let missed = document?["missed_ms"]?.integer, missed >= 0 {
            // No command is kept for a day.
            let since = now - .milliseconds(min(missed, 86_400_000)) + Self.headStart
            // A stored document comes before the commands of this connection.
            change.missedSince = isProof ? since : max(since, connectedAt ?? now)
        }
        return change
    }

    /// Handles the document of this bridge, as every subscriber receives it: in the same order as commands.
    mutating func received(ownInfo info: [UInt8]) {
        // A single bridge needs not read its documents.
        guard !peers.isEmpty, info.count <= Self.longestInfo else { return (claimedHere, listedHere) = ([], []) }
        let document = JSONValue(parsing: info)
        // The document from before a will says nothing about its tags.
        claimedHere = isClaiming ? Set(Self.ids(document?["connected"]) ?? []) : []
        listedHere = Set(Self.ids(document?["tags"]) ?? [])
    }

    /// Returns whether a command to a tag is left to the other bridges, because it has arrived before they could know that this one
    /// knows the tag: they regard it as not received here.
    func leavesCommands(to tag: String) -> Bool {
        let id = ExactText(tag)
        return !listedHere.isEmpty && !listedHere.contains(id)
            && peers.values.contains { $0.isResponding && $0.tags.contains(id) }
    }

    /// Whether other bridges regard this one as connected to no tag.
    var claimsNothing: Bool { claimedHere.isEmpty }

    /// Returns whether other bridges regard this one as connected to a tag.
    func ownClaims(_ tag: String) -> Bool { !claimedHere.isEmpty && claimedHere.contains(ExactText(tag)) }

    /// Handles any message: this bridge has received everything so far.
    mutating func received(at now: Instant) { lastMessageAt = now }

    /// Handles that the broker has no session of this bridge.
    mutating func sessionLost(at now: Instant) {
        (isClaiming, claimedHere) = (false, [])
        guard let lastMessageAt else { return }
        session += 1
        missed = now - lastMessageAt
    }

    /// The broker sends the stored messages again on a connection.
    mutating func brokerConnected(at now: Instant) {
        connectedAt = now
        isOwnStateOnline = false
        for name in peers.keys {
            peers[name]?.elsewhere = []
            // A proof that was due while the broker was away could not arrive.
            peers[name]?.confirm()
            peers[name]?.isProven = false
            peers[name]?.mayRepeatInfo = true
            peers[name]?.mayRepeatState = true
        }
    }

    /// Handles that the facts of a tag are left to the bridges that are connected to it: each of them publishes its
    /// document in response.
    mutating func expectProof(of tag: TagID) {
        let tag = ExactText(tag.text)
        for (name, peer) in peers where peer.claims(tag) { peers[name]?.isConfirmed = false }
    }

    /// Doubts the bridges that have published nothing since ``expectProof(of:)``.
    ///
    /// - Returns: the tags that they are connected to.
    mutating func doubtUnconfirmed() -> [TagID] {
        let doubted = peers.filter { $0.value.isOnline && !$0.value.isConfirmed && !$0.value.connected.isEmpty }.keys
        for name in doubted { peers[name]?.isDoubted = true }
        return Set(doubted.flatMap { peers[$0]?.connected ?? [] }).sorted().compactMap { TagID($0.text) }
    }

    /// Handles the state of this bridge, as every subscriber receives it.
    ///
    /// A node of a cluster may publish the will of a former connection after the bridge has published `online` at another
    /// node.
    ///
    /// - Returns: whether the state has been overwritten after `online`, so that it has to be published again.
    mutating func isOverwritten(ownState state: [UInt8]) -> Bool {
        let wasOnline = isOwnStateOnline
        isOwnStateOnline = state.elementsEqual("online".utf8)
        isClaiming = isOwnStateOnline
        if !isClaiming { claimedHere = [] }
        return wasOnline && !isOwnStateOnline
    }

    /// Handles the state of another bridge.
    ///
    /// A bridge publishes its document after each `online`: the one of its earlier run says nothing about its tags.
    ///
    /// - Parameters:
    ///   - state: the state.
    ///   - name: the instance name of the bridge.
    ///   - isStored: as for a document.
    ///   - isSilent: whether this bridge has concluded it from missing beats, and answers for the other one.
    ///   - now: the current time.
    /// - Returns: the effects.
    mutating func received(
        state: [UInt8], of name: String, isStored: Bool = false, isSilent: Bool = false, at now: Instant
    ) -> Change {
        let name = ExactText(name)
        guard name != instance else { return Change() }
        let old = peers[name]
        var peer = old ?? Peer(mayRepeatInfo: isStored, mayRepeatState: isStored)
        let isProof = !isStored || !peer.mayRepeatState
        if isProof { peer.prove() }
        peer.mayRepeatState = false
        peer.isOnline = state.elementsEqual("online".utf8)
        if peer.isOnline {
            peer.returnsUntil = nil
        } else {
            if isProof { peer.offlineSince = now }
            if isProof, !isSilent, !peer.connected.isEmpty, !state.isEmpty {
                (peer.returnsUntil, peer.lastConnected) = (now + Self.sessionExpiry, peer.connected)
                deadline.lower(to: peer.returnsUntil)
            }
            peer.connected = []
        }
        // Its next document requires a response, also if it equals the one from before its connection.
        peer.elsewhere = []
        keep(peer, name)
        var change = change(of: name, since: old)
        change.isProof = isProof
        // Its next document says to which tags it is connected: it may be a new process.
        change.connected = []
        return change
    }

    /// Compares a bridge with an earlier state of it.
    private func change(of name: ExactText, since old: Peer?) -> Change {
        func ids(_ tags: Set<ExactText>) -> [TagID] { tags.sorted().compactMap { TagID($0.text) } }
        let (old, new) = (old ?? Peer(), peers[name] ?? Peer())
        guard !old.tags.isEmpty || !new.tags.isEmpty else { return Change(isGone: old.isOnline && !new.isOnline) }
        return Change(
            tags: ids(old.tags.union(new.tags)), connected: new.isOnline ? ids(new.connected) : [],
            yielded: ids(new.elsewhere.subtracting(old.elsewhere)), removed: ids(old.tags.subtracting(new.tags)),
            added: ids(new.tags.subtracting(old.tags)),
            refused: new.isOnline ? new.refused : [], isGone: old.isOnline && !new.isOnline)
    }

    /// Returns whether another bridge is connected to a tag.
    ///
    /// - Parameters:
    ///   - tag: the tag's id.
    ///   - member: for a command to a group: only bridges with this tag in this group count, as the others ignore the command.
    /// - Returns: whether there is such a bridge.
    func isConnected(to tag: String, as member: GroupMember? = nil) -> Bool {
        let tag = ExactText(tag)
        return peers.values.contains { $0.claims(tag) && $0.receives(member) }
    }

    /// Returns whether a bridge is connected to a tag.
    func isConnected(_ bridge: ExactText, to tag: String) -> Bool { peers[bridge]?.claims(ExactText(tag)) ?? false }

    /// Returns the first bridge by name that is connected to a tag; nil if there is none.
    func bridge(connectedTo tag: String) -> ExactText? {
        let tag = ExactText(tag)
        return peers.filter { $0.value.claims(tag) }.keys.min()
    }

    /// Returns the bridge that responds for a tag that this one knows: the one that is connected to it, else the first by name
    /// that knows it.
    ///
    /// - Parameters:
    ///   - tag: the tag's id.
    ///   - member: for a command to a group: only bridges with this tag in this group count, as the others ignore the command.
    ///   - unaware: bridges that have not received the command.
    /// - Returns: its name; nil for this bridge.
    func responder(
        forKnown tag: String, as member: GroupMember? = nil, besides unaware: Set<ExactText> = []
    ) -> ExactText? {
        let tag = ExactText(tag)
        let others = peers.filter { name, other in
            other.isResponding && other.receives(member) && !unaware.contains(name)
                && (other.claims(tag) || (name < instance && other.tags.contains(tag)))
        }
        return others.filter { $0.value.claims(tag) }.keys.min() ?? others.keys.min()
    }

    /// Returns the bridge that publishes the final result: the one that responds, else one that does once it is back with its session.
    /// The parameters are those of ``responder(forKnown:as:besides:)``.
    func finalResponder(
        forKnown tag: String, as member: GroupMember? = nil, besides unaware: Set<ExactText> = []
    ) -> ExactText? {
        let responder = responder(forKnown: tag, as: member, besides: unaware)
        guard responder == nil, deadline != nil else { return responder }
        let tag = ExactText(tag)
        return peers.filter { name, other in
            other.mayReturn(for: tag) && other.receives(member) && !unaware.contains(name)
                && (name < instance || other.lastConnected.contains(tag))
        }.keys.min()
    }

    /// Handles elapsed time: sessions have ended.
    mutating func deadlineReached(at now: Instant) {
        guard let due = deadline, due <= now else { return }
        deadline = nil
        for (name, peer) in peers {
            guard let until = peer.returnsUntil else { continue }
            if until <= now { peers[name]?.returnsUntil = nil } else { deadline.lower(to: until) }
        }
    }

    /// Returns the bridge that responds for a tag once this one no longer does; nil if there is none. The parameters are those of
    /// ``responder(forKnown:as:besides:)``.
    func successor(for tag: String, as member: GroupMember? = nil, besides unaware: Set<ExactText> = []) -> ExactText? {
        let tag = ExactText(tag)
        let others = peers.filter { name, other in
            other.isResponding && other.receives(member) && !unaware.contains(name) && other.tags.contains(tag)
        }
        return others.filter { $0.value.claims(tag) }.keys.min() ?? others.keys.min()
    }

    /// Returns whether a bridge publishes results now, and not only once it is back.
    func isResponding(_ bridge: ExactText) -> Bool { peers[bridge]?.isResponding ?? false }

    /// Returns whether this bridge is before another one by name.
    func isBefore(_ bridge: ExactText) -> Bool { instance < bridge }

    /// Returns whether a bridge has published something since the broker was connected.
    func isProven(_ bridge: ExactText) -> Bool { peers[bridge]?.isProven ?? false }

    /// Returns what is known about the bridge that a command was left to.
    func standing(of command: LeftCommand) -> LeftCommands.Standing {
        guard let peer = peers[command.bridge], peer.isOnline else { return .offline }
        // One that has proven before that it lives may be slow.
        if peer.isDoubted, !peer.isProven { return command.isFromBefore ? .offline : .isGone }
        if case .unknownTag = command.work { return .responds }
        return peer.tags.contains(command.tag) ? .responds : .isGone
    }

    /// Doubts a bridge that has published nothing after a command whose result it should have published.
    ///
    /// - Returns: the tags that it is connected to.
    mutating func doubt(_ bridge: ExactText) -> [TagID] {
        guard let peer = peers[bridge], peer.isOnline, !peer.isProven else { return [] }
        peers[bridge]?.isDoubted = true
        return peer.connected.sorted().compactMap { TagID($0.text) }
    }

    /// Returns whether this bridge responds for a tag that it does not know: no other bridge knows it, and none has a
    /// smaller name.
    func responds(forUnknown tag: String, as member: GroupMember? = nil) -> Bool {
        let tag = ExactText(tag)
        return peers.allSatisfy { name, other in
            (!other.isResponding && !other.mayReturn(for: tag)) || !other.receives(member)
                || (!other.tags.contains(tag) && instance < name)
        }
    }

    /// Returns the bridge that a command to a tag that this one does not know is left to: one that may be back and knows it, if this one
    /// is the first by name; or the first by name if no bridge knows the tag, and this one is the next by name. Nil: none.
    func responder(forUnknown tag: String, as member: GroupMember? = nil) -> ExactText? {
        let tag = ExactText(tag)
        var first: ExactText?
        for (name, other) in peers where other.isResponding && other.receives(member) {
            guard !other.tags.contains(tag) else { return nil }
            guard name < instance else { continue }
            guard first == nil else { return nil }
            first = name
        }
        let returning = peers.filter { $0.value.mayReturn(for: tag) && $0.value.receives(member) }.keys.min()
        guard let returning else { return first }
        return first == nil ? returning : nil
    }

    /// Returns whether an online bridge knows a tag.
    func isKnown(_ tag: TagID) -> Bool {
        let tag = ExactText(tag.text)
        return peers.values.contains { $0.isOnline && $0.tags.contains(tag) }
    }

    /// Returns whether a bridge, online or not, lists a tag; nil: any other bridge.
    func lists(_ tag: TagID, _ name: String? = nil) -> Bool {
        let tag = ExactText(tag.text)
        guard let name else { return peers.values.contains { $0.tags.contains(tag) } }
        return peers[ExactText(name)]?.tags.contains(tag) == true
    }

    /// Returns the bridge that has a tag: the one that is connected to it, else the first by name; nil if there is none.
    func owner(of tag: String) -> String? {
        let tag = ExactText(tag)
        let owners = peers.filter { $0.value.isOnline && $0.value.tags.contains(tag) }
        return (owners.filter { $0.value.connected.contains(tag) }.keys.min() ?? owners.keys.min())?.text
    }

    /// Stores a bridge, if there is room and something to store.
    private mutating func keep(_ peer: Peer, _ name: ExactText) {
        guard let old = peers[name] ?? (peers.count < Self.maxCount ? Peer() : nil) else { return }
        var peer = peer
        let tagCount = tagCount - old.tags.count
        let byteCount = byteCount - old.size
        if tagCount + peer.tags.count > Self.maxTags || byteCount + peer.size > Self.maxBytes {
            peer.forgetTags()
        }
        self.tagCount = tagCount + peer.tags.count
        self.byteCount = byteCount + peer.size
        if peer.isInRing != old.isInRing { isRingChanged = true }
        peers[name] = peer.isOnline || peer.sendsBeats || !peer.tags.isEmpty ? peer : nil
    }

    /// Reads a list of ids; nil for anything else.
    private static func ids(_ value: JSONValue?) -> [ExactText]? {
        guard let elements = value?.elements else { return nil }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else { return nil }
        return texts.filter { TagID($0) != nil }.map { ExactText($0) }
    }
}

// MARK: The ring

extension PeerBridges {
    /// Returns whether the bridges that are online and publish beats have changed since the last call.
    mutating func takeRingChange() -> Bool {
        defer { isRingChanged = false }
        return isRingChanged
    }

    /// Returns the next bridges by name that are online and publish beats. The first one follows the last one.
    func ring(of count: Int) -> [ExactText] {
        let names = peers.filter(\.value.isInRing).keys.sorted()
        return Array((names.filter { instance < $0 } + names.filter { $0 < instance }).prefix(count))
    }

    /// Returns whether a bridge is online and publishes beats.
    func isInRing(_ name: ExactText) -> Bool { peers[name]?.isInRing == true }

    /// Returns the tags of a bridge that no other online one is responsible for: one that is connected to the tag, or,
    /// if none is, one that knows it.
    func tags(ofSilent name: ExactText) -> [TagID] {
        guard let silent = peers[name] else { return [] }
        let others = peers.filter { $0.key != name && $0.value.isOnline }.values
        return silent.tags.sorted().filter { tag in
            silent.connected.contains(tag)
                ? !others.contains { $0.connected.contains(tag) } : !others.contains { $0.tags.contains(tag) }
        }.compactMap { TagID($0.text) }
    }
}
