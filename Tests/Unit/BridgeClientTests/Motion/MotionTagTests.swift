import JSON
import Testing

@testable import BridgeClient

@Suite("imu with a tag")
struct MotionTagTests {
    @Test("a stream as CSV has the columns and units of a file")
    func units() {
        var first: UInt32?
        let document: JSONValue = [
            "accel_gyro": [[-139, 0, 2048, -16384, 1, 0], [2, 0, 0, 0, 0, 0]], "ticks": 1000, "step": 157,
        ]
        #expect(
            MotionTagCommand.lines(document, &first) == [
                "0.000,-0.06787109375,0.0,1.0,-1000.0,0.06103515625,0.0", "5.024,0.0009765625,0.0,0.0,0.0,0.0,0.0",
            ])
        #expect(MotionTable.Columns.milliseconds.title == "timestamp,ax_g,ay_g,az_g,gx_dps,gy_dps,gz_dps")
    }

    @Test("the time of a stream continues when the tag's clock wraps around")
    func wrap() {
        var first: UInt32? = .max - 156
        let document: JSONValue = ["accel_gyro": [[0, 0, 0, 0, 0, 0]], "ticks": 0, "step": 157]
        #expect(MotionTagCommand.lines(document, &first) == ["5.024,0.0,0.0,0.0,0.0,0.0,0.0"])
    }
}
