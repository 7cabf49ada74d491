public import Bluetooth

extension BlueZCentral {
    /// Which adapter to use.
    public enum AdapterChoice: Hashable, Sendable {
        /// The first one that is switched on, otherwise the first one.
        case automatic
        /// The one with this kernel name, such as `hci0`.
        case named(String)
        /// The one with this address.
        case address(BluetoothAddress)

        /// Parses a choice.
        ///
        /// - Parameter text: `auto`, an address such as `F0:00:00:00:00:01`, or a name such as `hci0`.
        public init(_ text: String) {
            self = text == "auto" ? .automatic : BluetoothAddress(text).map(Self.address) ?? .named(text)
        }

        /// Returns the path of the adapter to use; nil if there is none. An adapter in use is kept as long as it is
        /// usable, because links and bonds belong to it.
        func path(among adapters: [String: ObjectTree.AdapterObject], inUse: String?) -> String? {
            let paths = adapters.keys.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
            switch self {
            case .automatic:
                if let inUse, adapters[inUse]?.isPowered == true { return inUse }
                return paths.first { adapters[$0]?.isPowered == true } ?? inUse.flatMap {
                    adapters[$0] == nil ? nil : $0
                }
                    ?? paths.first
            case .named(let name): return paths.first { $0.hasSuffix("/" + name) }
            case .address(let address): return paths.first { adapters[$0]?.address == address }
            }
        }
    }
}
