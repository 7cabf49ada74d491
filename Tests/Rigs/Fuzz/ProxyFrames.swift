@testable import ESPHome

/// Bytes of a proxy or of its client, in pieces of any length: the buffers stay bounded, and whatever is read as a message can be
/// encoded and read again. The first byte chooses the side and the form.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var input = Input(start, count)
    let secret = [UInt8](repeating: 7, count: 32)
    guard let key = NoiseKey(secret) else { return 0 }
    let channels: [FrameChannel?] = [
        .plain(), .client(key: key, secret: secret),
        .server(key: key, secret: secret, name: "loft", address: "AABBCCDDEEFF"),
    ]
    guard var channel = input.pick(channels) else { return 0 }
    _ = channel.takeOutput()
    do throws(ProxyError) {
        while !input.isAtEnd {
            for frame in try channel.receive(input.bytes()) { try check(frame) }
            require(channel.takeOutput().count < 1024, "a long answer")
        }
    } catch {
        require(!error.description.isEmpty, "an error without a text")
    }
    checkReader(Array(input.rest))
    return 0
}

private func check(_ frame: FrameChannel.Message) throws(ProxyError) {
    guard let message = try ProxyMessage.decode(frame) else { return }
    let again = try ProxyMessage.decode(message.frame)
    require(again == message, "\(message) is read as something else")
}

/// The reader keeps less than one frame.
private func checkReader(_ bytes: [UInt8]) {
    for form in [FrameReader.Form.plain, .encrypted] {
        var reader = FrameReader(form)
        reader.append(bytes)
        while let frame = try? reader.next() {
            require(frame.payload.count <= FrameReader.maximumLength, "a long frame")
        }
        require(reader.pendingCount <= bytes.count, "bytes out of nothing")
    }
}
