import EventLoop
import Foundation
import MQTTTypes
import TestSupport
import Testing

@Suite("A command to a tag is executed, or rejected with one result and without a request to the tag")
struct TagCommandTests {
    @Test("led/set")
    func led() async throws {
        try await inWorld { world in
            try await world.connected()
            let topic = "jacquard/tag/0001/led/set"
            try await world.succeeds(
                topic, #"{"state":"ON","color":{"r":255,"g":0,"b":0},"brightness":255,"effect":"breathe","flash":1}"#)
            try await world.succeeds(topic, ##"{"color":"#00ff00","pattern":"breathing","duration_ms":2000}"##)
            try await world.succeeds(
                topic,
                ##"{"frames":[{"color":"#0000ff","duration_ms":100}],"duration_ms":2000,"resumable":true,"play":"toggle"}"##
            )
            try await world.succeeds(topic, #"{"halt_all":true}"#)
            try await until("four words for the tag") { world.told("led").count == 4 }
            let told = world.told("led")
            #expect(told.prefix(3).map { $0["color"] as? String } == ["#ff0000", "#00ff00", "#0000ff"])
            #expect(told[1]["pattern"] as? String == "breathing")
            #expect(told[2]["play"] as? String == "toggle")
            #expect(told[2]["resumable"] as? Bool == true)
            #expect(told[3]["halt_all"] as? Bool == true)
            try await world.refuses(
                topic,
                [
                    ("", "invalid_argument"), ("{", "invalid_json"), ("blink blink", "invalid_json"),
                    ("[1]", "invalid_argument"), (#"{"brightness":256}"#, "invalid_argument"),
                    (#"{"frames":[]}"#, "invalid_argument"), (#"{"effect":"disco"}"#, "invalid_argument"),
                    (#"{"state":"MAYBE"}"#, "invalid_argument"), (#"{"state":"ON","ttl_ms":-1}"#, "invalid_argument"),
                ])
            try await until("the report of the simulator") { world.told("led").count == 4 }
            try await world.simulate("attach 0001 backpack")
            try await until("the backpack is known") {
                let gear = world.observer.document("jacquard/tag/0001/gear")
                return gear["product"] as? String == "Cit-e Backpack" && gear["firmware"] is String
            }
            try await world.succeeds(topic, ##"{"color":"#ff00ff","component":"gear"}"##)
            #expect(world.told("led").map { $0["component"] as? String } == ["tag", "tag", "tag", "tag", "gear"])
        }
    }

    @Test("haptic/set")
    func haptic() async throws {
        try await inWorld { world in
            try await world.connected()
            let topic = "jacquard/tag/0001/haptic/set"
            try await world.succeeds(
                topic, #"{"pattern":"sine_increase","on_ms":200,"off_ms":100,"amplitude":80,"repeat":2}"#)
            try await world.succeeds(topic, "stop")
            try await until("two words for the tag") { world.told("haptic").count == 2 }
            #expect(world.told("haptic")[0]["amplitude"] as? Int == 80)
            try await world.refuses(
                topic,
                [
                    ("", "invalid_argument"), ("{", "invalid_json"), ("buzz", "invalid_argument"),
                    (#"{"pattern":"short","amplitude":101}"#, "invalid_argument"),
                    (#"{"pattern":"short","repeat":0}"#, "invalid_argument"),
                    (#"{"pattern":"short","on_ms":"long"}"#, "invalid_argument"),
                ])
            try await until("the report of the simulator") { world.told("haptic").count == 2 }
        }
    }

    @Test("name/set; the tag returns under its new name")
    func name() async throws {
        try await inWorld { world in
            try await world.connected()
            let topic = "jacquard/tag/0001/name/set"
            try await world.refuses(
                topic,
                [
                    ("", "invalid_argument"), ("twenty-two bytes long!", "invalid_argument"),
                    (#"{"name":7}"#, "invalid_argument"), (#"{"name":"a\u0007"}"#, "invalid_argument"),
                    ("{", "invalid_json"),
                ])
            try await world.succeeds(topic, "Left sleeve")
            try await until("the tag was told") { world.told("renamed").count == 1 }
            try await until("it has come back with the name") {
                world.told("connected").count == 2 && world.isConnected("0001")
                    && world.observer.document("jacquard/tag/0001/info")["name"] as? String == "Left sleeve"
            }
            try await world.refuses(topic, [("Left sleeve", "invalid_argument")])
        }
    }

    @Test("touch_mode/set; touches are published on T/touch")
    func touchMode() async throws {
        try await inWorld { world in
            try await world.connected()
            let topic = "jacquard/tag/0001/touch_mode/set"
            try await world.succeeds(topic, "continuous")
            #expect(world.observer.latest("jacquard/tag/0001/touch_mode") == "continuous")
            try await world.simulate("touch 0001 9,0,1,2,3,4,5,6,7,8,9,10,11")
            try await until("a touch") { world.observer.latest("jacquard/tag/0001/touch") != nil }
            let touch = world.observer.document("jacquard/tag/0001/touch")
            #expect(touch["proximity"] is Int && touch["seq"] is Int)
            #expect((touch["lines"] as? [Int])?.count == 12)
            #expect(world.observer.messages.allSatisfy { !$0.isRetained || $0.topic != "jacquard/tag/0001/touch" })
            try await world.refuses(
                topic,
                [
                    ("", "invalid_argument"), ("both", "invalid_argument"), ("{", "invalid_json"),
                    (#"{"touch_mode":1}"#, "invalid_argument"),
                ])
            try await world.simulate("detach 0001")
            try await until("no gear") {
                world.observer.document("jacquard/tag/0001/gear")["attached"] as? Bool == false
            }
            try await world.refuses(topic, [("gesture", "unsupported")])
        }
    }

    @Test("sleep/set without motion; the tag is left alone until a command needs it")
    func rest() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.succeeds("jacquard/tag/0001/sleep/set", "{}")
            try await until("it is left alone") {
                world.observer.document("jacquard/tag/0001/connection")["state"] as? String == "disconnected"
            }
            #expect(world.observer.latest("jacquard/tag/0001/availability") == "offline")
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
            try await until("it is back") { world.isConnected("0001") }
        }
    }

    @Test("sleep/set; the tag disconnects, and reconnects when it is moved")
    func sleep() async throws {
        try await inWorld { world in
            try await world.connected()
            let topic = "jacquard/tag/0001/sleep/set"
            try await world.refuses(
                topic,
                [
                    ("soon", "invalid_argument"), ("{", "invalid_json"), (#"{"timeout_s":-1}"#, "invalid_argument"),
                    (#"{"timeout_s":1.5}"#, "invalid_argument"), (#"{"wake_on_motion":"yes"}"#, "invalid_argument"),
                ])
            try await world.succeeds(topic, #"{"timeout_s":0,"wake_on_motion":true}"#)
            try await until("it is away") { world.observer.latest("jacquard/tag/0001/availability") == "offline" }
            #expect(world.told("disconnect").map { $0["wake_on_motion"] as? Bool } == [true])
            try await world.simulate("button 0001")
            try await until("it is back") { world.isConnected("0001") }
        }
    }
}
