public import EventLoop

/// The reply to one request. It may be sent during the handler or later, once.
@LoopActor
public final class HTTPReply {
    enum Content {
        case pending
        case response(HTTPResponse)
        case stream(HTTPStream, headers: [(name: String, value: String)])
        /// Passed to the library, or no longer needed.
        case done
    }

    private var content = Content.pending
    /// Called when the reply is available after the handler has returned.
    var onReady: (@LoopActor () -> Void)?

    /// Whether no reply was sent yet, and the peer is still connected.
    public var isPending: Bool { if case .pending = content { true } else { false } }

    /// Sends a response.
    public func send(_ response: HTTPResponse) {
        set(.response(response))
    }

    /// Sends a response without an end, with status 200.
    public func send(_ stream: HTTPStream, headers: [(name: String, value: String)]) {
        guard isPending else { return stream.end() }
        set(.stream(stream, headers: headers))
    }

    /// Sends the headers that a stream would have, as the response to `HEAD`.
    public func sendStreamHeaders(_ headers: [(name: String, value: String)]) {
        let stream = HTTPStream()
        stream.end()
        send(stream, headers: headers)
    }

    private func set(_ new: Content) {
        guard isPending else { return }
        content = new
        onReady?()
        onReady = nil
    }

    /// Removes and returns the reply.
    func take() -> Content {
        guard !isPending else { return .pending }
        let taken = content
        content = .done
        return taken
    }

    /// Handles the end of the request.
    func finish() {
        if case .stream(let stream, _) = content { stream.end() }
        content = .done
        onReady = nil
    }
}
