import JacquardProtocol

private let session = MotionSessionID(session: "run-1")

/// Requests about modules and motion data.
extension Example where Message == Request {
    static let motion: [Example] = [
        Example(
            "load the motion module",
            hex: """
                08 00 10 12 18 01 82 4B 1F 0A 1D 0A 09 49 4D 55 4D 6F 64 75 6C 65 10 C8 E1 E0 8B 01
                18 88 B7 F9 F9 0E 20 D3 CE AF E8 03
                """,
            .loadModule(.motion), text: module("LOAD_MODULE", "load_module")),
        Example("unload the motion module", .unloadModule(.motion), text: module("UNLOAD_MODULE", "unload_module")),
        Example("delete the motion module", .deleteModule(.motion), text: module("DELETE_MODULE", "delete_module")),
        Example(
            "motion status", hex: "08 09 10 03 18 01 DA 3E 00", .motionStatus(),
            text: """
                domain: DATA_COLLECTION
                opcode: DISCONNECT
                id: 1
                status {
                }
                """),
        Example(
            "list of sessions", hex: "08 09 10 04 18 01 E2 3E 00", .motionSessionList(),
            text: """
                domain: DATA_COLLECTION
                opcode: DEVICEINFO
                id: 1
                trial_list {
                }
                """),
        Example(
            "erase all sessions", hex: "08 09 10 07 18 01 82 3F 00", .motionEraseAll(),
            text: """
                domain: DATA_COLLECTION
                opcode: GEAR_DATA
                id: 1
                erase_all_data {
                }
                """),
        Example(
            "stop as Android does", hex: "08 09 10 02 18 01 D2 3E 02 08 00", .motionStop(),
            text: """
                domain: DATA_COLLECTION
                opcode: BEGIN
                id: 1
                stop {
                  is_error: false
                }
                """),
        Example(
            "record", .motionStart(MotionMetadata(session, mode: .store)),
            text: """
                domain: DATA_COLLECTION
                opcode: HELLO
                id: 1
                start {
                  metadata {
                    campaign_id: "IMU_Campaign"
                    session_id: "IMU_Group"
                    trial_id: "run-1"
                    subject_id: "IMU_Subject"
                    mode: DATA_COLLECTION_MODE_STORE
                    product_id: "IMU_Product"
                  }
                }
                """),
        Example(
            "stream", .motionStart(MotionMetadata(session, mode: .stream, sensors: [0, 1])),
            text: """
                domain: DATA_COLLECTION
                opcode: HELLO
                id: 1
                start {
                  metadata {
                    campaign_id: "IMU_Campaign"
                    session_id: "IMU_Group"
                    trial_id: "run-1"
                    subject_id: "IMU_Subject"
                    mode: DATA_COLLECTION_MODE_STREAMING
                    sensor_ids: 0
                    sensor_ids: 1
                    product_id: "IMU_Product"
                  }
                }
                """),
        Example(
            "download from an offset", .motionDownload(session, offset: 4096),
            text: """
                domain: DATA_COLLECTION
                opcode: GEAR_LED
                id: 1
                trial_data {
                  campaign_id: "IMU_Campaign"
                  session_id: "IMU_Group"
                  trial_id: "run-1"
                  subject_id: "IMU_Subject"
                  sensor_id: 0
                  offset: 4096
                  product_id: "IMU_Product"
                }
                """),
        Example(
            "erase a session", .motionErase(session),
            text: """
                domain: DATA_COLLECTION
                opcode: GEAR_HAPTIC
                id: 1
                erase_trial_data {
                  campaign_id: "IMU_Campaign"
                  session_id: "IMU_Group"
                  trial_id: "run-1"
                  product_id: "IMU_Product"
                  subject_id: "IMU_Subject"
                }
                """),
        Example(
            "low sample rates", hex: "08 00 10 0B 18 01 EA 44 06 0A 04 20 05 40 00", .motionRates(.low),
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

    private static func module(_ opcode: String, _ body: String) -> String {
        """
        domain: BASE
        opcode: \(opcode)
        id: 1
        \(body) {
          module {
            name: "IMUModule"
            vendor_id: 293089480
            product_id: 4013841288
            module_id: 1024190291
          }
        }
        """
    }
}

/// Responses about motion data.
extension Example where Message == Response {
    static let motion: [Example] = [
        Example(
            "motion started", Response(id: 1, body: .motionStart(MotionStatusResponse(.logging))),
            text: body("start", 1)),
        Example(
            "motion stopped", Response(id: 1, body: .motionStop(MotionStopResponse(.idle, timestamp: 7))),
            text: """
                id: 1
                status: 0
                stop {
                  timestamp: 7
                  dc_status: 0
                }
                """),
        Example(
            "motion status", Response(id: 1, body: .motionStatus(MotionStatusResponse(.lowBattery))),
            text: body("collection_status", 7)),
        Example(
            "sessions follow", Response(id: 1, body: .motionSessionList(MotionStatusResponse(.idle))),
            text: body("trial_list", 0)),
        Example(
            "transfer begins", Response(id: 1, body: .motionDownload(MotionDownloadResponse(.transferring))),
            text: body("trial_data", 2)),
        Example(
            "erasing begins", Response(id: 1, body: .motionErase(MotionStatusResponse(.erasing))),
            text: body("erase_trial_data", 3)),
        Example(
            "erasing of all begins", Response(id: 1, body: .motionEraseAll(MotionStatusResponse(.erasing))),
            text: body("erase_all_data", 3)),
    ]

    private static func body(_ name: String, _ status: Int) -> String {
        """
        id: 1
        status: 0
        \(name) {
          dc_status: \(status)
        }
        """
    }
}

/// Notifications about modules and motion data.
extension Example where Message == Notification {
    static let motion: [Example] = [
        Example(
            "loaded module", .loaded(.motion, status: .ok),
            text: """
                domain: BASE
                opcode: LOAD_MODULE
                component_id: 0
                load_module_notif {
                  status: 0
                  module {
                    name: "IMUModule"
                    vendor_id: 293089480
                    product_id: 4013841288
                    module_id: 1024190291
                  }
                }
                """),
        Example(
            "session of a list",
            .session(StoredMotionSession(id: session, byteCount: 27_309, crc: 0xBEEF), index: 1, total: 3),
            text: """
                domain: DATA_COLLECTION
                opcode: DEVICEINFO
                trial_list {
                  trial {
                    trial_id: "run-1"
                    trial_data {
                      subject_id: "IMU_Subject"
                      sensor_data {
                        sensor_id: 0
                        fsize: 27309
                        crc16: 48879
                      }
                    }
                    campaign_id: "IMU_Campaign"
                    session_id: "IMU_Group"
                    product_id: "IMU_Product"
                  }
                  total_trials: 3
                  trial_index: 1
                }
                """),
        Example(
            "no session", .session(nil, index: 0, total: 0),
            text: """
                domain: DATA_COLLECTION
                opcode: DEVICEINFO
                trial_list {
                  total_trials: 0
                }
                """),
        Example(
            "end of erasing", .status(.idle),
            text: """
                domain: BASE
                opcode: ERROR
                component_id: 0
                error_notification {
                  subsystem: 9
                  errorcode: 0
                }
                """),
    ]
}
