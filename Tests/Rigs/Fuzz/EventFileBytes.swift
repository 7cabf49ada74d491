import Bridge
import JSON

/// The bytes of `events.ring`: blocks and messages, or nothing; a block that was read is read again after it was written.
/// The same bytes as `events.tags.json`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let read = EventBlocks(bytes)
    for block in read.blocks {
        let written = EventBlocks([UInt8](repeating: 0, count: block.offset) + block.bytes)
        require(written.blocks == [block], "another block came back")
    }
    let tags = RecordedTags(parsing: bytes)
    if let tags {
        require(RecordedTags(parsing: tags.bytes) == tags, "another table came back")
    }
    let replay = EventReplay(read.blocks, tags: tags ?? RecordedTags())
    for message in replay.facts + replay.events {
        require(message.topic.hasPrefix("tag/") && !message.payload.isEmpty, "an empty message")
    }
    var history = EventHistory(base: "jacquard", hours: 1, blocks: read.blocks, tags: tags ?? RecordedTags())
    let payload = Array(bytes.prefix(4_000))
    history.add(
        [.published(Publication(topic: "jacquard/tag/003R/gear", payload: payload, kind: .fact), at: 1_000)], at: 1_000)
    _ = history.changes
    return 0
}
