"""A bridge for Jacquard tags as a good Python developer would write it: bleak,
paho-mqtt with its network thread, and the protobuf package. Finds the tags by
serial, connects, carries out the handshake, publishes facts, gestures and touch,
and obeys LED and touch mode commands.

usage: python_bridge.py PORT BASE-TOPIC INSTANCE SERIAL,SERIAL,... signal|acquire
(jacquard_pb2, made of Tests/Support/jacquard.proto, must be on PYTHONPATH)"""
import asyncio
import collections
import datetime
import json
import secrets
import signal
import sys
import time

import paho.mqtt.client as mqtt
from bleak import BleakClient, BleakScanner
from bleak.backends.device import BLEDevice
from bleak.backends.scanner import AdvertisementData
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

import jacquard_pb2 as pb

COMPANY = 0x00E0
COMMAND, RESPONSE, NOTIFY, RAW = (f"d2f2{x}-d165-445c-b0e1-2d6b642ec57b" for x in ("eabb", "b8d0", "b8d1", "b8d2"))
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-"
GESTURES = {1: "double_tap", 2: "brush_in", 3: "brush_out", 7: "cover", 13: "brush_up", 14: "brush_down"}
PATTERNS = {"solid": 1, "breathing": 2, "pulsing": 3, "single_blink": 4, "double_blink": 5, "triple_blink": 6}


def serial_of(data: bytes) -> str:
    bits = int.from_bytes(data, "little")
    text = ""
    for i in range(len(data) * 8 // 6):
        code = bits >> 6 * i & 63
        if code == 63:
            break
        text += ALPHABET[code]
    return text


def fragments(packet: bytes, size: int = 61) -> list[bytes]:
    length, n = bytearray(), len(packet)
    while n > 127:
        length.append(n & 127 | 128)
        n >>= 7
    length.append(n)
    first = size - 1 - len(length)
    parts = [bytes(length) + packet[:first]] + [packet[i : i + size - 1] for i in range(first, len(packet), size - 1)]
    last = len(parts) - 1
    return [bytes([i | (0x80 if i == 0 else 0) | (0x40 if i == last else 0)]) + part for i, part in enumerate(parts)]


class Reassembler:
    def __init__(self) -> None:
        self.data = bytearray()
        self.length = self.next = 0

    def feed(self, value: bytes) -> bytes | None:
        """The packet that this fragment completes, if any."""
        if not value:
            return None
        head, at = value[0], 1
        if head & 0x80:
            self.length = shift = 0
            while True:
                byte = value[at]
                at += 1
                self.length |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
            self.data = bytearray(value[at:])
            self.next = 1
        elif self.length and head & 63 == self.next:
            self.data += value[1:]
            self.next += 1
        else:
            self.length = 0
            return None
        if not head & 0x40:
            return None
        length, self.length = self.length, 0
        return bytes(self.data) if len(self.data) == length else None


def now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


class Bridge:
    def __init__(self, port: int, base: str, instance: str) -> None:
        self.base, self.instance, self.boot = base, instance, secrets.token_hex(2)
        self.tags: dict[str, Tag] = {}
        self.expiry = Properties(PacketTypes.PUBLISH)
        self.expiry.MessageExpiryInterval = 5
        self.connecting = asyncio.Lock()
        self.loop = asyncio.get_running_loop()
        self.mqtt = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=f"jacquard-{instance}", protocol=mqtt.MQTTv5)
        self.mqtt.will_set(f"{base}/bridge/{instance}/state", "offline", 1, True)
        self.mqtt.on_connect, self.mqtt.on_message = self.on_connect, self.on_message
        self.mqtt.connect("127.0.0.1", port, keepalive=30)
        self.mqtt.loop_start()

    def on_connect(self, client, *_) -> None:
        client.subscribe([(f"{self.base}/tag/+/led/set", 1), (f"{self.base}/tag/+/touch_mode/set", 1)])
        client.publish(f"{self.base}/bridge/{self.instance}/state", "online", 1, True)

    def on_message(self, _client, _userdata, message) -> None:  # on paho's thread
        serial, _, command = message.topic[len(self.base) + len("/tag/") :].partition("/")
        if serial in self.tags:
            self.loop.call_soon_threadsafe(self.command, self.tags[serial], command, message.payload)

    def command(self, tag: "Tag", command: str, payload: bytes) -> None:
        self.loop.create_task(tag.led(payload) if command == "led/set" else tag.touch_mode(payload == b"continuous"))

    def publish(self, serial: str, topic: str, value, qos: int = 1, retain: bool = True, properties=None) -> None:
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))
        self.mqtt.publish(f"{self.base}/tag/{serial}/{topic}", text, qos, retain, properties)

    async def statistics(self) -> None:
        while True:
            await asyncio.sleep(1)
            for tag in self.tags.values():
                if tag.changed:
                    tag.changed = False
                    self.publish(tag.serial, "stats", {"boot": self.boot, "gestures": tag.counts, "last_seq": tag.seq, "time": now()})


class Tag:
    def __init__(self, bridge: Bridge, serial: str, device: BLEDevice, mode: str) -> None:
        self.bridge, self.serial, self.device = bridge, serial, device
        self.bluez = {"use_start_notify": mode != "acquire"}
        self.client = BleakClient(device)
        self.responses, self.notifications = Reassembler(), Reassembler()
        self.id = self.seq = self.gear = 0
        self.turn = asyncio.Lock()  # one request at a time
        self.answer: asyncio.Future[pb.Response] | None = None
        self.counts: collections.Counter[str] = collections.Counter()
        self.changed = False

    def publish(self, topic: str, value, **how) -> None:
        self.bridge.publish(self.serial, topic, value, **how)

    async def run(self) -> None:
        self.publish("connection", {"state": "connecting", "since": now(), "error": None})
        async with self.bridge.connecting:  # BlueZ connects one device at a time
            await self.client.connect()
        await self.client.start_notify(RESPONSE, self.on_response, bluez=self.bluez)
        await self.client.start_notify(NOTIFY, self.on_notification, bluez=self.bluez)
        await self.client.start_notify(RAW, lambda *_: None, bluez=self.bluez)
        hello = (await self.request(pb.Request(domain=0, opcode=1), 2, True)).hello
        if not hello.protocol_min == hello.protocol_max == 2:
            raise RuntimeError("unknown protocol version")
        await self.request(pb.Request(domain=0, opcode=2, begin=pb.BeginRequest(protocol=2)), 2, True)
        info = (await self.request(pb.Request(domain=0, opcode=4, component_id=0, device_info=pb.DeviceInfoRequest(component=0)), 2, True)).device_info
        self.publish("info", {"id": self.serial, "serial": self.serial, "address": self.device.address, "uuid": info.uuid,
                              "firmware": f"{info.firmware_major}.{info.firmware_minor}.{info.firmware_point}",
                              "vendor_id": info.vendor_id, "product_id": info.product_id, "bridge": self.bridge.instance})
        await self.queue_depth(14)
        self.publish("connection", {"state": "connected", "since": now(), "error": None})
        self.publish("availability", "online")

    async def request(self, request: pb.Request, timeout: float = 8, with_response: bool = False) -> pb.Response:
        async with self.turn:
            self.id = self.id % 254 + 1
            request.id = self.id
            self.answer = self.bridge.loop.create_future()
            try:
                async with asyncio.timeout(timeout):
                    for fragment in fragments(request.SerializeToString()):
                        await self.client.write_gatt_char(COMMAND, fragment, response=with_response)
                    response = await self.answer
            finally:
                self.answer = None
        if response.status:
            raise RuntimeError(f"the tag answered with status {response.status}")
        return response

    async def queue_depth(self, depth: int) -> None:
        await self.request(pb.Request(domain=0, opcode=11, config_write=pb.UJTConfigWriteRequest(ble_config=pb.BleConfiguration(notif_queue_depth=depth))))

    async def touch_mode(self, continuous: bool) -> None:
        data = pb.DataChannelRequest(inference=int(not continuous), touch=int(continuous))
        await self.request(pb.Request(domain=8, opcode=7, component_id=self.gear, data=data))
        await self.queue_depth(2 if continuous else 14)
        self.publish("touch_mode", "continuous" if continuous else "gesture")

    async def led(self, payload: bytes) -> None:
        begun = time.monotonic()
        error = None
        try:
            want = json.loads(payload)
            rgb = int(want["color"].removeprefix("#"), 16)
            duration = want.get("duration_ms", 1000)
            frame = pb.LedPatternFrames(color=pb.Color(red=rgb >> 16, green=rgb >> 8 & 255, blue=rgb & 255), length_ms=duration)
            pattern = pb.LedPatternRequest(pattern_type=PATTERNS[want.get("pattern", "solid")], frames=[frame], duration_ms=duration,
                                    intensity_level=100, play_pause_toggle=0, resumable=False, halt_all=False)
            await self.request(pb.Request(domain=0, opcode=17, component_id=0, led_pattern_request=pattern))
        except Exception as e:
            error = {"code": type(e).__name__, "text": str(e)}
        self.publish("led/result", {"id": None, "status": "error" if error else "ok", "final": True, "data": {}, "error": error,
                                    "took_ms": int((time.monotonic() - begun) * 1000), "time": now(), "bridge": self.bridge.instance}, retain=False)

    async def attached(self) -> None:
        await self.touch_mode(False)
        await self.request(pb.Request(domain=8, opcode=4, component_id=self.gear, device_info=pb.DeviceInfoRequest(component=self.gear)))

    def on_response(self, _char, value: bytearray) -> None:
        packet = self.responses.feed(value)
        if packet is None or self.answer is None:
            return
        response = pb.Response.FromString(packet)
        if response.id == self.id and not self.answer.done():
            self.answer.set_result(response)

    def on_notification(self, _char, value: bytearray) -> None:
        packet = self.notifications.feed(value)
        if packet is None:
            return
        note = pb.Notification.FromString(packet)
        if note.HasField("data"):
            if note.data.HasField("inference_data"):
                self.gesture(note.data.inference_data.event)
            elif len(note.data.touch_data.diff_data_scaled) == 13:
                touch = note.data.touch_data
                self.publish("touch", {"seq": touch.sequence, "proximity": touch.diff_data_scaled[0],
                                       "lines": list(touch.diff_data_scaled[1:]), "time": now()}, qos=0, retain=False)
        elif note.HasField("battery_status_notification"):
            battery = note.battery_status_notification
            level = battery.battery_level
            self.publish("battery", {"level": level, "charging": battery.charging_status == pb.CHARGING, "time": now()})
            self.publish("battery/level", str(level))
        elif note.HasField("attached"):
            gear = note.attached
            self.publish("gear", {"attached": gear.attach_state, "vendor_id": gear.vendor_id, "product_id": gear.product_id, "time": now()})
            if gear.attach_state:
                self.gear = gear.component_id
                self.bridge.loop.create_task(self.attached())

    def gesture(self, number: int) -> None:
        name = GESTURES.get(number, "unknown")
        self.seq += 1
        self.counts[name] += 1
        self.changed = True
        self.publish("gesture", {"event_type": name, "gesture": number, "boot": self.bridge.boot, "seq": self.seq, "time": now(),
                                 "bridge": self.bridge.instance}, retain=False, properties=self.bridge.expiry)


async def main() -> None:
    port, base, instance, serials, mode = sys.argv[1:6]
    bridge = Bridge(int(port), base, instance)
    wanted = set(serials.split(","))
    all_seen = asyncio.Event()
    tasks = set()

    def on_advertisement(device: BLEDevice, advertisement: AdvertisementData) -> None:
        data = advertisement.manufacturer_data.get(COMPANY)
        serial = serial_of(data) if data else ""
        if serial in wanted and serial not in bridge.tags:
            tag = bridge.tags[serial] = Tag(bridge, serial, device, mode)
            tasks.add(asyncio.create_task(tag.run()))
            if len(bridge.tags) == len(wanted):
                all_seen.set()

    async with BleakScanner(on_advertisement):
        await all_seen.wait()
    tasks.add(asyncio.create_task(bridge.statistics()))
    for task in asyncio.as_completed(tasks):
        await task


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
asyncio.run(main())
