import Configuration

/// Whether the broker takes user name and password.
enum BrokerLoginCheck {
    /// Reports the user name that the bridge logs in with.
    static func finding(_ mqtt: Settings.MQTT, _ contact: BrokerContact) -> Finding {
        let user = mqtt.username.map { "as \($0)" } ?? "without a user name"
        return contact.finding(
            .brokerLogin, .login,
            passed: Finding(.brokerLogin, .ok, "accepted \(user)"),
            failed: Finding(
                .brokerLogin, .failed, "refused \(user): \(contact.failureText)",
                remedies: [
                    "sudo mosquitto_passwd /etc/mosquitto/passwd \(mqtt.username ?? "bridge")",
                    "sudo systemctl restart mosquitto", "check mqtt.username and mqtt.password_file",
                ]))
    }
}
