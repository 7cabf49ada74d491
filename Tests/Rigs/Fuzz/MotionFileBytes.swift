import JacquardProtocol

/// Session files and values of streams: what is read is written as bytes that are read as the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var input = Input(start, count)
    let kind = input.byte() % 3
    let bytes = Array(input.rest)
    switch kind {
    case 0:
        guard let file = try? MotionFile(parsing: bytes) else { return 0 }
        require(file.lostSampleCount >= 0, "a loss below 0")
        let again = try? MotionFile(parsing: file.encoded())
        // Bytes that are no sample are not written.
        require(
            file.unreadByteCount > 0 || again?.encoded() == file.encoded(), "\(bytes) was written as another file")
    case 1:
        var number = 0
        MotionValue(bytes)?.forEach { _ in number += 1 }
        require(number <= bytes.count / MotionSample.byteCount, "more samples than bytes")
    default:
        guard let notification = try? Notification.decode(bytes[...]) else { return 0 }
        let once = notification.encoded()
        let twice = (try? Notification.decode(once[...]))?.encoded()
        require(twice == once, "\(bytes) was encoded as \(once), which decodes otherwise")
        _ = notification.session?.session
        _ = notification.session?.index
    }
    return 0
}
