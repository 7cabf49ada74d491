import JacquardProtocol

extension SessionInput {
    /// One of everything that can happen; bytes that are right, wrong, and no protobuf.
    static let samples: [SessionInput] = links + writes + bytes + commands.map { .command($0, token: 99) }

    private static let links: [SessionInput] = [
        .connect(.always), .connect(.oncePaired), .pair, .bonded, .bondingFailed(SampleTag.linkError), .disconnect,
        .poweredOff, .linkUp, .linkDown(nil),
        .linkDown(SampleTag.linkError), .linkDown(SampleTag.bondError), .discovered([]), .discovered(.write),
        .discovered(.writeWithoutResponse), .discoveryFailed(SampleTag.linkError),
        .discoveryFailed(SampleTag.bondError), .subscribed, .subscribeFailed(SampleTag.linkError),
        .mtuChanged(23), .mtuChanged(.min), .mtuChanged(.max), .lossCorrected(SampleTag.linkError), .pauseEnded,
    ]

    private static let writes: [SessionInput] = [
        .written, .deadline, .writeFailed(SampleTag.linkError, isNotPermitted: true),
        .writeFailed(SampleTag.linkError, isNotPermitted: false),
        .writeFailed(SampleTag.bondError, isNotPermitted: false), .writeUnsent(SampleTag.linkError),
    ]

    /// Every command there is.
    static let commands: [TagCommand] = [
        .playLEDPattern(.haltAll, on: .tag), .playLEDPattern(.haltAll, on: .gear), .playHaptic(.stop),
        .setTouchMode(.continuous), .batteryStatus, .deviceInformation(of: .tag), .deviceInformation(of: .gear),
        .rename("Sofa"), .configGet(key: "k"), .configSet(key: "k", .string(String(repeating: "v", count: 150))),
        .listModules, .disconnectTag(),
    ]

    /// Gear that is attached, attached again and detached.
    static let gear: [SessionInput] = [SampleTag.gear(), SampleTag.gear(6), AttachedNotification()]
        .flatMap { (try? Fragmenter.fragments(of: Notification.attached($0).encoded())) ?? [] }
        .map { .received($0, on: .notify) }

    private static let bytes: [SessionInput] = TagCharacteristic.allCases.flatMap { characteristic in
        values.map { .received($0, on: characteristic) }
    }

    private static let values: [[UInt8]] = notified + answered + malformed

    private static let notified: [[UInt8]] = notifications.flatMap {
        (try? Fragmenter.fragments(of: $0.encoded())) ?? []
    }

    private static let answered: [[UInt8]] = answers.flatMap { (try? Fragmenter.fragments(of: $0.encoded())) ?? [] }

    private static let malformed: [[UInt8]] = [
        [], [0xC0], [0xC0, 0], [0xC0, 1, 0xFF], [0x80, 9, 1], [0x41, 1], [0xFF, 0xFF, 0xFF], [0xC0, 2, 0x08, 5],
    ]

    private static let notifications: [Notification] = [
        .attached(SampleTag.gear()), .attached(SampleTag.gear(6)), .attached(SampleTag.unknownGear),
        .attached(AttachedNotification()), .batteryStatus(BatteryStatus(level: 50, isCharging: true)),
        .dataChannel(DataChannelNotification(.doubleTap), component: 101),
    ]

    /// To each of the first requests of a connection, right and wrong.
    private static let answers: [Response] = (1...8).flatMap { id in
        [Response(id: id), Response(id: id, status: .busy), Response(id: id, body: SampleTag.hello)]
    }
}
