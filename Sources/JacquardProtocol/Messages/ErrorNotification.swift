import ProtobufWire

/// Something failed on the tag. Known from data collection only, where the code is its status.
///
/// Source: `ErrorNotification`, extension 117 of `Notification`.
public struct ErrorNotification: Hashable, Sendable {
    /// Which device failed.
    public var device: UInt32?
    /// Which part of it.
    public var subsystem: UInt32
    /// What happened.
    public var errorCode: UInt32

    /// Describes a notification.
    public init(device: UInt32? = nil, subsystem: UInt32, errorCode: UInt32) {
        self.device = device
        self.subsystem = subsystem
        self.errorCode = errorCode
    }
}

extension ErrorNotification: WireMessage {
    init(_ reader: inout WireReader) throws(MessageError) {
        var device: UInt32?
        var subsystem: UInt32?
        var errorCode: UInt32?
        while let field = try reader.next() {
            switch field.number {
            case 1: field.read(&device)
            case 2: field.read(&subsystem)
            case 3: field.read(&errorCode)
            default: break
            }
        }
        self.init(
            device: device,
            subsystem: try subsystem.required("ErrorNotification.subsystem"),
            errorCode: try errorCode.required("ErrorNotification.errorcode"))
    }

    func write(to writer: inout WireWriter) {
        writer.write(device, field: 1)
        writer.write(subsystem, field: 2)
        writer.write(errorCode, field: 3)
    }
}
