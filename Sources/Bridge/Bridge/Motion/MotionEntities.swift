import HomeAssistant

extension Motion {
    /// Of tags whose motion sensor was used: others would have entities without a value for ever.
    static func entities(_ options: BridgeOptions?) -> [FeatureEntity] {
        list.map { FeatureEntity($0, of: .use(of: key)) }
    }

    /// The entities of `T/imu` and `T/imu/sessions`.
    private static let list: [Entity] = {
        let states = Choices([
            "inactive", "idle", "logging", "transferring", "erasing", "low_storage", "low_battery", "error",
        ])
        func mode(_ word: String) -> EntityKind {
            .binarySensor(
                "imu", "{{ value_json.mode | default(none) == '\(word)' }}", on: "True", off: "False")
        }
        let session = "{{ {'action': 'record', 'session': 'ha-' ~ now().strftime('%Y%m%d-%H%M%S')} | tojson }}"
        return [
            Entity(
                "motion", "Motion sensor",
                .sensor(
                    "imu",
                    "{{ \(states.titlesByWord)"
                        + ".get(value_json.state | default(none) or value_json.module | default(none)) }}",
                    class: "enum",
                    options: states.titles, attributes: ("imu", nil)),
                category: .diagnostic, icon: "mdi:axis-arrow", needs: .bridge),
            Entity(
                "motion_recording", "Motion recording", mode("store"), category: .diagnostic, icon: "mdi:record-rec"),
            Entity(
                "motion_streaming", "Motion streaming", mode("stream"), category: .diagnostic, icon: "mdi:waveform"),
            Entity(
                "motion_storage", "Motion storage",
                .sensor(
                    "imu/sessions", "{{ value_json | map(attribute='bytes') | sum }}", class: "data_size", unit: "B",
                    isMeasurement: true, attributes: ("imu/sessions", "{{ {'sessions': value_json} | tojson }}")),
                category: .diagnostic, icon: "mdi:database", needs: .bridge),
            Entity(
                "motion_record", "Motion: record", .button("imu/set", template: session), category: .diagnostic,
                icon: "mdi:record", isEnabled: false),
            Entity(
                "motion_stream", "Motion: stream for a minute",
                .button("imu/set", press: #"{"action":"stream","seconds":60}"#), category: .diagnostic,
                icon: "mdi:play", isEnabled: false),
            Entity(
                "motion_stop", "Motion: stop", .button("imu/set", press: "stop"), category: .diagnostic,
                icon: "mdi:stop", isEnabled: false),
            Entity(
                "motion_list", "Motion: list recordings", .button("imu/sessions/get", press: "{}"),
                category: .diagnostic, icon: "mdi:format-list-bulleted", isEnabled: false),
        ]
    }()
}
