import JacquardProtocol

/// Manufacturer data of advertisements: what has a serial is advertised as what gives that serial again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let serial = PairingSerial(manufacturerData: bytes) {
        require(PairingSerial(manufacturerData: serial.manufacturerData) == serial, "\(serial) comes back as another")
        require(PairingSerial(serial.description) == serial, "\(serial) is no serial")
    }
    if let typed = PairingSerial(String(decoding: bytes, as: UTF8.self)) {
        require(PairingSerial(manufacturerData: typed.manufacturerData) == typed, "\(typed) comes back as another")
    }
    return 0
}
