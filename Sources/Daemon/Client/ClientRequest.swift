import Configuration

/// What a user wants of the bridge.
enum ClientRequest: Hashable, Sendable {
    /// Which tags are in reach, after listening for so long.
    case scan(duration: Duration)
    /// Make a tag known and connect it.
    case pair(serial: String, timeout: Duration)
    /// Forget a tag.
    case forget(id: String)
    /// All tags that the bridge knows or has heard.
    case tags
    /// How the bridge and its tags are.
    case status
    /// What is published, as it comes; of one tag, or of all.
    case monitor(id: String?, isNewOnly: Bool = false)
    /// Remove what the bridge of the configuration retains at the broker.
    case clear
    /// Light an LED of a tag.
    case led(id: String, LEDWish)
    /// Play a pattern on the motor of a tag's gear.
    case haptic(id: String, name: String)
}
