/// The known facts of one tag: at the broker, and by the actions on it.
struct TagView {
    var connection: String?
    var isAvailable = false
    var gear: GearDocument?
    var battery: BatteryDocument?
    var touchMode: String?
    /// How many troubles of it have not been put right.
    var openTroubles = 0
    /// When something was last done to it, or its link last changed.
    var unrest: ContinuousClock.Instant
    /// Since when it should have been well again; nil while it is, or cannot be.
    var overdueSince: ContinuousClock.Instant?
    /// What may have to be put right, because a command or a person has done it.
    var hazards: Set<Hazard> = []
    /// The burst that is being made.
    var burst: UInt32?
    /// Gestures that the simulator has not answered.
    var unanswered: [UInt32] = []
    /// Until when a link that breaks has a reason.
    var reasonUntil: ContinuousClock.Instant
    /// Since when the published touch mode differs from the tag's; nil while it does not, or cannot be known.
    var wrongModeSince: ContinuousClock.Instant?
    /// The simulator's last words.
    var truth: SimulatorLine?

    enum Hazard {
        case asleep, held, continuous
        /// A tag drops its link to take on another name.
        case renamed
    }

    init(at now: ContinuousClock.Instant) {
        unrest = now
        reasonUntil = now
    }

    /// Whether the broker has it as a tag that reports gestures.
    var looksWell: Bool {
        connection == "connected" && isAvailable && gear?.attached == true && touchMode != "continuous"
    }
}
