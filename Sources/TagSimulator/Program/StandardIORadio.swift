import EventLoop
import Glibc
import JSON
import JacquardProtocol

/// Connects one tag's firmware to standard input and output, for an external radio simulation.
@LoopActor
final class StandardIORadio {
    private let tag: SimulatedTag
    private let simulation: Simulation
    private let output = SimulatorOutput(isJSON: true)
    private let input = LineReader()
    private var signals: [SignalSource] = []

    init(_ options: SimulatorOptions) {
        let tags = TagFactory.tags(options)
        tag = tags[0]
        simulation = Simulation(tags: tags, blueZ: nil)
    }

    /// Runs until standard input ends.
    func run() async -> String? {
        await withCheckedContinuation { continuation in
            var end: CheckedContinuation<String?, Never>? = continuation
            let finish: @LoopActor () -> Void = {
                end?.resume(returning: nil); end = nil
            }
            signals = [SIGTERM, SIGINT].compactMap { try? SignalSource($0, handler: finish) }
            tag.onEvent = { [output] in output.write(["told": .object(EventRecord.members(of: $0))]) }
            tag.onAdvertise = { [weak self] in self?.advertise($0) }
            advertise(tag.firmware.advertisement)
            input.onLine = { [weak self] in self?.take($0) }
            input.onEnd = finish
            input.start()
        }
    }

    private func advertise(_ advertisement: Advertisement?) {
        guard let advertisement else { return output.write(["advertise": .null]) }
        let data = [String(Advertisement.company): JSONValue.string(advertisement.manufacturerData.hex)]
        output.write([
            "advertise": .object([
                "name": .string(advertisement.name), "manufacturer_data": .object(data),
                "services": .array(Advertisement.services.map(JSONValue.string)),
            ])
        ])
    }

    private func take(_ line: String) {
        guard line.contains(where: { !$0.isWhitespace }) else { return }
        do {
            try carryOut(try StandardIOMessage(line))
        } catch {
            output.write(["error": .string("\(error)")])
        }
    }

    private func carryOut(_ message: StandardIOMessage) throws(CommandError) {
        switch message {
        case .connected(let mtu): tag.linked(self, mtu: mtu)
        case .disconnected: tag.unlinked()
        case .write(let value, let channel): tag.write(value, on: channel.uuid)
        case .subscribe(let channel, let isOn): tag.subscribed(channel.uuid, isOn: isOn)
        case .command(let line):
            try simulation.execute(try SimulatorCommand.parse(line, for: tag.serial))
            output.write(["done": .string(line)])
        }
    }
}

extension StandardIORadio: PeripheralLink {
    func notify(_ value: [UInt8], on characteristic: String) -> NotifyOutcome {
        let word = TagCharacteristic(rawValue: characteristic)?.word ?? ""
        output.write(["notify": .string(value.hex), "on": .string(word)])
        return .delivered
    }

    /// Requests the end of the link; the radio reports when it is down.
    func drop() {
        output.write(["drop_link": .bool(true)])
    }
}
