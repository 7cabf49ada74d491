extension Entity {
    /// The entities of the bridge, in the order of the announcement. Topics are relative to `G`.
    ///
    /// - Parameters:
    ///   - words: the words of topics.
    ///   - serials: the serials of the tags that the latest scan has found, and that can be paired.
    /// - Returns: the entities.
    static func bridgeEntities(_ words: Vocabulary, found serials: [String] = []) -> [Entity] {
        let found = "[" + serials.map { "'\($0)'" }.joined(separator: ", ") + "]"
        let pairingStates = Choices(words.pairingStates, titles: ["searching": "Searching, hold the tag's button"])
        return [
            // Always available: otherwise it could not show that the bridge is offline.
            Entity(
                "connection", "Connection",
                .binarySensor("state", on: "online", off: "offline", class: "connectivity"),
                category: .diagnostic, needs: .nothing),
            // Home Assistant sorts by name, so the names of the steps of a pairing are in this order. They have a category, because Home Assistant
            // sends a command for a whole area to entities without one.
            Entity(
                "scan", "Scan for tags", .button("request/scan", press: #"{"duration_s":30}"#), category: .config,
                icon: "mdi:radar"),
            Entity(
                "found", "Tags found",
                .sensor(
                    "found", "{{ value_json.count | default(none) }}",
                    // Releases up to 2024 read a template's `None` as unknown in numeric sensors only.
                    isMeasurement: true,
                    attributes: (
                        "found",
                        "{{ {'tags': value_json.tags | default([]), 'more': value_json.more | default(0), "
                            + "'scanning': value_json.scanning | default(false)} | tojson }}"
                    )),
                icon: "mdi:magnify"),
            // Two ways to set the serial of the tag that the button below pairs.
            Entity(
                "pair_tag", "Select tag to pair",
                .select(
                    "pairing",
                    "{% set serial = value_json.request_serial | default(none) %}"
                        + "{{ serial if serial in \(found) else 'None' }}",
                    command: "request/pair_serial", "{{ value if value in \(found) else '' }}",
                    options: serials.isEmpty ? [nothingFound] : serials),
                category: .config, icon: "mdi:format-list-bulleted"),
            Entity(
                "pair_serial", "Serial of tag to pair",
                .text(
                    "pairing", "{{ value_json.request_serial | default('', true) }}", command: "request/pair_serial",
                    maxLength: 64,
                    pattern: "^ *[0-9A-Za-z-]* *$"),
                category: .config, icon: "mdi:form-textbox"),
            Entity(
                "pair", "Start pairing", .button("request/pair", press: "{}"), category: .config,
                icon: "mdi:bluetooth-settings"),
            Entity(
                "pairing", "Pairing",
                .sensor(
                    "pairing", "{{ \(pairingStates.titlesByWord).get(value_json.state | default(none)) }}",
                    class: "enum",
                    options: pairingStates.titles,
                    attributes: (
                        "pairing",
                        "{{ {'serial': value_json.serial | default(none), 'hint': value_json.hint | default(none), "
                            + "'error': value_json.error.text if value_json.error | default(none) else none} | tojson }}"
                    )),
                icon: "mdi:bluetooth-connect"),
            Entity(
                "pairing_hint", "Pairing hint",
                .text(
                    "pairing",
                    "[(value_json.error | default({}, true)).text | default(''), value_json.hint | default('', true)] "
                        + "| select | join('. ')"),
                icon: "mdi:lightbulb-on-outline"),
            Entity(
                "connected_tags", "Connected tags",
                .sensor("tags", "{{ value_json.connected | default(none) }}", isMeasurement: true),
                category: .diagnostic, icon: "mdi:bluetooth"),
            Entity(
                "problem", "Problem",
                .binarySensor(
                    "health", "{{ 'OFF' if value_json.status | default(none) == 'ok' else 'ON' }}", on: "ON",
                    off: "OFF",
                    class: "problem",
                    attributes: (
                        "health",
                        "{{ {'problems': value_json.problems | default([]) | map(attribute='text') | list} | tojson }}"
                    )),
                category: .diagnostic),
            Entity(
                "problem_text", "Problem text",
                .text("health", "value_json.problems | default([]) | map(attribute='text') | join('; ')"),
                category: .diagnostic, icon: "mdi:alert-circle-outline"),
        ]
    }

    /// The only option while no tag to pair was found: Home Assistant needs one.
    private static let nothingFound = "Scan first"
}
