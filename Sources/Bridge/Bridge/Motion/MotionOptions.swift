/// The settings of data of the motion sensor.
public struct MotionOptions: Hashable, Sendable {
    /// The folder of downloaded sessions; nil: none can be downloaded.
    public var folder: String?
    /// The most that the folder holds, in MiB.
    public var most = 256
    /// After which time an unused module is deactivated.
    public var idle: Duration = .seconds(600)

    /// The defaults of the contract.
    public init() {}
}
