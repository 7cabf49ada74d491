import JacquardProtocol

/// Every request that can be made by name. All have the id 1, and gear is component 101.
extension Example where Message == Request {
    static let everyday: [Example] = connection + gear + battery + led + configuration + store

    private static let connection = [
        Example(
            "hello", hex: "08 00 10 01 18 01", .hello(),
            text: """
                domain: BASE
                opcode: HELLO
                id: 1
                """),
        Example(
            "begin", hex: "08 00 10 02 18 01 AA 06 02 08 02", .begin(),
            text: """
                domain: BASE
                opcode: BEGIN
                id: 1
                begin {
                  protocol: 2
                }
                """),
        Example(
            "device information of the tag", hex: "08 00 10 04 18 01 20 00 BA 06 02 08 00",
            .deviceInformationOfTag(),
            text: """
                domain: BASE
                opcode: DEVICEINFO
                id: 1
                component_id: 0
                device_info {
                  component: 0
                }
                """),
        Example(
            "disconnect", hex: "08 00 10 1B 18 01 EA 07 04 08 00 10 00", .disconnect(),
            text: """
                domain: BASE
                opcode: REQUEST_DISCONNECT
                id: 1
                ble_disconnect_request {
                  timeout_second: 0
                  reconnect_only_on_wom: false
                }
                """),
        Example(
            "disconnect until moved", .disconnect(timeoutSeconds: 30, reconnectOnlyOnWakeOnMotion: true),
            text: """
                domain: BASE
                opcode: REQUEST_DISCONNECT
                id: 1
                ble_disconnect_request {
                  timeout_second: 30
                  reconnect_only_on_wom: true
                }
                """),
    ]

    private static let gear = [
        Example(
            "device information of gear", hex: "08 08 10 04 18 01 20 65 BA 06 02 08 65",
            .deviceInformation(ofGear: 101),
            text: """
                domain: GEAR
                opcode: DEVICEINFO
                id: 1
                component_id: 101
                device_info {
                  component: 101
                }
                """),
        Example(
            "touch mode gesture", hex: "08 08 10 07 18 01 20 65 DA 38 04 08 01 10 00",
            .touchMode(.gesture, component: 101),
            text: """
                domain: GEAR
                opcode: GEAR_DATA
                id: 1
                component_id: 101
                data {
                  inference: DATA_STREAM_ENABLE
                  touch: DATA_STREAM_DISABLE
                }
                """),
        Example(
            "touch mode continuous", hex: "08 08 10 07 18 01 20 65 DA 38 04 08 00 10 01",
            .touchMode(.continuous, component: 101),
            text: """
                domain: GEAR
                opcode: GEAR_DATA
                id: 1
                component_id: 101
                data {
                  inference: DATA_STREAM_DISABLE
                  touch: DATA_STREAM_ENABLE
                }
                """),
        Example(
            "haptic", hex: "08 08 10 06 18 01 20 65 D2 38 0D 0A 0B 08 C8 01 10 64 18 01 20 3C 28 02",
            .playHaptic(
                HapticPattern(
                    symbol: .sineIncrease, onMilliseconds: 200, offMilliseconds: 100, maxAmplitudePercent: 60,
                    repeatNMinusOne: 2),
                component: 101),
            text: """
                domain: GEAR
                opcode: GEAR_HAPTIC
                id: 1
                component_id: 101
                haptic {
                  frames {
                    on_ms: 200
                    off_ms: 100
                    pattern: HAPTIC_SYMBOL_SINE_INCREASE
                    max_amplitude_percent: 60
                    repeat_n_minus_one: 2
                  }
                }
                """),
    ]

    private static let battery = [
        Example(
            "battery", hex: "08 00 10 17 18 01 CA 07 04 08 01 10 01", .batteryStatus(),
            text: """
                domain: BASE
                opcode: BATTERY_STATUS
                id: 1
                battery_status_request {
                  read_battery_level: true
                  read_charging_status: true
                }
                """),
        Example(
            "loadable modules", hex: "08 00 10 14 18 01", .listModules(),
            text: """
                domain: BASE
                opcode: LIST_MODULES
                id: 1
                """),
    ]

    private static let led = [
        Example(
            "solid red for two seconds on the tag",
            hex: """
                08 00 10 11 18 01 20 00 B2 07 1B 10 01 1A 0C 0A 07 08 FF 01 10 00 18 00 10 D0 0F
                28 D0 0F 30 64 40 00 48 00 50 00
                """,
            .playLEDOnTag(
                .predefined(
                    .solid, color: LEDPattern.Color(red: 255, green: 0, blue: 0), durationMilliseconds: 2000)),
            text: """
                domain: BASE
                opcode: LED_PATTERN
                id: 1
                component_id: 0
                led_pattern_request {
                  pattern_type: PATTERN_TYPE_SOLID
                  frames {
                    color {
                      red: 255
                      green: 0
                      blue: 0
                    }
                    length_ms: 2000
                  }
                  duration_ms: 2000
                  intensity_level: 100
                  play_pause_toggle: PLAY
                  resumable: false
                  halt_all: false
                }
                """),
        Example(
            "three frames on gear",
            hex: """
                08 08 10 05 18 01 20 65 B2 07 37 10 07 1A 0C 0A 07 08 FF 01 10 00 18 00 10 FA 01
                1A 0C 0A 07 08 00 10 FF 01 18 00 10 FA 01 1A 0C 0A 07 08 00 10 00 18 FF 01 10 FA 01
                28 B8 17 30 64 40 00 48 00 50 00
                """,
            .playLED(
                LEDPattern(
                    kind: .custom,
                    frames: [
                        LEDPattern.Color(red: 255, green: 0, blue: 0),
                        LEDPattern.Color(red: 0, green: 255, blue: 0),
                        LEDPattern.Color(red: 0, green: 0, blue: 255),
                    ].map { LEDPattern.Frame(color: $0, lengthMilliseconds: 250) },
                    durationMilliseconds: 3000),
                onGear: 101),
            text: """
                domain: GEAR
                opcode: GEAR_LED
                id: 1
                component_id: 101
                led_pattern_request {
                  pattern_type: PATTERN_TYPE_CUSTOM
                  frames {
                    color {
                      red: 255
                      green: 0
                      blue: 0
                    }
                    length_ms: 250
                  }
                  frames {
                    color {
                      red: 0
                      green: 255
                      blue: 0
                    }
                    length_ms: 250
                  }
                  frames {
                    color {
                      red: 0
                      green: 0
                      blue: 255
                    }
                    length_ms: 250
                  }
                  duration_ms: 3000
                  intensity_level: 100
                  play_pause_toggle: PLAY
                  resumable: false
                  halt_all: false
                }
                """),
        Example(
            "halt all on the tag",
            hex: """
                08 00 10 11 18 01 20 00 B2 07 18 10 01 1A 0A 0A 06 08 00 10 00 18 00 10 00 28 00 30 64
                40 00 48 00 50 01
                """,
            .playLEDOnTag(.haltAll),
            text: """
                domain: BASE
                opcode: LED_PATTERN
                id: 1
                component_id: 0
                led_pattern_request {
                  pattern_type: PATTERN_TYPE_SOLID
                  frames {
                    color {
                      red: 0
                      green: 0
                      blue: 0
                    }
                    length_ms: 0
                  }
                  duration_ms: 0
                  intensity_level: 100
                  play_pause_toggle: PLAY
                  resumable: false
                  halt_all: true
                }
                """),
        Example(
            "a double blink that is toggled and goes on after an interruption",
            .playLEDOnTag(
                .predefined(
                    .doubleBlink, color: .white, durationMilliseconds: 1, playType: .toggle, isResumable: true)),
            text: """
                domain: BASE
                opcode: LED_PATTERN
                id: 1
                component_id: 0
                led_pattern_request {
                  pattern_type: PATTERN_TYPE_DOUBLE_BLINK
                  frames {
                    color {
                      red: 255
                      green: 255
                      blue: 255
                    }
                    length_ms: 1
                  }
                  duration_ms: 1
                  intensity_level: 100
                  play_pause_toggle: TOGGLE
                  resumable: true
                  halt_all: false
                }
                """),
    ]

    private static let configuration = [
        Example(
            "queue depth for gestures", hex: "08 00 10 0B 18 01 EA 44 04 12 02 50 0E",
            .notificationQueueDepth(TouchMode.gesture.notificationQueueDepth),
            text: """
                domain: BASE
                opcode: CONFIG_WRITE
                id: 1
                config_write {
                  ble_config {
                    notif_queue_depth: 14
                  }
                }
                """),
        Example(
            "queue depth for touch", hex: "08 00 10 0B 18 01 EA 44 04 12 02 50 02",
            .notificationQueueDepth(TouchMode.continuous.notificationQueueDepth),
            text: """
                domain: BASE
                opcode: CONFIG_WRITE
                id: 1
                config_write {
                  ble_config {
                    notif_queue_depth: 2
                  }
                }
                """),
        Example(
            "rename", hex: "08 00 10 0B 18 01 EA 44 08 12 06 0A 04 44 65 73 6B", .rename("Desk"),
            text: """
                domain: BASE
                opcode: CONFIG_WRITE
                id: 1
                config_write {
                  ble_config {
                    custom_adv_name: "Desk"
                  }
                }
                """),
        Example(
            "configuration", hex: "08 00 10 0A 18 01 20 00 E2 44 06 08 01 10 01 18 01", .configRead(),
            text: """
                domain: BASE
                opcode: CONFIG_READ
                id: 1
                component_id: 0
                config_read {
                  imu_config: true
                  ble_config: true
                  wom_config: true
                }
                """),
        Example(
            "low rates of the motion sensor", hex: "08 00 10 0B 18 01 EA 44 06 0A 04 20 05 40 00",
            .configWrite(.lowMotionRates),
            text: """
                domain: BASE
                opcode: CONFIG_WRITE
                id: 1
                config_write {
                  imu_config {
                    accel_sample_rate: ACCEL_ODR_25_HZ
                    gyro_sample_rate: GYRO_ODR_25_HZ
                  }
                }
                """),
    ]

    private static let store = [
        Example(
            "read a key",
            hex: "08 00 10 18 18 01 DA 07 0F 08 C8 E1 E0 8B 01 10 A0 CF EF C1 02 1A 01 6B",
            .configGet(key: "k"),
            text: """
                domain: BASE
                opcode: CONFIG_GET
                id: 1
                config_get_request {
                  vid: 293089480
                  pid: 675014560
                  key: "k"
                }
                """),
        Example(
            "write a key",
            hex: """
                08 00 10 19 18 01 D2 07 1C 08 C8 E1 E0 8B 01 10 A0 CF EF C1 02
                1A 0E 0A 01 6B 28 F9 FF FF FF FF FF FF FF FF 01
                """,
            .configSet(ConfigElement(key: "k", value: .int32(-7))),
            text: """
                domain: BASE
                opcode: CONFIG_SET
                id: 1
                config_set_request {
                  vid: 293089480
                  pid: 675014560
                  config {
                    key: "k"
                    int32_val: -7
                  }
                }
                """),
    ]
}

extension TagConfiguration {
    /// 25 Hz for both sensors.
    fileprivate static var lowMotionRates: TagConfiguration {
        var imu = IMUConfiguration()
        imu.accelerometerSampleRate = 5
        imu.gyroscopeSampleRate = 0
        var configuration = TagConfiguration()
        configuration.imu = imu
        return configuration
    }
}
