import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("A query of a tag returns its value, or is rejected with one result and without a request to the tag")
struct TagQueryTests {
    /// What no question takes.
    private static let nonsense: [(payload: String, code: String)] = [
        ("now", "invalid_argument"), ("{", "invalid_json"), ("[]", "invalid_argument"),
        (#"{"id":7}"#, "invalid_argument"), (#"{"ttl_ms":"long"}"#, "invalid_argument"),
    ]

    @Test("battery/get")
    func battery() async throws {
        try await inWorld { world in
            try await world.connected()
            let topic = "jacquard/tag/0001/battery/get"
            try await world.simulate("battery 0001 42 charging")
            let data = try await world.succeeds(topic)
            #expect(data["level"] as? Int == 42)
            #expect(data["charging"] as? Bool == true)
            #expect(world.observer.latest("jacquard/tag/0001/battery/level") == "42")
            try await world.refuses(topic, Self.nonsense)
        }
    }

    @Test("rssi/get")
    func signal() async throws {
        try await inWorld { world in
            try await world.connected()
            let topic = "jacquard/tag/0001/rssi/get"
            let data = try await world.succeeds(topic)
            let rssi = try #require(data["rssi"] as? Int)
            #expect((-127...20).contains(rssi))
            #expect(world.observer.latest("jacquard/tag/0001/rssi") == "\(rssi)")
            try await world.refuses(topic, Self.nonsense)
        }
    }

    @Test("info/get, of the tag, its gear and its loadable modules")
    func information() async throws {
        try await inWorld { world in
            try await world.connected()
            let topic = "jacquard/tag/0001/info/get"
            #expect(try await world.succeeds(topic)["firmware"] as? String == "1.96.0")
            let gear = try await world.succeeds(topic, #"{"component":"gear"}"#)
            #expect(gear["product"] as? String == "Trucker Jacket")
            let modules = try await world.succeeds(topic, #"{"component":"modules"}"#)["modules"] as? [[String: Any]]
            #expect(modules?.map { $0["name"] as? String } == ["IMUModule"])
            try await world.refuses(topic, Self.nonsense + [(#"{"component":"shoe"}"#, "invalid_argument")])
        }
    }

    @Test("config/set and config/get, in all eight types")
    func configuration() async throws {
        let values = [
            ("bool", "true"), ("uint32", "4294967295"), ("uint64", "18446744073709551615"), ("int32", "-2147483648"),
            ("int64", "-9223372036854775808"), ("float", "1.5"), ("double", "-0.1"), ("string", #""grün""#),
        ]
        try await inWorld { world in
            try await world.connected()
            for (type, value) in values {
                try await world.succeeds(
                    "jacquard/tag/0001/config/set", #"{"key":"my-\#(type)","type":"\#(type)","value":\#(value)}"#)
                try await world.succeeds("jacquard/tag/0001/config/get", #"{"key":"my-\#(type)"}"#)
                let result = try #require(world.observer.latest("jacquard/tag/0001/config/result"))
                #expect(result.contains(#""data":{"key":"my-\#(type)","type":"\#(type)","value":\#(value)}"#))
            }
            #expect(world.told("stored").count == values.count)
        }
    }

    @Test("config/get of a missing key has null for type and value")
    func missingKey() async throws {
        try await inWorld { world in
            try await world.connected()
            let data = try await world.succeeds("jacquard/tag/0001/config/get", #"{"key":"nowhere"}"#)
            #expect(data["value"] is NSNull && data["type"] is NSNull)
        }
    }

    @Test("invalid config/get and config/set")
    func configurationNonsense() async throws {
        let key = String(repeating: "k", count: 129)
        try await inWorld { world in
            try await world.connected()
            try await world.refuses(
                "jacquard/tag/0001/config/get",
                [
                    ("", "invalid_argument"), ("key", "invalid_argument"), ("{", "invalid_json"),
                    (#"{"key":""}"#, "invalid_argument"), (#"{"key":"\#(key)"}"#, "invalid_argument"),
                    (#"{"key":"k","vendor_id":"Google"}"#, "invalid_argument"),
                ])
            try await world.refuses(
                "jacquard/tag/0001/config/set",
                [
                    ("", "invalid_argument"), (#"{"key":"k","value":7}"#, "invalid_argument"),
                    (#"{"key":"k","type":"int","value":7}"#, "invalid_argument"),
                    (#"{"key":"k","type":"uint32"}"#, "invalid_argument"),
                    (#"{"key":"k","type":"uint32","value":-1}"#, "invalid_argument"),
                    (#"{"key":"k","type":"int32","value":2147483648}"#, "invalid_argument"),
                    (#"{"key":"k","type":"bool","value":1}"#, "invalid_argument"),
                    (#"{"key":"k","type":"string","value":7}"#, "invalid_argument"),
                ])
            #expect(world.told("stored").isEmpty)
        }
    }
}
