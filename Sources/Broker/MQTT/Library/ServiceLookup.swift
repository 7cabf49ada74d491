internal import CResolver
internal import EventLoop
internal import Glibc
import Time

/// Finds the nodes of a broker by the records of type SRV.
public enum ServiceLookup {
    /// The largest answer that is read, in bytes: 16 records with the longest names.
    private static let limit = 8192

    /// The name of the records: `_mqtt._tcp` or, with TLS, `_secure-mqtt._tcp` below the domain.
    public static func name(of domain: String, isEncrypted: Bool) -> String {
        "\(isEncrypted ? "_secure-mqtt" : "_mqtt")._tcp.\(domain)"
    }

    /// Asks the name servers of the machine. Blocks, for at most 12 s with three servers.
    ///
    /// - Parameters:
    ///   - name: the name of the records.
    ///   - order: the order of nodes with the same priority.
    /// - Returns: at least one address, or ``MQTTError/Code/nameNotResolved``.
    public static func nodes(
        of name: String, _ order: MQTTConfiguration.Order
    ) -> Result<[MQTTAddress], MQTTError> {
        var state = res_state.Pointee()
        guard __res_ninit(&state) == 0 else { return failure(name, "the resolver cannot be set up") }
        defer { __res_nclose(&state) }
        // Seconds until a server is asked again, and how many times each is asked.
        (state.retrans, state.retry) = (2, 2)
        var buffer = [UInt8](repeating: 0, count: limit)
        let length = res_nquery(&state, name, CInt(1), CInt(33), &buffer, CInt(buffer.count))
        guard length >= 0 else { return failure(name, String(cString: hstrerror(state.res_h_errno))) }
        return nodes(in: Array(buffer.prefix(Int(length))), of: name, order)
    }

    /// Returns the nodes in the message of a name server.
    static func nodes(
        in answer: [UInt8], of name: String, _ order: MQTTConfiguration.Order
    ) -> Result<[MQTTAddress], MQTTError> {
        guard let records = ServiceRecord.records(in: answer) else { return failure(name, "a malformed answer") }
        guard !records.isEmpty else { return failure(name, "the answer names no node") }
        return .success(ServiceRecord.ordered(records, order))
    }

    private static func failure(_ name: String, _ reason: String) -> Result<[MQTTAddress], MQTTError> {
        .failure(MQTTError(.nameNotResolved, "SRV \(name): \(reason)"))
    }
}

/// A lookup that can be given up early.
@LoopActor
final class PendingLookup {
    private var waiting: CheckedContinuation<Result<[MQTTAddress], MQTTError>, Never>?
    private lazy var limit = LoopTimer { [unowned self] in
        end(.failure(MQTTError(.nameNotResolved, "no answer from the resolver in time")))
    }

    /// Looks the nodes of a configuration up on the helper thread.
    func nodes(
        of name: String, _ configuration: MQTTConfiguration
    ) async -> Result<[MQTTAddress], MQTTError> {
        await withCheckedContinuation { continuation in
            waiting = continuation
            limit.arm(after: configuration.connectDeadline)
            // Not awaited: the resolver may need longer than the limit.
            EventLoop.shared.begin { self.end(await Self.answer(name, configuration)) }
        }
    }

    /// Ends the lookup, if there is one.
    func cancel() {
        end(.failure(.stopped))
    }

    private func end(_ result: Result<[MQTTAddress], MQTTError>) {
        limit.disarm()
        waiting?.resume(returning: result)
        waiting = nil
    }

    private static func answer(
        _ name: String, _ configuration: MQTTConfiguration
    ) async -> Result<[MQTTAddress], MQTTError> {
        let refusal = MQTTError(.nameNotResolved, "earlier lookups have not ended yet")
        let order = configuration.order
        let lookUp = configuration.lookUp
        return await HelperThread.shared.run(.services, orIfFull: .failure(refusal)) { lookUp(name, order) }
    }
}

extension HelperThread.Concern {
    /// Finding the nodes of a broker.
    fileprivate static let services = HelperThread.Concern("services")
}
