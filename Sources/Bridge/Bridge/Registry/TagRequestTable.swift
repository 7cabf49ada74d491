/// All commands to a tag.
enum TagRequestTable {
    /// By name, which is the order of error texts.
    static let rows: [any TagRequest.Type] = (own + Features.commands).sorted { $0.name < $1.name }

    /// Their names. Asking a row takes as long as comparing two names.
    // A key path here crashes the compiler (Swift 6.3.1, static member of an existential metatype).
    private static let names = rows.map { $0.name }

    /// Those that are no feature's.
    private static let own: [any TagRequest.Type] = [
        BatteryGet.self,
        ConfigGet.self,
        ConfigSet.self,
        ConnectionSet.self,
        HapticSet.self,
        InfoGet.self,
        LEDSet.self,
        ModulesGet.self,
        ModulesSet.self,
        NameSet.self,
        NotifySet.self,
        SignalGet.self,
        SleepSet.self,
        TouchModeSet.self,
    ]

    /// The commands that read what another one with the same result topic sets, such as `config/get`.
    private static let sharedReadings: [String] = rows.map { $0.name }.filter { name in
        name.hasSuffix("/get") && rows.contains { $0.name == name.dropLast(3) + "set" }
    }

    /// Returns whether a command reads what another one with the same result topic sets.
    static func isSharedReading(_ name: String) -> Bool {
        // Most commands set something: one byte shows it.
        name.utf8.dropLast(2).last == UInt8(ascii: "g") && sharedReadings.contains { $0.isWord(name) }
    }

    /// The topics of results that are recorded.
    static var recordedResults: [String] {
        rows.filter { $0.isResultRecorded }.map { $0.name.prefix { $0 != "/" } + "/result" }
    }

    /// Returns the command with a name.
    ///
    /// - Throws: `unknown_command`, with the existing names.
    static func row(_ name: String) throws(CommandFailure) -> any TagRequest.Type {
        for index in rows.indices where names[index].isWord(name) { return rows[index] }
        let names = names.joined(separator: ", ")
        throw CommandFailure(.unknownCommand, "There is no command \(name.quoted); there are \(names)")
    }
}
