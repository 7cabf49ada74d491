import JSON
import JacquardProtocol
import Time

/// `T/slide`.
struct SlideDocument: Encodable {
    let delta: Int
    let phase: String
    let position: Int
    let strength: Int
    let time: String

    init(_ event: SlideMachine.Event, at now: Timestamp) {
        delta = event.delta
        phase = event.phase.rawValue
        position = event.position
        strength = event.strength
        time = now.text
    }
}

/// `data` of the result of `touch_mode/set` `slide`.
struct SlideNote: Encodable, Sendable {
    private let idleMinutes: Int64
    private let note = "The gear streams until then, which empties the battery of the tag faster"

    init(idle: Duration) {
        idleMinutes = idle.components.seconds / 60
    }

    private enum CodingKeys: String, CodingKey {
        case idleMinutes = "idle_min"
        case note
    }
}

extension CommandFailure {
    /// The touch mode `slide` without `slide.enabled`.
    static let slideIsDisabled = CommandFailure(
        .notPermitted, "The touch mode slide is disabled in the configuration",
        hint: "It empties the battery of the tag faster; set slide.enabled: true, and reload")
}

extension TagMirror {
    /// The word of `T/touch_mode`.
    var touchModeWord: String {
        rareFacts.first?.slide?.isOn == true ? TouchModeSet.slideWord : touchMode.word
    }

    /// Handles a command for a touch mode, which may wait for the tag.
    mutating func touchModeRequested(slideIdle: Duration?) {
        if let slideIdle {
            if rare.slides.isEmpty { rare.slides = [SlideState(idle: slideIdle)] }
            rare.slides[0].idle = slideIdle
            rare.slides[0].isRequested = true
        } else if rareFacts.first?.slide != nil {
            rare.slides[0].isRequested = false
        }
    }

    /// Handles a touch mode that the gear has confirmed.
    mutating func slideConfirmed(_ mode: TouchMode, at now: Timestamp) -> [Publication] {
        slide(at: now) { $0.confirmed(mode, at: now.instant) }
    }

    /// Handles a sample of the gear. Returns nil unless the touch mode is `slide`.
    mutating func slideSampled(_ touch: TouchData, at now: Timestamp) -> [Publication]? {
        guard rareFacts.first?.slide?.isOn == true else { return nil }
        return slide(at: now) { $0.sampled(touch, at: now.instant) }
    }

    /// Handles the end of the link, of the tag or of the bridge.
    mutating func slideInterrupted(at now: Timestamp) -> [Publication] { slide(at: now) { $0.interrupted() } }

    /// Handles gear that was taken off.
    mutating func slideDetached(at now: Timestamp) -> [Publication] { slide(at: now) { $0.detached() } }

    /// Handles a tag that another bridge has connected: the next link here begins with gestures, as the link there did.
    mutating func slideTakenOver(at now: Timestamp) {
        guard rareFacts.first?.slide != nil else { return }
        _ = rare.slides[0].end(isConnected: false, at: now.instant)
    }

    fileprivate mutating func slide(
        at now: Timestamp, _ change: (inout SlideState) -> [SlideMachine.Event]
    ) -> [Publication] {
        guard rareFacts.first?.slide != nil else { return [] }
        return change(&rare.slides[0]).map { event in
            .stream(topics[.slide], SlideDocument(event, at: now))
        }
    }
}

extension BridgeState {
    /// Switches `slide` on again after the link was lost: the session sets the gear to gestures at each connection.
    mutating func keepSlide(of position: Int) -> [BridgeAction] {
        guard let slide = tags[position].rareFacts.first?.slide, slide.isRequested, slide.isKept, !slide.isOn,
            tags[position].isConnected
        else { return [] }
        return perform([.setTouchMode(.continuous)], on: position)
    }

    /// Does what has become due.
    mutating func slideDue(of position: Int, at now: Timestamp) -> [BridgeAction] {
        guard let deadline = tags[position].rareFacts.first?.slide?.deadline, deadline <= now.instant else { return [] }
        var ends = false
        let isConnected = tags[position].isConnected
        let publications = tags[position].slide(at: now) { slide in
            let due = slide.due(isConnected: isConnected, at: now.instant)
            ends = due.ends
            return due.events
        }
        return publish(publications) + (ends ? endSlide(of: position) : [])
    }

    /// Handles changed settings.
    mutating func slidesConfigured(at now: Timestamp) -> [BridgeAction] {
        tags.indices.flatMap { position -> [BridgeAction] in
            guard tags[position].rareFacts.first?.slide != nil else { return [] }
            if let idle = configuration.options.slide.idle {
                tags[position].rare.slides[0].idle = idle
                return []
            }
            let starts = failAll(of: position, .slideIsDisabled, at: now) { ($0 as? TouchModeSet)?.isSlide ?? false }
            let isConnected = tags[position].isConnected
            let isOn = tags[position].rare.slides[0].end(isConnected: isConnected, at: now.instant)
            return starts.actions + (isOn || starts.wasSent ? endSlide(of: position) : [])
        }
    }

    private mutating func endSlide(of position: Int) -> [BridgeAction] {
        perform([.setTouchMode(.gesture)], on: position)
    }
}

extension TopicRow {
    static let slide = TopicRow("slide", .stream, isOnPage: false) { document in
        guard let position = document["position"]?.word else { return nil }
        return switch document["phase"]?.string {
        case "begin": "finger at \(position) of 100"
        case "move": "finger slides to \(position)"
        case "hold": "finger holds at \(position)"
        case "end": "finger lifted at \(position)"
        default: nil
        }
    }
}
