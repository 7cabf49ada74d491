import Text

/// The variables that Kubernetes sets for each Service, and a container link for each container, whose name begins with the
/// product's. They set no key.
///
/// Sources: Kubernetes, "Service", "Environment variables"; Docker Engine, `libnetwork` links (`<alias>_PORT_<port>_<protocol>`).
enum ContainerVariable {
    /// The ends of `NAME_PORT_8377_TCP...`, after the protocol.
    private static let endsOfPort: Set<[String]> = [
        [], ["PROTO"], ["PORT"], ["ADDR"], ["START"], ["END"], ["PORT", "START"], ["PORT", "END"],
    ]
    private static let protocols: Set<String> = ["TCP", "UDP", "SCTP"]

    /// Whether it is such a variable. A variable with the name of a key never is; the caller checks that first.
    ///
    /// - Parameters:
    ///   - name: the name without the product's prefix, such as `PORT` or `WEB_SERVICE_HOST`.
    ///   - value: tells `PORT=tcp://10.43.0.7:8377` from `PORT=1883`, and `NAME=/app/bridge` from `NAME=attic`.
    /// - Returns: false for a variable that the user has misspelled.
    static func isOne(_ name: Substring, value: String) -> Bool {
        let words = name.split(separator: "_", omittingEmptySubsequences: false).map(String.init)
        return words.indices.contains { place in
            // The names of services and aliases hold no `__`, which separates the keys of a setting.
            words[..<place].allSatisfy { !$0.isEmpty } && isEnd(words[place...], value: value)
        }
    }

    private static func isEnd(_ words: ArraySlice<String>, value: String) -> Bool {
        let rest = Array(words.dropFirst())
        switch words.first {
        case "SERVICE": return rest == ["HOST"] || rest.first == "PORT"
        case "ENV": return rest.first.map { !$0.isEmpty } ?? false
        case "NAME": return rest.isEmpty && value.hasPrefix("/")
        case "PORT":
            guard let number = rest.first else { return isAddress(value) }
            guard !number.isEmpty, number.utf8.allSatisfy(ASCII.isDigit), rest.count > 1 else { return false }
            return protocols.contains(rest[1]) && endsOfPort.contains(Array(rest[2...]))
        default: return false
        }
    }

    private static func isAddress(_ value: String) -> Bool {
        protocols.contains { value.hasPrefix("\($0.lowercased())://") }
    }
}
