import CDBus
import EventLoop

@testable import DBus

/// Arguments of a message of the bus as bytes, without a bus: what libdbus lets through is read to the end, and written
/// again. The signature comes first; the header around it is made, because lengths would hardly be hit by chance.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    // Marks this thread as the loop's, which is what the types of the bus ask for.
    _ = loopThread
    var input = Input(start, count)
    let signature = input.bytes()
    let bytes = message(signature, Array(input.rest))
    LoopActor.assumeIsolated(bytes) { read($0) }
    return 0
}

/// A signal in little endian. Source: D-Bus specification, "Message Format".
private func message(_ signature: [UInt8], _ body: [UInt8]) -> [UInt8] {
    var fields: [UInt8] = []
    for (code, type, text) in [(1, "o", "/a"), (2, "s", "a.b"), (3, "s", "C")] {
        fields += padding(fields.count)
        fields += [UInt8(code), 1] + Array(type.utf8) + [0] + little(text.utf8.count) + Array(text.utf8) + [0]
    }
    fields += padding(fields.count) + [8, 1, UInt8(ascii: "g"), 0, UInt8(signature.count)] + signature + [0]
    let start: [UInt8] = [UInt8(ascii: "l"), 4, 0, 1]
    let header = start + little(body.count) + little(1) + little(fields.count) + fields
    return header + padding(header.count) + body
}

private func padding(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: -count & 7) }

private func little(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }

private let loopThread: Void = {
    EventLoop.shared.begin { EventLoop.shared.stop() }
    EventLoop.shared.run()
}()

@LoopActor
private func read(_ bytes: [UInt8]) {
    var error = DBusError()
    dbus_error_init(&error)
    defer { dbus_error_free(&error) }
    let pointer = bytes.withUnsafeBytes { buffer in
        dbus_message_demarshal(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(buffer.count), &error)
    }
    guard let pointer else { return }
    let message = DBusMessage(owning: pointer)
    var reader = DBusReader(message)
    var values: [DBusValue] = []
    while let value = reader.next() { values.append(value) }
    // A descriptor without one beside the message reads as -1, and cannot be written.
    guard !"\(values)".contains("descriptor") else { return }
    let again = DBusMessage.signal("/fuzz", "org.fuzz", "Fuzz", values)
    var second = DBusReader(again)
    var count = 0
    while second.next() != nil { count += 1 }
    require(count == values.count, "\(values.count) values were written, \(count) came back")
}
