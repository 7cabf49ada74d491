/// The requests about motion data.
extension Request {
    /// Reads the state. Response: ``Response/Body/motionStatus(_:)``.
    public static func motionStatus() -> Request {
        Request(domain: .motion, opcode: .motionStatus, body: .motionStatus(MotionRequest()))
    }

    /// Starts collecting. Response: ``Response/Body/motionStart(_:)``. Its state counts, not the status of the response.
    public static func motionStart(_ metadata: MotionMetadata) -> Request {
        Request(domain: .motion, opcode: .motionStart, body: .motionStart(MotionStartRequest(metadata)))
    }

    /// Stops collecting, or a transfer. Response: ``Response/Body/motionStop(_:)``.
    public static func motionStop() -> Request {
        Request(domain: .motion, opcode: .motionStop, body: .motionStop(MotionStopRequest(isError: false)))
    }

    /// Lists the sessions. Response: ``Response/Body/motionSessionList(_:)``; the sessions follow as ``MotionSessionEntry``.
    public static func motionSessionList() -> Request {
        Request(domain: .motion, opcode: .motionSessionList, body: .motionSessionList(MotionRequest()))
    }

    /// Starts a transfer. Response: ``Response/Body/motionDownload(_:)``; the data follows on the raw data characteristic.
    public static func motionDownload(_ id: MotionSessionID, offset: UInt32) -> Request {
        Request(
            domain: .motion, opcode: .motionDownload, body: .motionDownload(MotionDownloadRequest(id, offset: offset)))
    }

    /// Erases a session. Response: ``Response/Body/motionErase(_:)``; an ``ErrorNotification`` with 0 ends it.
    public static func motionErase(_ id: MotionSessionID) -> Request {
        Request(domain: .motion, opcode: .motionErase, body: .motionErase(MotionEraseRequest(id)))
    }

    /// Erases all sessions. Response: ``Response/Body/motionEraseAll(_:)``; an ``ErrorNotification`` with 0 ends it.
    public static func motionEraseAll() -> Request {
        Request(domain: .motion, opcode: .motionEraseAll, body: .motionEraseAll(MotionRequest()))
    }

    /// Sets the sample rates. Response: ``Response/Body/config(_:)``.
    public static func motionRates(_ rates: MotionRates) -> Request {
        var configuration = TagConfiguration()
        configuration.imu = IMUConfiguration(rates)
        return configWrite(configuration)
    }
}
