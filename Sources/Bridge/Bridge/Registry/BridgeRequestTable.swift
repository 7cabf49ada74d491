import Text

/// All requests to the bridge.
enum BridgeRequestTable {
    /// In the order of error texts.
    static let rows: [any BridgeRequest.Type] = [
        BatteryHistoryRequest.self,
        DoctorRequest.self,
        ForgetRequest.self,
        GATTRequest.self,
        HealthRequest.self,
        LogRequest.self,
        LogLevelRequest.self,
        MetricsRequest.self,
        PairRequest.self,
        PairSerialRequest.self,
        RefreshRequest.self,
        ScanRequest.self,
        TagsRequest.self,
        TraceRequest.self,
    ]

    /// Returns the request with a verb.
    ///
    /// - Throws: `unknown_command`, with the existing verbs.
    static func row(_ name: String) throws(CommandFailure) -> any BridgeRequest.Type {
        for row in rows where row.name == name { return row }
        // A key path here crashes the compiler (Swift 6.3.1, static member of an existential metatype).
        let names = rows.map { $0.name }.joined(separator: ", ")
        throw CommandFailure(.unknownCommand, "There is no request \(name.quoted); there are \(names)")
    }
}
