import JacquardProtocol

/// Notifications, those of real tags among them.
extension Example where Message == Notification {
    static let all: [Example] = [
        Example(
            "battery of a real tag", hex: "08 00 10 17 18 00 CA 07 04 08 32 10 02",
            .batteryStatus(BatteryStatus(level: 50, isCharging: false)),
            text: """
                domain: BASE
                opcode: BATTERY_STATUS
                component_id: 0
                battery_status_notification {
                  battery_level: 50
                  charging_status: NOT_CHARGING
                }
                """),
        Example(
            "attached gear of a real tag",
            hex: "08 00 10 09 18 00 EA 06 10 08 01 10 92 C2 DE DA 0F 18 B0 F1 E1 E6 05 20 65",
            .attached(
                AttachedNotification(
                    vendorID: JacquardIdentifier(rawValue: 0xFB57_A112),
                    productID: JacquardIdentifier(rawValue: 0x5CD8_78B0), componentID: 101)),
            text: """
                domain: BASE
                opcode: ATTACHED
                component_id: 0
                attached {
                  attach_state: true
                  vendor_id: 4216824082
                  product_id: 1557690544
                  component_id: 101
                }
                """),
        Example(
            "detached gear", .attached(AttachedNotification()),
            text: """
                domain: BASE
                opcode: ATTACHED
                component_id: 0
                attached {
                }
                """),
        Example(
            "gesture", hex: "08 08 10 07 18 01 AA 39 04 0A 02 08 01",
            .dataChannel(DataChannelNotification(.doubleTap), component: 1),
            text: """
                domain: GEAR
                opcode: GEAR_DATA
                component_id: 1
                data {
                  inference_data {
                    event: 1
                  }
                }
                """),
        Example(
            "gesture and touch", .dataChannel(both, component: 101),
            text: """
                domain: GEAR
                opcode: GEAR_DATA
                component_id: 101
                data {
                  inference_data {
                    event: 200
                  }
                  touch_data {
                    diff_proximity: 1
                    diff_touch: "A"
                    inference_result: 2
                    sequence: 881
                    crc16: 65535
                    confidence_array: "B"
                    diff_data_scaled: "@ABCDEFGHIJKL"
                    raw_data: ""
                  }
                  timestamp_ticks: 70000
                }
                """),
        Example(
            "the rest at once", rest,
            text: """
                domain: BASE
                opcode: ERROR
                disconnect_notification {
                  reconnect: true
                }
                error_notification {
                  device: 1
                  subsystem: 2
                  errorcode: 7
                }
                led_pattern_notif {
                  pattern_uid: 12
                }
                """),
    ]

    private static var both: DataChannelNotification {
        var touch = TouchDataMessage()
        touch.proximityDifference = 1
        touch.touchDifferences = [0x41]
        touch.inferenceResult = 2
        touch.sequence = 881
        touch.crc16 = 0xFFFF
        touch.confidences = [0x42]
        touch.scaledValues = Array(0x40...0x4C)
        touch.rawValues = []
        var both = DataChannelNotification(Gesture(rawValue: 200))
        both.touchData = touch
        both.timestampTicks = 70_000
        return both
    }

    private static var rest: Notification {
        var led = LEDPatternNotification()
        led.patternUID = 12
        var notification = Notification(domain: .base, opcode: .error)
        notification.disconnect = DisconnectNotification(reconnect: true)
        notification.error = ErrorNotification(device: 1, subsystem: 2, errorCode: 7)
        notification.ledPattern = led
        return notification
    }
}
