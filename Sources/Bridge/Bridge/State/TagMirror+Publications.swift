import JSON
import JacquardProtocol
import MQTTTypes

/// The tag's publications.
extension TagMirror {
    /// Publishes all facts, so that every retained topic has a value.
    func publishAll(at now: Timestamp, _ effects: inout Effects) {
        effects.publish(availabilityFact)
        effects.publish(connectionFact(at: now))
        effects.publish(batteryFacts)
        for fact in [forecastFact, gearFact, infoFact, touchModeFact, ledFact, rssiFact, statsFact(at: now)] {
            effects.publish(fact)
        }
        effects.publish(featureFacts)
    }

    /// The topics of facts whose value is unknown.
    var unknownTopics: [String] {
        (battery.latest == nil ? [topics[.battery], topics[.batteryLevel], topics[BatteryForecast.topic]] : [])
            + (gear.latest == nil ? [topics[.gear]] : [])
    }

    var availabilityFact: Publication {
        .fact(topics[.availability], word: link.isAvailable ? "online" : "offline")
    }

    func connectionFact(at now: Timestamp) -> Publication {
        .fact(topics[.connection], connectionDocument(at: now))
    }

    func connectionDocument(at now: Timestamp) -> ConnectionDocument {
        let reason = TagFindings(self, nil, now: now).reason
        return ConnectionDocument(
            connection: link.connection, since: link.since, sighting: sighting, lastSeen: lastSeen,
            reason: (reason.status, reason.why), error: link.connection.error.map(link.document),
            ended: presence.map { $0.ended?.word }, isHeld: link.intent.staysDisconnected, now: now)
    }

    var batteryDocument: BatteryDocument { BatteryDocument(battery: battery.latest, isLow: battery.monitor.isLow) }

    var batteryFacts: [Publication] {
        let document = Publication.fact(topics[.battery], batteryDocument)
        guard let battery = battery.latest else { return [document] }
        return [document, .fact(topics[.batteryLevel], word: String(battery.value.level))]
    }

    var forecastFact: Publication {
        let forecast = battery.monitor.forecast
        return .fact(topics[BatteryForecast.topic]) { object in
            object.add("basis", forecast?.basis)
            object.add("earliest", (forecast?.earliest).map(TimeText.utc))
            object.add("empty", (forecast?.empty).map(TimeText.utc))
            object.add("latest", (forecast?.latest).map(TimeText.utc))
        }
    }

    var gearFact: Publication { .fact(topics[.gear], GearDocument(gear: gear.latest)) }

    var infoDocument: TagInfoDocument {
        TagInfoDocument(entry: entry, sighting: sighting, info: info)
    }

    var infoFact: Publication { .fact(topics[.info], infoDocument) }

    var touchModeFact: Publication {
        .fact(topics[TouchModeTable.topic], word: features.touchMode ?? gear.touchMode.word)
    }

    /// `T/led` shows the tag's own LED; the gear's LED has no topic.
    var ledFact: Publication { .fact(topics.led, LightDocument(led: lights.tag)) }

    var rssiFact: Publication {
        .fact(topics[.rssi], word: sighting.rssi.map(String.init) ?? "null", qos: .atMostOnce)
    }

    func statsFact(at now: Timestamp) -> Publication {
        Publication(topic: topics[.stats], payload: statistics.bytes(at: now), kind: .fact)
    }

    func touchSample(_ touch: TouchData, at now: Timestamp) -> Publication {
        .stream(topics[.touch]) { object in
            object.add("lines", touch.lines)
            object.add("proximity", touch.proximity)
            object.add("seq", touch.sequence)
            object.add("time", now)
        }
    }
}
