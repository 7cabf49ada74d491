import ProtobufWire
import Testing

@testable import JacquardProtocol

/// Recorded sessions as files, J56.
@Suite("J56 motion files")
struct MotionFileTests {
    static func sample(_ number: Int) -> MotionSample {
        let value = Int16(truncatingIfNeeded: number)
        return MotionSample(
            acceleration: SIMD3(-139, value, 2123), rotation: SIMD3(-21, 1, value), ticks: 91_368 + UInt32(number) * 157
        )
    }

    static func file(_ counts: [Int], lastResult: UInt16? = 0) -> MotionFile {
        var configuration = IMUConfiguration()
        configuration.accelerometerSampleRate = 8
        configuration.accelerometerRange = 3
        configuration.gyroscopeSampleRate = 3
        configuration.gyroscopeRange = 4
        return MotionFile(
            metadata: MotionMetadata(MotionSessionID(session: "run-1"), mode: .store), configuration: configuration,
            actions: counts.enumerated().map { number, count in
                MotionFile.Action(
                    id: UInt32(number), samples: (0..<count).map(Self.sample),
                    result: number == counts.count - 1 ? lastResult : 1)
            })
    }

    @Test("keep every sample, also the first one that the iOS SDK loses", arguments: [[1], [0], [300], [3, 0, 2]])
    func round(counts: [Int]) throws {
        let file = Self.file(counts)
        let parsed = try MotionFile(parsing: file.encoded())
        #expect(parsed == file)
        #expect(parsed.isComplete)
        #expect(parsed.sampleCount == counts.reduce(0, +))
        #expect(parsed.lostSampleCount == 0)
    }

    @Test("read a sample as the protocol article has it")
    func sampleBytes() {
        let bytes = [UInt8](hex: "75 FF 1E 00 4B 08 EB FF 01 00 00 00 59 03 33 00")
        let sample = MotionSample(acceleration: SIMD3(-139, 30, 2123), rotation: SIMD3(-21, 1, 0), ticks: 3_343_193)
        #expect(MotionSample(bytes[...]) == sample)
        #expect(sample.encoded == bytes)
    }

    @Test("cut off anywhere behind the header, keep the samples before the cut and are not complete")
    func cutOff() throws {
        let bytes = Self.file([5]).encoded()
        let header = Self.file([0], lastResult: nil).encoded().count
        for count in header..<bytes.count {
            let parsed = try MotionFile(parsing: Array(bytes.prefix(count)))
            #expect(!parsed.isComplete)
            #expect(parsed.sampleCount == min(5, (count - header) / 16))
        }
    }

    @Test("cut off in the header are no file")
    func cutHeader() {
        let header = Self.file([0], lastResult: nil).encoded().count
        for count in 0..<(header - 4) {
            #expect(throws: MotionFile.ReadError.truncatedHeader) {
                try MotionFile(parsing: Array(Self.file([5]).encoded().prefix(count)))
            }
        }
    }

    @Test("keep an action without end marker that is followed by another one")
    func missingEnd() throws {
        let first = Self.file([3], lastResult: nil).encoded()
        let header = Self.file([], lastResult: nil).encoded().count
        let second = Self.file([2]).encoded().dropFirst(header)
        let parsed = try MotionFile(parsing: first + second)
        #expect(parsed.actions.map(\.samples.count) == [3, 2])
        #expect(parsed.actions.map(\.result) == [nil, 0])
        #expect(!parsed.isComplete)
    }

    private static let others: [([UInt8], MotionFile.ReadError)] = [
        ([0x80, 0x10], .invalidMessage("metadata")),
        ([2, 8, 1, 0] + [UInt8](repeating: 1, count: 20), .noStartMarker),
        ([1, 7, 0], .invalidMessage("metadata")), ([], .truncatedHeader),
    ]

    @Test("that are something else are refused", arguments: others)
    func refused(bytes: [UInt8], error: MotionFile.ReadError) {
        #expect(throws: error) { try MotionFile(parsing: bytes) }
    }

    @Test("count the samples that are missing by their ticks")
    func lost() {
        var file = Self.file([100])
        file.actions[0].samples.removeSubrange(40..<43)
        file.actions[0].samples.remove(at: 70)
        #expect(file.lostSampleCount == 4)
    }

    @Test("count no loss at steps of the real recordings, at a restart of the clock, and when it wraps around")
    func noLoss() {
        var counter = MotionLossCounter()
        var ticks = UInt32.max - 1000
        for number in 0..<400 {
            ticks &+= number % 3 == 0 ? 158 : 156
            counter.add(ticks)
        }
        counter.add(5)
        #expect(counter.lost == 0)
    }

    @Test("have the scale of their configuration; without one, that of 16 g and 2,000 degrees per second")
    func scale() {
        #expect(IMUConfiguration().gPerUnit == 0.000_488_281_25)
        #expect(IMUConfiguration().degreesPerSecondPerUnit == 0.061_035_156_25)
        var small = IMUConfiguration()
        small.accelerometerRange = 0
        small.gyroscopeRange = 0
        #expect(small.gPerUnit == 2 / 32_768.0)
        #expect(small.degreesPerSecondPerUnit == 125 / 32_768.0)
        #expect(Self.file([1]).configuration.accelerometerHertz == 200)
        #expect(Self.file([1]).configuration.gyroscopeHertz == 200)
    }
}

/// CRC-16/XMODEM.
@Suite("CRC-16")
struct CRC16Tests {
    private static let checksums: [([UInt8], UInt16)] = [
        ([], 0), (Array("A".utf8), 0x58E5), (Array("123456789".utf8), 0x31C3), (Array("Hello".utf8), 0xCBD6),
        (Array(0...0x7F), 0xE80A), ([UInt8](repeating: 0xFF, count: 128), 0xEDA9),
    ]

    @Test("is that of the SDKs", arguments: checksums)
    func values(bytes: [UInt8], crc: UInt16) {
        #expect(CRC16.of(bytes) == crc)
    }

    @Test("does not depend on how the bytes are divided")
    func parts() {
        var checksum = CRC16()
        for byte in Array("123456789".utf8) { checksum.add([byte]) }
        #expect(
            checksum
                == {
                    var whole = CRC16(); whole.add("123456789".utf8); return whole
                }())
    }
}

/// Values of a stream, J57.
@Suite("J57 stream values")
struct MotionValueTests {
    @Test("have a marker, a sensor and whole samples; a remainder is ignored")
    func values() {
        let sample = MotionFileTests.sample(1).encoded
        let value = MotionValue([0xC0, 1] + sample + sample + [1, 2, 3])
        var samples: [MotionSample] = []
        value?.forEach { samples.append($0) }
        #expect(value?.sensor == 1)
        #expect(value?.count == 2)
        #expect(samples == [MotionFileTests.sample(1), MotionFileTests.sample(1)])
    }

    private static let otherValues: [[UInt8]] = [[], [0xC0], [0xC0, 0, 1], [0xC0, 2], [0x80, 0]]

    @Test("are nothing else", arguments: otherValues)
    func others(value: [UInt8]) {
        #expect(MotionValue(value) == nil)
        let isShort = value.isEmpty || value.count > 2
        let longer = isShort ? value : value + [UInt8](repeating: 0, count: 15)
        #expect(MotionValue(longer) == nil)
    }
}

/// The rates and the end of a list.
@Suite("J51 and J53 motion messages")
struct MotionMessageTests {
    @Test("J51: only rates of the sensor are accepted")
    func rates() {
        #expect(MotionRates(accelerometerHertz: 100, gyroscopeHertz: 200)?.accelerometer == 7)
        #expect(MotionRates(accelerometerHertz: 100, gyroscopeHertz: 200)?.gyroscope == 3)
        #expect(MotionRates(accelerometerHertz: 0.78, gyroscopeHertz: 25)?.accelerometer == 0)
        #expect(MotionRates(accelerometerHertz: 78, gyroscopeHertz: 25) == nil)
        #expect(MotionRates(accelerometerHertz: 100, gyroscopeHertz: 12.5) == nil)
    }

    @Test("J51: each text has 1 to 30 characters, and the longest ones fit into a packet")
    func texts() {
        #expect(MotionSessionID(session: "run-1").isValid)
        #expect(!MotionSessionID(session: "").isValid)
        #expect(!MotionSessionID(session: String(repeating: "x", count: 31)).isValid)
        for count in 16...30 {
            #expect(MotionSessionID(session: "run", group: String(repeating: "\u{e4}", count: count)).isValid)
        }
        #expect(!MotionSessionID(session: "run", group: String(repeating: "\u{e4}", count: 31)).isValid)
        // One character of 25 bytes.
        let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{200D}\u{1F466}"
        #expect(MotionSessionID(session: String(repeating: family, count: 4)).isValid)
        #expect(!MotionSessionID(session: String(repeating: family, count: 5)).isValid)
        let text = String(repeating: "\u{1F600}", count: 30)
        let longest = MotionSessionID(session: text, group: text, campaign: text, product: text, subject: text)
        #expect(longest.isValid)
        let requests: [Request] = [
            .motionStart(MotionMetadata(longest, mode: .store, sensors: [0])), .motionErase(longest),
            .motionDownload(longest, offset: .max),
        ]
        for request in requests { #expect(request.encoded(id: .max).count <= Fragment.maximumPacketLength) }
    }

    @Test("J53: a list is complete with as many entries as its total, or with a total of 0; repeated ones do not count")
    func list() {
        let sessions = ["a", "b", "c"].map {
            StoredMotionSession(id: MotionSessionID(session: $0), byteCount: 1, crc: 2)
        }
        func list(_ positions: [UInt32?], of total: UInt32?) -> MotionSessionList {
            var list = MotionSessionList()
            for (number, position) in positions.enumerated() {
                var entry = MotionSessionEntry(sessions[Int(position ?? UInt32(number)) % 3], index: 0, total: 0)
                (entry.index, entry.total) = (position, total)
                list.add(entry)
            }
            return list
        }
        #expect(!list([0], of: 2).isComplete)
        #expect(list([0, 1], of: 2).isComplete)
        #expect(list([0, 1], of: 2).sessions == Array(sessions[..<2]))
        #expect(!list([0, 2], of: 3).isComplete)
        #expect(!list([0, 0], of: 2).isComplete)
        #expect(list([0, 0], of: 2).sessions.count == 1)
        #expect(list([nil, nil], of: 2).sessions.count == 2)
        #expect(list([0], of: nil).isComplete)
        #expect(!list([.max], of: 2).isComplete)
        var empty = MotionSessionList()
        empty.add(MotionSessionEntry(nil, index: 0, total: 0))
        #expect(empty.isComplete && empty.sessions.isEmpty)
    }

    @Test("every status has a name")
    func names() {
        #expect(MotionStatus(rawValue: 19).description == "FWRITE_ERROR")
        #expect(MotionStatus(rawValue: 30).description == "UNKNOWN")
        #expect(MotionStatus(rawValue: .max).description == "STATUS_4294967295")
    }
}
