public import Configuration
import DBus
public import ESPHome

extension RadioSettings {
    /// The D-Bus address of the radio's BlueZ.
    ///
    /// - Parameter bus: that of this host.
    /// - Returns: the address.
    public func busAddress(here bus: String) -> String {
        switch place {
        case .here, .esphome: bus
        case .bus(let address): address
        case .ssh(let ssh): BusProgram(path: RadioSettings.SSH.program, arguments: ssh.arguments).address
        }
    }
}

extension RadioSettings {
    /// How to reach the proxy; nil if the radio is none.
    public var proxy: ESPHomeCentral.Configuration? {
        guard case .esphome(let proxy) = place else { return nil }
        // The key was checked when it was read.
        return ESPHomeCentral.Configuration(
            host: proxy.host, port: UInt16(clamping: proxy.port), name: name,
            key: proxy.key.flatMap { NoiseKey(base64: $0.value) })
    }
}
