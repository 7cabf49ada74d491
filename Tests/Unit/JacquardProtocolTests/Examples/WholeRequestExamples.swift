import JacquardProtocol

/// Requests with every field that the schema has and no factory sets.
extension Example where Message == Request {
    static let whole: [Example] = [
        Example(
            "begin", Request(domain: .base, opcode: .begin, body: .begin(begin)),
            text: """
                domain: BASE
                opcode: BEGIN
                id: 1
                begin {
                  protocol: 2
                  auth_challenge: "\\001\\002"
                  auth_response: "\\003"
                }
                """),
        Example(
            "LED", Request(domain: .base, opcode: .ledPattern, body: .ledPattern(led)),
            text: """
                domain: BASE
                opcode: LED_PATTERN
                id: 1
                led_pattern_request {
                  pattern_uid: 7
                  frames {
                  }
                  pause_between_cycles_ms: 300
                  priority_level: 2
                  number_of_cycles: 4294967295
                }
                """),
        Example(
            "haptic", Request(domain: .gear, opcode: .gearHaptic, body: .haptic(haptic)),
            text: """
                domain: GEAR
                opcode: GEAR_HAPTIC
                id: 1
                haptic {
                  pause_between_cycles_ms: 10
                  Repeat_full_pattern: 2
                  intensity_level: 80
                }
                """),
        Example(
            "motion sensor and waking", .configWrite(configuration),
            text: """
                domain: BASE
                opcode: CONFIG_WRITE
                id: 1
                config_write {
                  imu_config {
                    sensor_id: 0
                    accel_low_power_mode: false
                    accel_filter_mode: IMU_FILTER_NORMAL
                    accel_sample_rate: ACCEL_ODR_400_HZ
                    accel_range: IMU_ACCEL_RANGE_16G
                    gyro_low_power_mode: true
                    gyro_filter_mode: IMU_FILTER_OSR2
                    gyro_sample_rate: GYRO_ODR_800_HZ
                    gyro_range: IMU_GYRO_RANGE_2000DPS
                  }
                  wom_config {
                    enable: true
                    sensitivity: ACCEL_ODR_6_25_HZ
                    motion_threshold: 25
                    no_motion_timeout_ms: 600000
                    gear_power_policy: WOM_TURN_OFF_GEAR_POWER_COMPLETELY
                    ble_conn_policy: WOM_MAINTAIN_BLE_CONNECTION_AT_LOW_POWER_MODE
                  }
                }
                """),
    ]

    private static var begin: BeginRequest {
        var begin = BeginRequest(protocolVersion: 2)
        begin.authChallenge = [1, 2]
        begin.authResponse = [3]
        return begin
    }

    private static var led: LEDPatternRequest {
        var led = LEDPatternRequest()
        led.patternUID = 7
        led.frames = [LEDPatternFrame()]
        led.pauseBetweenCyclesMilliseconds = 300
        led.priorityLevel = 2
        led.numberOfCycles = .max
        return led
    }

    private static var haptic: HapticRequest {
        var haptic = HapticRequest()
        haptic.pauseBetweenCyclesMilliseconds = 10
        haptic.repeatFullPattern = 2
        haptic.intensityLevel = 80
        return haptic
    }

    private static var configuration: TagConfiguration {
        var configuration = TagConfiguration()
        configuration.imu = imu
        configuration.wakeOnMotion = wakeOnMotion
        return configuration
    }

    private static var imu: IMUConfiguration {
        var imu = IMUConfiguration()
        imu.sensorID = 0
        imu.accelerometerLowPowerMode = false
        imu.accelerometerFilterMode = 2
        imu.accelerometerSampleRate = 9
        imu.accelerometerRange = 3
        imu.gyroscopeLowPowerMode = true
        imu.gyroscopeFilterMode = 1
        imu.gyroscopeSampleRate = 5
        imu.gyroscopeRange = 4
        return imu
    }

    private static var wakeOnMotion: WakeOnMotionConfiguration {
        var wakeOnMotion = WakeOnMotionConfiguration()
        wakeOnMotion.isEnabled = true
        wakeOnMotion.sensitivity = 3
        wakeOnMotion.motionThreshold = 25
        wakeOnMotion.noMotionTimeoutMilliseconds = 600_000
        wakeOnMotion.gearPowerPolicy = 2
        wakeOnMotion.bleConnectionPolicy = 1
        return wakeOnMotion
    }
}
