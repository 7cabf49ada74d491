import HomeAssistant
import Time

/// The announcements to Home Assistant.
struct HomeAssistantAnnouncements: Sendable {
    /// nil unless the configuration enables it.
    var discovery: HomeAssistantDiscovery?
    var queue = AnnouncementQueue()

    /// When something becomes due; nil if nothing is.
    var deadline: Instant? {
        var deadline = discovery?.life.deadline.map(Instant.init(sinceBoot:))
        deadline.lower(to: queue.deadline)
        return deadline
    }
}
