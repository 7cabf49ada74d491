import ProtobufWire

extension DeviceInfoResponse: WireMessage {
    init(_ reader: inout WireReader) throws(MessageError) {
        var fields = Fields()
        while let field = try reader.next() {
            fields.read(field)
        }
        self.init(
            vendor: try fields.vendor.required("DeviceInfoResponse.vendor"),
            model: try fields.model.required("DeviceInfoResponse.model"),
            revision: try fields.revision.required("DeviceInfoResponse.revision"),
            uuid: try fields.uuid.required("DeviceInfoResponse.uuid"))
        firmware = fields.firmware.version
        bootloader = fields.bootloader.version
        vendorID = fields.vendorID
        productID = fields.productID
        gearID = fields.gearID
        skuID = fields.skuID
        mlVersion = fields.mlVersion
    }

    func write(to writer: inout WireWriter) {
        writer.write(vendor, field: 1)
        writer.write(model, field: 2)
        writer.write(revision, field: 3)
        writer.write(uuid, field: 4)
        writer.write(firmware?.major, field: 5)
        writer.write(firmware?.minor, field: 6)
        writer.write(firmware?.micro, field: 7)
        writer.write(bootloader?.major, field: 8)
        writer.write(bootloader?.minor, field: 9)
        writer.write(bootloader?.micro, field: 10)
        writer.write(vendorID, field: 11)
        writer.write(productID, field: 12)
        writer.write(gearID, field: 13)
        writer.write(skuID, field: 14)
        writer.write(mlVersion, field: 15)
    }
}

/// The fields as far as they have been read.
private struct Fields {
    var vendor: String?
    var model: String?
    var revision: UInt32?
    var uuid: String?
    var firmware = VersionFields()
    var bootloader = VersionFields()
    var vendorID: JacquardIdentifier?
    var productID: JacquardIdentifier?
    var gearID: String?
    var skuID: String?
    var mlVersion: String?

    mutating func read(_ field: WireField) {
        switch field.number {
        case 1: field.read(&vendor)
        case 2: field.read(&model)
        case 3: field.read(&revision)
        case 4: field.read(&uuid)
        case 5...7: firmware.read(field, part: field.number - 5)
        case 8...10: bootloader.read(field, part: field.number - 8)
        case 11: field.read(&vendorID)
        case 12: field.read(&productID)
        case 13: field.read(&gearID)
        case 14: field.read(&skuID)
        case 15: field.read(&mlVersion)
        default: break
        }
    }
}

/// The three fields of a version as far as they have been read.
private struct VersionFields {
    var major: UInt32?
    var minor: UInt32?
    var point: UInt32?

    var version: FirmwareVersion? {
        guard major != nil || minor != nil || point != nil else { return nil }
        return FirmwareVersion(major ?? 0, minor ?? 0, point ?? 0)
    }

    mutating func read(_ field: WireField, part: UInt32) {
        switch part {
        case 0: field.read(&major)
        case 1: field.read(&minor)
        default: field.read(&point)
        }
    }
}
