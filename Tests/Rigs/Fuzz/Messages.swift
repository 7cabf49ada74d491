import JacquardProtocol

/// Packets of all three kinds: what can be decoded is encoded to bytes that mean the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var input = Input(start, count)
    let kind = input.byte() % 3
    let packet = input.rest
    switch kind {
    case 0: check(packet) { bytes in (try? Request.decode(bytes)).map { $0.request.encoded(id: $0.id) } }
    case 1: check(packet) { bytes in (try? Response.decode(bytes))?.encoded() }
    default: check(packet) { bytes in (try? Notification.decode(bytes))?.encoded() }
    }
    return 0
}

/// Compared as bytes: a number that is not a number is not equal to itself.
private func check(_ packet: ArraySlice<UInt8>, recode: (ArraySlice<UInt8>) -> [UInt8]?) {
    guard let once = recode(packet) else { return }
    require(recode(once[...]) == once, "\(Array(packet)) was encoded as \(once), which decodes otherwise")
}
