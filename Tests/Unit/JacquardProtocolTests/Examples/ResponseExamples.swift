import JacquardProtocol

/// Answers, those of real tags among them.
extension Example where Message == Response {
    static let all: [Example] = [
        Example(
            "hello of a real tag",
            hex: """
                08 01 10 00 18 00 A2 06 22 08 02 10 02 1A 0B 47 6F 6F 67 6C 65 20 49 6E 63 2E
                22 03 55 4A 54 30 C8 E1 E0 8B 01 38 A0 CF EF C1 02
                """,
            Response(
                id: 1, componentID: 0,
                body: .hello(
                    HelloResponse(
                        protocolMinimum: 2, protocolMaximum: 2, vendor: "Google Inc.", model: "UJT",
                        vendorID: .google, productID: .tag))),
            text: """
                id: 1
                status: 0
                component_id: 0
                hello {
                  protocol_min: 2
                  protocol_max: 2
                  vendor: "Google Inc."
                  model: "UJT"
                  vendor_id: 293089480
                  product_id: 675014560
                }
                """),
        Example(
            "loadable modules",
            Response(id: 9, body: .modules(ListModuleResponse(modules: [module, ModuleDescriptor()]))),
            text: """
                id: 9
                status: 0
                list_modules {
                  modules {
                    name: "IMUModule"
                    vendor_id: 293089480
                    product_id: 4013841288
                    module_id: 1024190291
                    ver_major: 1
                    ver_minor: 2
                    ver_point: 3
                    is_enabled: true
                    api_level: 4
                    ml_version: "5"
                    size_bytes: 6
                  }
                  modules {
                  }
                }
                """),
        Example(
            "hello with a challenge", Response(id: 2, body: .hello(hello)),
            text: """
                id: 2
                status: 0
                hello {
                  protocol_min: 0
                  protocol_max: 3
                  vendor: ""
                  model: ""
                  auth_challenge: "\\377"
                }
                """),
        Example(
            "begin of a real tag", hex: "08 02 10 00 18 00 AA 06 00",
            Response(id: 2, componentID: 0, body: .begin(BeginResponse())),
            text: """
                id: 2
                status: 0
                component_id: 0
                begin {
                }
                """),
        Example(
            "begin with a response", Response(id: 2, body: .begin(begin)),
            text: """
                id: 2
                status: 0
                begin {
                  auth_response: "abc"
                }
                """),
        Example(
            "device information", Response(id: 3, componentID: 0, body: .deviceInfo(deviceInfo)),
            text: """
                id: 3
                status: 0
                component_id: 0
                device_info {
                  vendor: "Google Inc."
                  model: "UJT"
                  revision: 4
                  uuid: "0-07-9324FLHBK0003R-1903"
                  firmware_major: 1
                  firmware_minor: 96
                  firmware_point: 0
                  bootloader_major: 1
                  bootloader_minor: 0
                  bootloader_point: 0
                  vendor_id: 293089480
                  product_id: 675014560
                  gear_id: "gear"
                  sku_id: "sku"
                  ml_version: "7"
                }
                """),
        Example(
            "battery of a real tag", hex: "08 05 10 00 18 00 CA 07 04 08 31 10 02",
            Response(
                id: 5, componentID: 0,
                body: .batteryStatus(BatteryStatusReport(BatteryStatus(level: 49, isCharging: false)))),
            text: """
                id: 5
                status: 0
                component_id: 0
                battery_status_response {
                  battery_level: 49
                  charging_status: NOT_CHARGING
                }
                """),
        Example(
            "touch mode", Response(id: 6, componentID: 6, body: .dataChannel(dataChannel)),
            text: """
                id: 6
                status: 0
                component_id: 6
                data {
                  inference: DATA_STREAM_DISABLE
                  touch: DATA_STREAM_ENABLE
                  touch_config {
                    config {
                      resolution: 12
                      sensor_clk_freq_divisor: 4
                      idac_mod_value: 60
                    }
                    config {
                      resolution: 13
                      sensor_clk_freq_divisor: 8
                      idac_mod_value: 61
                    }
                    compensation_idac_values: "\\n\\013"
                    mod_csd_clk_divisor: 2
                  }
                }
                """),
        Example(
            "configuration after a renaming", Response(id: 7, componentID: 0, body: .config(renamed)),
            text: """
                id: 7
                status: 0
                component_id: 0
                config_response {
                  ble_config {
                    custom_adv_name: "Test name"
                    tx_power_default: -12
                    tx_power_max: 0
                    fast_adv_interval_ms: 20
                    fast_adv_duration_sec: 60
                    slow_adv_interval_ms: 1285
                    slow_adv_duration_sec: 60
                    min_conn_interval: 6
                    max_conn_interval: 400
                    notif_queue_depth: 14
                    medium_adv_interval_ms: 546.25
                    medium_adv_duration_sec: 60
                  }
                }
                """),
        Example(
            "refused configuration",
            Response(id: 8, status: .badParameter, body: .config(TagConfiguration())),
            text: """
                id: 8
                status: 2
                config_response {
                }
                """),
        Example(
            "haptic", Response(id: 9, componentID: 101, body: .haptic(HapticResponse())),
            text: """
                id: 9
                status: 0
                component_id: 101
                haptic {
                }
                """),
        Example(
            "status outside the schema", Response(id: 254, status: Status(rawValue: 15)),
            text: """
                id: 254
                status: 15
                """),
    ]

    private static var hello: HelloResponse {
        var hello = HelloResponse(protocolMinimum: 0, protocolMaximum: 3, vendor: "", model: "")
        hello.authChallenge = [0xFF]
        return hello
    }

    private static var begin: BeginResponse {
        var begin = BeginResponse()
        begin.authResponse = Array("abc".utf8)
        return begin
    }

    private static var deviceInfo: DeviceInfoResponse {
        var info = DeviceInfoResponse(
            vendor: "Google Inc.", model: "UJT", revision: 4, uuid: "0-07-9324FLHBK0003R-1903")
        info.firmware = FirmwareVersion(1, 96, 0)
        info.bootloader = FirmwareVersion(1, 0, 0)
        info.vendorID = .google
        info.productID = .tag
        info.gearID = "gear"
        info.skuID = "sku"
        info.mlVersion = "7"
        return info
    }

    private static var dataChannel: DataChannelResponse {
        var touchConfiguration = TouchConfiguration()
        touchConfiguration.widgets = [
            TouchConfiguration.Widget(
                resolution: 12, sensorClockFrequencyDivisor: 4, modulatorCurrentValue: 60),
            TouchConfiguration.Widget(
                resolution: 13, sensorClockFrequencyDivisor: 8, modulatorCurrentValue: 61),
        ]
        touchConfiguration.compensationValues = [10, 11]
        touchConfiguration.modulatorClockDivisor = 2
        var response = DataChannelResponse(.continuous)
        response.touchConfiguration = touchConfiguration
        return response
    }

    private static var module: ModuleDescriptor {
        var module = ModuleDescriptor()
        module.name = "IMUModule"
        module.vendorID = .google
        module.productID = JacquardIdentifier(rawValue: 4_013_841_288)
        module.moduleID = JacquardIdentifier(rawValue: 1_024_190_291)
        module.version = FirmwareVersion(1, 2, 3)
        module.isEnabled = true
        module.apiLevel = 4
        module.machineLearningVersion = "5"
        module.byteCount = 6
        return module
    }

    private static var renamed: TagConfiguration {
        var ble = BLEConfiguration()
        ble.customAdvertisedName = "Test name"
        ble.transmitPowerDefault = -12
        ble.transmitPowerMaximum = 0
        ble.fastAdvertisingIntervalMilliseconds = 20
        ble.fastAdvertisingDurationSeconds = 60
        ble.slowAdvertisingIntervalMilliseconds = 1285
        ble.slowAdvertisingDurationSeconds = 60
        ble.minimumConnectionInterval = 6
        ble.maximumConnectionInterval = 400
        ble.notificationQueueDepth = 14
        ble.mediumAdvertisingIntervalMilliseconds = 546.25
        ble.mediumAdvertisingDurationSeconds = 60
        return TagConfiguration(ble: ble)
    }
}
