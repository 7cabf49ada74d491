package import EventLoop
package import MQTTTypes

/// The library below a connection: one attempt to connect, and the session that results.
///
/// ``MosquittoInstance`` is the link of a program. A simulation sets another one by ``MQTTConfiguration/makeLink``.
@LoopActor
package protocol BrokerLink: AnyObject {
    /// The socket; negative before it exists, and after it is closed.
    var descriptor: CInt { get }
    /// Whether packets are queued.
    var wantsToWrite: Bool { get }

    /// Resolves the name and begins to connect.
    ///
    /// - Throws: ``MQTTError/Code/nameNotResolved``, ``MQTTError/Code/tls``, ``MQTTError/Code/invalidConfiguration``.
    func open(
        _ configuration: MQTTConfiguration, through choice: AddressChoice
    ) async throws(MQTTError) -> BrokerLinkOpening
    /// Waits for events of the socket until the result is released. The first is that it can be written: TCP is connected.
    func watch(
        _ handler: @escaping @LoopActor (DescriptorSource.Events) -> Void
    ) throws(SystemError) -> any BrokerSocket
    /// Cancels an attempt that is not opened yet.
    func abandon()
    /// The broker has accepted the connection.
    func stopListeningToLog()
    /// Queues DISCONNECT; the socket is closed once it is written.
    func disconnect()

    /// Reads what was received.
    func read() -> BrokerLinkOutcome
    /// Writes queued packets, as far as the socket accepts them.
    func write() -> BrokerLinkOutcome
    /// Queues a probe if one is due.
    func probe() -> BrokerLinkOutcome
    /// Removes what calls have received, and passes it on.
    func takeSignals(_ body: @LoopActor (BrokerLinkSignal) -> Void)
    /// Why the link has ended.
    func error(for status: CInt, errno: CInt) -> MQTTError

    /// Queues a message.
    ///
    /// - Returns: its number.
    /// - Throws: the error of the message; nothing is queued.
    func publish(_ message: MQTTMessage, _ version: MQTTVersion) throws(MQTTError) -> CInt
    /// Queues a subscription.
    ///
    /// - Returns: its number.
    /// - Throws: the error of the filters.
    func subscribe(to filters: [MQTTTopicFilter], _ qos: MQTTQoS) throws(MQTTError) -> CInt
    /// Queues the end of a subscription.
    ///
    /// - Throws: the error of the filter.
    func unsubscribe(from filter: MQTTTopicFilter) throws(MQTTError)
}

/// The watched socket of a ``BrokerLink``.
@LoopActor
package protocol BrokerSocket: AnyObject {
    /// The events to wait for.
    var events: DescriptorSource.Events { get set }
    /// Returns and resets the error of the TCP connection, as `errno`; 0 for none.
    func takeFailure() -> CInt
}

/// The beginning of a connection.
package struct BrokerLinkOpening: Sendable {
    let status: CInt
    let number: CInt
    /// The addresses in the order in which they are tried; the first one is connecting.
    let addresses: [String]

    init(status: CInt, number: CInt, addresses: [String]) {
        (self.status, self.number, self.addresses) = (status, number, addresses)
    }

    /// TCP is connecting to a host with one address.
    package static let pending = BrokerLinkOpening(status: 0, number: 0, addresses: ["127.0.0.1"])
}

/// The status of a call, with `errno`.
package struct BrokerLinkOutcome: Sendable {
    let status: CInt
    let number: CInt

    init(status: CInt, number: CInt) {
        (self.status, self.number) = (status, number)
    }

    var isSuccess: Bool { status == 0 }

    /// The call has succeeded.
    package static let success = BrokerLinkOutcome(status: 0, number: 0)
}

/// A signal that a link has received.
package enum BrokerLinkSignal: Sendable {
    /// The broker has accepted the connection. Values that it has not sent are nil.
    case accepted(
        isSessionPresent: Bool, keepAlive: UInt16?, receiveMaximum: UInt16?,
        limits: BrokerLimits = BrokerLimits())
    /// A message.
    case message(MQTTMessage)
    /// A published message was acknowledged, or one of QoS 0 was written.
    case published(CInt, MQTTReasonCode)
    /// A subscription was answered: a reason for each filter.
    case subscribed(CInt, [MQTTReasonCode])
}

/// How a link begins its session.
package struct BrokerLinkPlan: Hashable, Sendable {
    /// The version of the protocol.
    package let version: MQTTVersion
    /// Whether the broker discards the client's session.
    package let isCleanStart: Bool
    /// Whether the link only discards a session, and has no will.
    package let isDiscardOnly: Bool
}
