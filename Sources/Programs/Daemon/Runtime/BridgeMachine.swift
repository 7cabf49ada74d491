import BlueZ
package import Bluetooth
package import Configuration
package import EventLoop
package import Logging
package import MQTT

/// A central that a bridge starts and stops. On the loop, as its `Central`.
package protocol BridgeCentral: Central {
    /// The name of the adapter in use, such as `hci0`; nil while there is none.
    var adapterID: String? { get }
    /// Called with each request before it is performed; nil unless the traffic is recorded.
    var onRequest: ((CentralRequest) -> Void)? { get set }
    /// The adapter that an earlier process has switched off to reset it.
    var switchedOff: BluetoothAddress? { get set }
    /// Called before an adapter is switched off to reset it, and with nil when it is on again.
    var onReset: (@LoopActor (BluetoothAddress?) async -> Void)? { get set }

    /// Starts reporting events.
    func start() async
    /// Delivers the values that were received and not delivered yet.
    func deliverReceived()
    /// Disconnects all devices, at most for the given time. Nothing is reported afterwards.
    func stop(within limit: Duration) async
}

extension BlueZCentral: @LoopActor BridgeCentral {}

/// What a bridge uses of its machine: the radio, the network and the process. A simulation replaces it.
@LoopActor
package struct BridgeMachine {
    /// Creates the central.
    package var makeCentral: @LoopActor (Settings, Logger) -> any BridgeCentral
    /// Changes the configuration of the client.
    package var configure: @LoopActor (inout MQTTConfiguration) -> Void
    /// Returns the resident memory in kilobytes.
    package var residentKilobytes: @LoopActor () -> Int
    /// Gives unused memory back to the system.
    package var releaseMemory: @LoopActor () -> Void
    /// Returns the version of BlueZ; nil if it is unknown.
    package var bluezVersion: @LoopActor () async -> String?
    /// Source of the boot number and of the jitter of connections.
    package var random: any RandomNumberGenerator

    /// Creates a machine.
    package init(
        makeCentral: @escaping @LoopActor (Settings, Logger) -> any BridgeCentral,
        configure: @escaping @LoopActor (inout MQTTConfiguration) -> Void,
        residentKilobytes: @escaping @LoopActor () -> Int, releaseMemory: @escaping @LoopActor () -> Void,
        bluezVersion: @escaping @LoopActor () async -> String?, random: any RandomNumberGenerator
    ) {
        self.makeCentral = makeCentral
        self.configure = configure
        self.residentKilobytes = residentKilobytes
        self.releaseMemory = releaseMemory
        self.bluezVersion = bluezVersion
        self.random = random
    }

    /// The machine of the process.
    ///
    /// - Parameter bus: the address of the bus that BlueZ is on.
    /// - Returns: the machine.
    static func real(bus: String) -> BridgeMachine {
        BridgeMachine(
            makeCentral: { configuration, log in
                BlueZCentral(
                    busAddress: bus, adapter: .init(configuration.bluetooth.adapter.text),
                    resetAdapter: configuration.bluetooth.resetAdapter, log: log)
            }, configure: { _ in }, residentKilobytes: { ProcessMeasurement.residentKilobytes },
            releaseMemory: { ProcessMemory.release() },
            bluezVersion: { BlueZVersion.version(in: await BlueZVersion.output()) },
            random: SystemRandomNumberGenerator())
    }
}
