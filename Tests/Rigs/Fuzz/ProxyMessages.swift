@testable import ESPHome

/// Messages of every type: none ends the process, lists are bounded, and what was read is encoded and read as the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var input = Input(start, count)
    let type = UInt32(input.byte())
    let body = Array(input.rest)
    _ = AdvertisementData(body)
    _ = NoiseKey(base64: String(decoding: body, as: UTF8.self))
    guard let message = try? ProxyMessage.decode(FrameChannel.Message(type: type, body: body)) else { return 0 }
    require((try? ProxyMessage.decode(message.frame)) == message, "\(message) is read as something else")
    switch message {
    case .advertisements(let all):
        require(all.count <= ProxyMessage.longestList, "\(all.count) advertisements")
        for one in all {
            let count = AdvertisementData(one.data).services.count
            require(count <= AdvertisementData.mostServices, "\(count) services")
        }
    case .services(_, let all): require(all.count <= ProxyMessage.longestList, "\(all.count) services")
    case .connectionsFree(_, _, let all): require(all.count <= ProxyMessage.longestList, "\(all.count) links")
    default: break
    }
    return 0
}
