/// A bus that a program connects to, through its standard input and output.
///
/// Source: D-Bus specification, "Executed Subprocesses on Unix".
public struct BusProgram: Hashable, Sendable {
    /// The program.
    public var path: String
    /// Its arguments, without its name.
    public var arguments: [String]

    /// Describes a bus.
    public init(path: String, arguments: [String]) {
        self.path = path
        self.arguments = arguments
    }

    /// The address for libdbus, which executes the program without a shell.
    public var address: String {
        let values = [("path", path), ("argv0", path)] + arguments.enumerated().map { ("argv\($0 + 1)", $1) }
        return "unixexec:" + values.map { "\($0)=\(Self.escaped($1))" }.joined(separator: ",")
    }

    /// Every byte that the specification does not list as optionally escaped becomes `%` and two hexadecimal digits. Source:
    /// D-Bus specification, "Server Addresses".
    private static func escaped(_ text: String) -> String {
        var result: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"),
                UInt8(ascii: "."), UInt8(ascii: "*"):
                result.append(byte)
            default:
                let digits = Array("0123456789abcdef".utf8)
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
