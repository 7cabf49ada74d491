import CommandLine
import FakeBlueZ
import JacquardProtocol
import Testing

@testable import Simulator

@Suite("Simulator: command line")
struct SimulatorOptionsTests {
    @Test(
        "numbers its tags, except those with a given serial",
        arguments: [
            ([], ["0001"]), (["--tags", "3"], ["0001", "0002", "0003"]), (["--tags=2"], ["0001", "0002"]),
            (["--serials", "003R,0001"], ["003R", "0001"]),
            (["--serials", "0002", "--tags", "3"], ["0002", "0001", "0003"]),
            (["--serials", "0001,0002", "--tags", "1"], ["0001", "0002"]),
            (["--serials", "0001,0001"], ["0001", "0001"]),
        ] as [([String], [String])])
    func serials(arguments: [String], serials: [String]) throws {
        #expect(try Self.options(arguments).allSerials.map(\.description) == serials)
    }

    @Test("accepts all options")
    func all() throws {
        let options = try Self.options([
            "--bus", "unix:path=/run/bus", "--adapters", "2", "--no-acquire", "--json", "--lossy",
            "--write-without-response-only", "--pairing", "--quick", "--gestures-every", "0.5",
        ])
        #expect(options.bus == "unix:path=/run/bus")
        #expect(options.adapters == 2)
        #expect(!options.allowsAcquire && options.isJSON && options.isQuick)
        #expect(options.tag.isLossy && options.tag.allowsWriteWithoutResponseOnly && options.tag.wantsPairing)
        #expect(options.gesturesEvery == .milliseconds(500))
        let profile = try Self.options(["--profile", "old", "--scenario", "play"])
        #expect(profile.profile == .old && profile.tag.allowsWriteWithoutResponseOnly && profile.scenario == "play")
        #expect(try Self.options(["--profile", "no-service"]).tag.hasNoService)
        #expect(try Self.options(["--mtu", "23"]).mtu == 23)
        let proxy = try Self.options(["--esphome", "6053", "--esphome-key", "key"])
        #expect(proxy.proxyPort == 6053 && proxy.proxyKeyFile == "key")
        let house = try Self.options([
            "--places", "0,0:8,3", "--other-bus", "unix:path=/run/other", "--esphome", "6053", "--esphome-place", "4,4",
        ])
        #expect(house.adapters == 2 && house.otherBus == "unix:path=/run/other")
        #expect(house.proxyPlace == Place(x: 4, y: 4))
    }

    @Test(
        "rejects invalid arguments",
        arguments: [
            ["--fly"], ["tags"], ["--tags"], ["--tags", "0"], ["--tags", "251"], ["--adapters", "x"],
            ["--serials", "00_1"], ["--serials", ""], ["--gestures-every", "0"],
            ["--mtu", "22"], ["--mtu", "518"], ["--mtu", "x"], ["--stdio", "--tags", "2"], ["--profile", "new"],
            ["--esphome", "0"], ["--esphome", "65536"], ["--esphome"], ["--esphome-place", "1,1"],
            ["--places", "0,0", "--esphome-place", "1,1:2,2"],
            ["--adapters", "0", "--other-bus", "unix:path=/run/other"],
        ])
    func refuses(arguments: [String]) {
        #expect(throws: CommandLineError.self) { try Self.options(arguments) }
    }

    private static func options(_ arguments: [String]) throws -> SimulatorOptions {
        guard case .command(let action) = try SimulatorProgram.table.parse(arguments) else {
            throw CommandLineError(message: "not a command")
        }
        return try #require(action as? SimulatorAction).options
    }
}
