import Text

/// What a file cannot say about itself but its meaning depends on.
struct ReadingContext {
    /// Where relative paths count from.
    let folder: ConfigurationFolder
    /// The name of this host.
    let hostName: String
    /// Fetches the password from the file that the configuration names.
    let readPassword: (String) throws(Rejection) -> Secret
    /// Says why a file that the configuration names cannot be read; the path can be opened as it is.
    let checkFile: (String) throws(Rejection) -> Void
}

extension Settings {
    /// Reads the top of the file.
    init(_ section: Section<Key>, _ context: ReadingContext, _ findings: inout ConfigurationFindings) {
        let instance = section.value(.instance, .instance, &findings) ?? InstanceName.derived(from: context.hostName)
        self.init(
            instance: instance,
            mqtt: MQTT(section.section(.mqtt, &findings), instance: instance, context, &findings),
            bluetooth: Bluetooth(section.section(.bluetooth, &findings), &findings),
            homeAssistant: HomeAssistant(section.section(.homeAssistant, &findings), &findings),
            tags: TagListReader.read(section.sections(.tags, &findings), &findings),
            gear: GearListReader.read(section.sections(.gear, &findings), &findings),
            log: Log(section.section(.log, &findings), &findings),
            defaults: Defaults(section.section(.defaults, &findings), &findings),
            limits: Limits(section.section(.limits, &findings), &findings),
            metrics: Metrics(section.section(.metrics, &findings), in: context.folder, &findings))
    }
}

extension Settings.Bluetooth {
    /// Reads the section `bluetooth`.
    init(_ section: Section<Key>, _ findings: inout ConfigurationFindings) {
        section.read(.adapter, .adapter, into: &adapter, &findings)
        section.read(.connectTimeout, .wholeSeconds(1...3600), into: &connectTimeout, &findings)
        section.read(.resetAdapter, .boolean, into: &resetAdapter, &findings)
    }
}

extension Settings.HomeAssistant {
    /// Reads the section `home_assistant`.
    init(_ section: Section<Key>, _ findings: inout ConfigurationFindings) {
        section.read(.discovery, .boolean, into: &discovery, &findings)
        section.read(.prefix, .topic, into: &prefix, &findings)
        section.read(.form, .choice, into: &form, &findings)
        statusTopic = section.value(.statusTopic, .topic, &findings) ?? "\(prefix)/status"
    }
}

extension Settings.Log {
    /// Reads the section `log`.
    init(_ section: Section<Key>, _ findings: inout ConfigurationFindings) {
        section.read(.level, .choice, into: &level, &findings)
        section.read(.format, .choice, into: &format, &findings)
    }
}

extension Settings.Metrics {
    /// Reads the section `metrics`.
    init(
        _ section: Section<Key>, in folder: ConfigurationFolder, _ findings: inout ConfigurationFindings
    ) {
        section.read(.file, .metricsFile(in: folder), into: &file, &findings)
        section.read(.interval, .wholeSeconds(5...3600), into: &interval, &findings)
    }
}

extension Settings.Defaults {
    /// Reads the section `defaults`.
    init(_ section: Section<Key>, _ findings: inout ConfigurationFindings) {
        section.read(.ledOn, .seconds(milliseconds: 100...3_600_000), into: &ledOn, &findings)
    }
}

extension Settings.Limits {
    /// Reads the section `limits`.
    init(_ section: Section<Key>, _ findings: inout ConfigurationFindings) {
        let gestures = ScalarRule.seconds(milliseconds: 0...300_000)
        section.read(.gesturesWhileBrokerAway, gestures, into: &gesturesWhileBrokerAway, &findings)
        section.read(.commandsPerTag, .integer(1...1024), into: &commandsPerTag, &findings)
    }
}
