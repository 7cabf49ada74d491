import Bridge
import BrokerAccess
import Foundation
import Terminal
import TestSupport

@testable import Configuration
@testable import Doctor

extension BrokenSetup {
    static let all = bluetooth + broker + machine

    private static let bluetooth: [BrokenSetup] = [
        BrokenSetup(
            name: "no bus", check: .systemBus, cause: "cannot be reached: unix:path=/nonexistent/bus",
            remedy: "sudo systemctl start dbus"
        ) { _ in },
        BrokenSetup(
            name: "a container without the host's bus", check: .systemBus, cause: "not in this container",
            remedy: "docker run -v /run/dbus"
        ) { $0.machine.containerMarks = [try $0.write("containerenv", "")] },
        BrokenSetup(name: "no bluetoothd", check: .bluetoothService, cause: "not", remedy: "blue") {
            try await $0.emptyBus()
        },
        BrokenSetup(
            name: "a policy that denies", check: .bluetoothPolicy, cause: "the bus does not let this user",
            remedy: "sudo adduser \"$USER\" bluetooth"
        ) { _ = try await $0.bluetooth(rules: #"<deny send_destination="org.bluez"/>"#) },
        BrokenSetup(name: "no adapter", check: .adapter, cause: "knows no adapter", remedy: "bluetoothctl list") {
            _ = try await $0.bluetooth(["--adapters", "0"])
        },
        BrokenSetup(name: "another adapter", check: .adapter, cause: "there is hci0", remedy: "bluetooth.adapter") {
            _ = try await $0.bluetooth()
            $0.configuration.bluetooth.adapter = .name("hci7")
        },
        BrokenSetup(name: "the adapter is off", check: .adapter, cause: "switched off", remedy: "bluetoothctl power on")
        {
            let simulator = try await $0.bluetooth()
            simulator.type("adapter off")
            try await until("it is off") { simulator.printed.contains(#""event":"ok""#) }
        },
        BrokenSetup(
            name: "rfkill", check: .radioSwitch, cause: "hci0 is blocked", remedy: "sudo rfkill unblock bluetooth"
        ) {
            $0.machine.radios = $0.folder.path
            let radio = $0.folder.path + "/rfkill0"
            try FileManager.default.createDirectory(atPath: radio, withIntermediateDirectories: false)
            for (name, text) in [("type", "bluetooth"), ("name", "hci0"), ("soft", "1"), ("hard", "0")] {
                _ = try $0.folder.write("rfkill0/" + name, text + "\n")
            }
        },
        BrokenSetup(
            name: "Wi-Fi on the same chip", check: .sharedChip, verdict: .warning, cause: "hci0 and wlan0 share a chip",
            remedy: "iw dev wlan0 link"
        ) {
            $0.machine.devices = $0.folder.path
            for folder in ["usb/1-1/1-1:1.0", "usb/1-1/1-1:1.2", "bluetooth/hci0", "net/wlan0/phy80211"] {
                try FileManager.default.createDirectory(
                    atPath: $0.folder.path + "/" + folder, withIntermediateDirectories: true)
            }
            for (link, interface) in [("bluetooth/hci0", "1-1:1.0"), ("net/wlan0", "1-1:1.2")] {
                try FileManager.default.createSymbolicLink(
                    atPath: $0.folder.path + "/\(link)/device",
                    withDestinationPath: $0.folder.path + "/usb/1-1/" + interface)
            }
        },
        BrokenSetup(
            name: "an old BlueZ", check: .bluezVersion, verdict: .warning, cause: "5.50; the bridge is tested with",
            remedy: "apt install bluez"
        ) { $0.machine.bluetoothTool = try $0.write("bluetoothctl", "#!/bin/sh\necho 'bluetoothctl: 5.50'\n") },
        BrokenSetup(
            name: "a BlueZ that crashes", check: .bluezVersion, verdict: .warning,
            cause: "crashes when the bridge scans", remedy: "install BlueZ 5.86, or a later one than 5.87"
        ) { $0.machine.bluetoothTool = try $0.write("bluetoothctl", "#!/bin/sh\necho 'bluetoothctl: 5.87'\n") },
    ]

    private static let broker: [BrokenSetup] = [
        BrokenSetup(
            name: "a broker of no name", check: .brokerName, cause: "broker.invalid has no address",
            remedy: "getent hosts broker.invalid"
        ) { $0.configuration.mqtt.host = "broker.invalid" },
        BrokenSetup(
            name: "nobody at the port", check: .brokerReach, cause: "Connection refused",
            remedy: "systemctl enable --now mosquitto"
        ) { try $0.noBroker() },
        BrokenSetup(
            name: "something that takes the connection and is silent", check: .brokerReach,
            cause: "something took the connection and did not answer to MQTT 3.1.1", remedy: "check mqtt.port"
        ) {
            try $0.server { _, _ in .nothing }
            $0.configuration.mqtt.version = .v311
        },
        BrokenSetup(
            name: "something that closes the connection", check: .brokerReach,
            cause: "something took the connection and closed it without an answer to MQTT 5", remedy: "set mqtt.tls"
        ) { try $0.server { _, _ in .close } },
        BrokenSetup(
            name: "a broker that keeps no sessions", check: .brokerVersion,
            cause: "the broker speaks MQTT 3.1.1, but refuses a session that outlasts its connection",
            remedy: "this one is not supported"
        ) {
            try $0.server { version, isClean in
                version == 4 ? .send([0x20, 2, 0, isClean ? 0 : 1]) : .send([0x20, 2, 0, 1])
            }
        },
        BrokenSetup(
            name: "a certificate of another authority", check: .brokerTLS, cause: "no authority that is trusted",
            remedy: "set mqtt.tls.ca_file"
        ) {
            let certificates = try await $0.encryptedBroker()
            $0.configuration.mqtt.tls?.authorityFile = certificates.path("other.crt")
        },
        BrokenSetup(
            name: "a certificate of another host", check: .brokerTLS, cause: "names other hosts",
            remedy: "set mqtt.host to one of these names"
        ) {
            _ = try await $0.encryptedBroker()
            $0.configuration.mqtt.host = "127.0.0.1"
        },
        BrokenSetup(
            name: "a certificate that has expired", check: .brokerTLS, cause: "has expired",
            remedy: "renew the certificate"
        ) { _ = try await $0.encryptedBroker(isExpired: true) },
        BrokenSetup(
            name: "a client certificate is missing", check: .brokerTLS, cause: "certificate",
            remedy: "mqtt.tls.certificate_file"
        ) { _ = try await $0.encryptedBroker(["require_certificate true"]) },
        BrokenSetup(
            name: "a broker without retained messages", check: .brokerLimits, cause: "no retained messages",
            remedy: "retain_available"
        ) { try await $0.broker(["retain_available false"]) },
        BrokenSetup(
            name: "a broker without retained messages, with 3.1.1", check: .brokerLimits,
            cause: "retained messages fail", remedy: "retain_available"
        ) {
            try await $0.broker(["retain_available false"])
            $0.configuration.mqtt.version = .v311
        },
        BrokenSetup(
            name: "a broker without QoS 1", check: .brokerLimits, cause: "no messages of QoS 1", remedy: "max_qos"
        ) { try await $0.broker(["max_qos 0"]) },
        BrokenSetup(
            name: "a broker without QoS 1, with 3.1.1", check: .brokerLimits, cause: "messages of QoS 1 fail",
            remedy: "max_qos"
        ) {
            try await $0.broker(["max_qos 0"])
            $0.configuration.mqtt.version = .v311
        },
        BrokenSetup(
            name: "a broker of small messages", check: .brokerLimits, cause: "at most 5000 bytes",
            remedy: "home_assistant: {form: single}"
        ) { try await $0.broker(["max_packet_size 5000"]) },
        BrokenSetup(
            name: "a broker of small messages, with 3.1.1", check: .brokerLimits,
            cause: "messages of 14000 bytes fail", remedy: "home_assistant: {form: single}"
        ) {
            try await $0.broker(["max_packet_size 5000"])
            $0.configuration.mqtt.version = .v311
        },
        BrokenSetup(
            name: "a wrong password", check: .brokerLogin, cause: "refused as bridge", remedy: "mosquitto_passwd"
        ) {
            let passwords = try await $0.folder.writePasswords(["bridge": "right"])
            try await $0.broker(["allow_anonymous false", "password_file \(passwords)"])
            $0.configuration.mqtt.username = "bridge"
            $0.configuration.mqtt.password = Secret(value: "wrong")
        },
        BrokenSetup(
            name: "an access control list that forgets discovery", check: .brokerPermissions, cause: "homeassistant/",
            remedy: "topic readwrite homeassistant/#"
        ) {
            let rules = try $0.write("acl", "topic readwrite jacquard/#\n")
            // With Debian's mosquitto a queue without limit makes a refusal end the connection.
            try await $0.broker(["acl_file \(rules)", "max_queued_messages 1000"])
        },
        BrokenSetup(
            name: "an access control list that forgets answers to the command line", check: .brokerPermissions,
            cause: "jacquard/client/", remedy: "topic readwrite jacquard/client/#"
        ) {
            let allowed = ["jacquard/tag", "jacquard/bridge", "homeassistant"]
            let rules = try $0.write("acl", allowed.map { "topic readwrite \($0)/#\n" }.joined())
            try await $0.broker(["acl_file \(rules)", "max_queued_messages 1000"])
        },
        BrokenSetup(
            name: "an encrypted broker that throws us out", check: .brokerReach, cause: "was lost", remedy: "mqtt.port"
        ) {
            // Room for a login and not for a subscription, of which MQTT 3.1.1 does not learn.
            _ = try await $0.encryptedBroker(["max_packet_size 100"])
            $0.configuration.mqtt.version = .v311
        },
    ]

    private static let machine: [BrokenSetup] = [
        BrokenSetup(name: "a clock that is off", check: .clock, cause: "1970-01-01", remedy: "timedatectl set-ntp true")
        {
            $0.machine.unixSeconds = { 86 }
        }
    ]
}
