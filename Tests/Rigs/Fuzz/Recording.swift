import GATTRecording
import JacquardProtocol
import TagFirmware
import Time

/// Files of recordings and reports: what is parsed is written and parsed again, scrubbed, summarized and replayed.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let recording = try? TrafficRecording(parsing: bytes) else { return 0 }
    guard let again = try? TrafficRecording(parsing: Array(recording.text.utf8)) else {
        fatalError("the text of a recording is no recording")
    }
    require(again == recording, "another recording came out")
    require(recording.lost >= 0, "\(recording.lost) records are lost")
    let scrubbed = TrafficScrubber(texts: TrafficScrubber.texts(in: recording)).scrubbed(recording)
    require(scrubbed.records.count == recording.records.count, "records are missing after scrubbing")
    let (before, after) = (TrafficSummary(recording), TrafficSummary(scrubbed))
    require(before.exchanges.count == after.exchanges.count, "scrubbing has damaged a request")
    play(Replay(recording, speed: 1_000), recording)
    return 0
}

/// Sends the recorded writes to a tag that plays the recording back.
private func play(_ replay: Replay, _ recording: TrafficRecording) {
    guard let serial = PairingSerial("0001") else { fatalError("no serial") }
    var firmware = Firmware(FirmwareIdentity(serial: serial))
    firmware.replay = replay
    var now = Instant(sinceBoot: .seconds(1))
    _ = firmware.connected(mtu: replay.mtu ?? 23, at: now)
    for channel in TagCharacteristic.notifying { firmware.subscribed(channel) }
    for record in recording.records {
        guard case .write(let value, on: let channel, withResponse: _) = record.event else { continue }
        _ = firmware.write(value, on: channel, at: now)
        now += .seconds(1)
        _ = firmware.timeReached(at: now)
    }
}
