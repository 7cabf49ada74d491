"""A Bluetooth proxy made of aioesphomeapi's messages and of the Python package noiseprotocol, with one tag whose firmware is that of
`jacquard-simulator --stdio`. None of the code of the project's client is used.
"""

from __future__ import annotations

import asyncio
import json

from aioesphomeapi import api_pb2 as api
from aioesphomeapi.core import MESSAGE_TYPE_TO_PROTO
from noise.connection import NoiseConnection

TYPES = {message: number for number, message in MESSAGE_TYPE_TO_PROTO.items()}
TAG = 0xF00000000001
SERVICE = "d2f2bf0d-d165-445c-b0e1-2d6b642ec57b"
# UUID, word of the firmware, handle, properties
CHARACTERISTICS = [
    ("d2f2eabb-d165-445c-b0e1-2d6b642ec57b", "command", 18, 0x0C),
    ("d2f2b8d0-d165-445c-b0e1-2d6b642ec57b", "response", 20, 0x10),
    ("d2f2b8d1-d165-445c-b0e1-2d6b642ec57b", "notify", 23, 0x10),
    ("d2f2b8d2-d165-445c-b0e1-2d6b642ec57b", "raw", 26, 0x1C),
]
WORDS = {handle: word for _, word, handle, _ in CHARACTERISTICS}
HANDLES = {word: handle for handle, word in WORDS.items()}


def halves(uuid: str) -> list[int]:
    """A UUID as the two numbers of the API."""
    digits = uuid.replace("-", "")
    return [int(digits[:16], 16), int(digits[16:], 16)]


def varint(value: int) -> bytes:
    """A number as a varint."""
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + varint(value >> 7)


class Tag:
    """A tag's firmware; it advertises, and has one link at most."""

    def __init__(self) -> None:
        self.advertisement = b""
        self.client: Client | None = None

    async def start(self, program: str) -> None:
        """Starts the firmware."""
        self.process = await asyncio.create_subprocess_exec(
            program, "--stdio", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        self.reading = asyncio.create_task(self.read())

    async def stop(self) -> None:
        """Ends the firmware."""
        self.process.terminate()
        await self.process.wait()
        await self.reading

    async def read(self) -> None:
        """Handles the lines of the firmware until it ends."""
        async for line in self.process.stdout:
            message = json.loads(line)
            if "advertise" in message:
                self.advertisement = self.structures(message["advertise"])
            elif "notify" in message and self.client:
                self.client.send(api.BluetoothGATTNotifyDataResponse(
                    address=TAG, handle=HANDLES[message["on"]], data=bytes.fromhex(message["notify"])))
            elif "drop_link" in message and self.client:
                self.client.unlink(0x13)

    @staticmethod
    def structures(advertisement: dict | None) -> bytes:
        """The bytes of an advertisement and its scan response."""
        if not advertisement:
            return b""
        parts = [bytes([1, 6])]
        for uuid in advertisement["services"]:
            parts.append(bytes([7]) + bytes.fromhex(uuid.replace("-", ""))[::-1])
        for company, data in advertisement["manufacturer_data"].items():
            parts.append(bytes([0xFF]) + int(company).to_bytes(2, "little") + bytes.fromhex(data))
        parts.append(bytes([9]) + advertisement["name"].encode())
        return b"".join(bytes([len(part)]) + part for part in parts)

    def do(self, **message: object) -> None:
        """Sends a line to the firmware."""
        self.process.stdin.write((json.dumps(message) + "\n").encode())


class Client:
    """One connection of a client, with what the proxy knows about it."""

    def __init__(self, proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.proxy, self.reader, self.writer = proxy, reader, writer
        self.noise: NoiseConnection | None = None
        self.is_linked = False
        self.last_frame = b""

    # Frames

    async def frame(self) -> bytes:
        """The payload of an encrypted frame."""
        header = await self.reader.readexactly(3)
        assert header[0] == 1, header
        return await self.reader.readexactly(int.from_bytes(header[1:], "big"))

    def write_frame(self, payload: bytes) -> None:
        """Writes an encrypted frame."""
        self.last_frame = b"\x01" + len(payload).to_bytes(2, "big") + payload
        self.writer.write(self.last_frame)

    async def shake_hands(self) -> bool:
        """Performs the handshake; whether the client has the same key."""
        hello = await self.frame()
        prologue = b"NoiseAPIInit" + len(hello).to_bytes(2, "big") + hello
        self.write_frame(b"\x01loft\x00aabbccddeeff\x00")
        noise = NoiseConnection.from_name(b"Noise_NNpsk0_25519_ChaChaPoly_SHA256")
        noise.set_as_responder()
        noise.set_psks(self.proxy.key)
        noise.set_prologue(prologue)
        noise.start_handshake()
        first = await self.frame()
        try:
            noise.read_message(first[1:])
        except Exception:  # noqa: BLE001
            self.write_frame(b"\x01Handshake MAC failure")
            return False
        self.write_frame(b"\x00" + bytes(noise.write_message()))
        self.noise = noise
        return True

    async def varint(self) -> int:
        """A varint of a plain frame."""
        value = shift = 0
        while True:
            byte = (await self.reader.readexactly(1))[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    async def message(self) -> object | None:
        """The next message; None for one of an unknown type."""
        if self.noise:
            plain = bytes(self.noise.decrypt(await self.frame()))
            number, body = int.from_bytes(plain[:2], "big"), plain[4:]
        else:
            assert await self.reader.readexactly(1) == b"\x00"
            length, number = await self.varint(), await self.varint()
            body = await self.reader.readexactly(length)
        return MESSAGE_TYPE_TO_PROTO[number].FromString(body) if number in MESSAGE_TYPE_TO_PROTO else None

    def send(self, message: object) -> None:
        """Sends a message."""
        if self.proxy.fault == "silent":
            return
        number, body = TYPES[type(message)], message.SerializeToString()
        if self.noise:
            header = number.to_bytes(2, "big") + len(body).to_bytes(2, "big")
            self.write_frame(bytes(self.noise.encrypt(header + body)))
        else:
            self.writer.write(b"\x00" + varint(len(body)) + varint(number) + body)

    # Messages

    async def serve(self) -> None:
        """Serves the client until it leaves."""
        if self.proxy.key and not await self.shake_hands():
            return
        advertising = asyncio.create_task(self.advertise())
        try:
            while True:
                await self.handle(await self.message())
        finally:
            advertising.cancel()

    @property
    def is_served(self) -> bool:
        """Whether the proxy serves this client, and no other."""
        return self.proxy.subscriber is self and self.proxy.fault != "taken"

    def answer(self, message: object) -> None:
        """Sends a message that only a subscribed client receives."""
        if self.is_served:
            self.send(message)

    async def advertise(self) -> None:
        """Passes on the advertisements of the tag."""
        while True:
            await asyncio.sleep(0.05)
            data = self.proxy.tag.advertisement
            if data and not self.is_linked:
                one = api.BluetoothLERawAdvertisement(address=TAG, rssi=-55, address_type=1, data=data)
                self.answer(api.BluetoothLERawAdvertisementsResponse(advertisements=[one]))

    def free(self) -> object:
        """The number of free links."""
        limit = self.proxy.slots
        allocated = [TAG] if self.is_linked else []
        return api.BluetoothConnectionsFreeResponse(
            free=max(0, limit - len(allocated)), limit=limit, allocated=allocated + [0] * (limit - len(allocated)))

    def unlink(self, reason: int) -> None:
        """Ends the link."""
        if self.is_linked:
            self.is_linked = False
            self.proxy.tag.client = None
            self.proxy.tag.do(connected=False)
        self.answer(api.BluetoothDeviceConnectionResponse(address=TAG, connected=False, error=reason))
        self.answer(self.free())

    async def handle(self, message: object | None) -> None:
        """Handles a message of the client."""
        self.proxy.received.append(type(message).__name__)
        match message:
            case api.HelloRequest():
                self.send(api.HelloResponse(
                    api_version_major=1, api_version_minor=14, server_info="loft (esphome v2026.10.0)", name="loft"))
            case api.DeviceInfoRequest():
                # A message that the client does not know.
                self.send(api.SubscribeLogsResponse(message=b"a line"))
                self.send(api.DeviceInfoResponse(
                    name="loft", mac_address="AA:BB:CC:DD:EE:FF", esphome_version="2026.10.0",
                    bluetooth_proxy_feature_flags=0xFF, bluetooth_mac_address="AA:BB:CC:DD:EE:01"))
            case api.PingRequest():
                self.send(api.PingResponse())
            case api.DisconnectRequest():
                self.send(api.DisconnectResponse())
                raise asyncio.IncompleteReadError(b"", 1)
            case api.SubscribeBluetoothLEAdvertisementsRequest(flags=1):
                self.proxy.subscriber = self
                self.answer(api.BluetoothScannerStateResponse(state=2, mode=1, configured_mode=1))
            case api.UnsubscribeBluetoothLEAdvertisementsRequest():
                self.proxy.subscriber = None
            case api.SubscribeBluetoothConnectionsFreeRequest():
                self.send(self.free())
            case api.BluetoothDeviceRequest():
                await self.device(message)
            case api.BluetoothGATTGetServicesRequest():
                self.services()
            case api.BluetoothGATTNotifyRequest():
                self.answer(api.BluetoothGATTNotifyResponse(address=TAG, handle=message.handle))
            case api.BluetoothGATTWriteDescriptorRequest():
                word = WORDS[message.handle - 1]
                self.proxy.tag.do(**{"subscribe" if message.data == b"\x01\x00" else "unsubscribe": word})
                self.answer(api.BluetoothGATTWriteResponse(address=TAG, handle=message.handle))
            case api.BluetoothGATTWriteRequest():
                self.proxy.tag.do(write=message.data.hex(), on=WORDS[message.handle])
                self.answer(api.BluetoothGATTWriteResponse(address=TAG, handle=message.handle))

    async def device(self, message: api.BluetoothDeviceRequest) -> None:
        """Handles a request about the tag or about any other device."""
        if message.request_type == 5 and message.address == TAG:
            assert message.has_address_type and message.address_type == 1, message
            if self.proxy.slots == 0:
                self.answer(api.BluetoothDeviceConnectionResponse(address=TAG, connected=False))
                return
            self.is_linked = True
            self.proxy.tag.client = self
            self.answer(self.free())
            self.answer(api.BluetoothDeviceConnectionResponse(address=TAG, connected=True, mtu=247))
            self.proxy.tag.do(connected=True, mtu=247)
        elif message.request_type == 1 and message.address == TAG:
            self.unlink(0x16)
        else:
            self.answer(api.BluetoothDeviceConnectionResponse(address=message.address, connected=False))
            self.answer(self.free())

    def services(self) -> None:
        """Sends the services, in two messages and in both forms of a UUID."""
        characteristics = [
            api.BluetoothGATTCharacteristic(
                uuid=halves(uuid), handle=handle, properties=properties,
                descriptors=[api.BluetoothGATTDescriptor(short_uuid=0x2902, handle=handle + 1)]
                if properties & 0x10 else [])
            for uuid, _, handle, properties in CHARACTERISTICS
        ]
        self.answer(api.BluetoothGATTGetServicesResponse(
            address=TAG, services=[api.BluetoothGATTService(short_uuid=0x1800, handle=1)]))
        self.answer(api.BluetoothGATTGetServicesResponse(
            address=TAG,
            services=[api.BluetoothGATTService(uuid=halves(SERVICE), handle=16, characteristics=characteristics)]))
        self.answer(api.BluetoothGATTGetServicesDoneResponse(address=TAG))


class Proxy:
    """The proxy, on a port of the loopback interface. `fault` is empty, `silent` or `taken`."""

    def __init__(self, key: bytes | None) -> None:
        self.key = key
        self.fault = ""
        self.slots = 3
        self.subscriber: Client | None = None
        self.received: list[str] = []
        self.tag = Tag()
        self.connections = 0

    async def start(self, program: str) -> int:
        """Listens; the port."""
        await self.tag.start(program)
        self.server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves a client."""
        self.connections += 1
        client = Client(self, reader, writer)
        try:
            await client.serve()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            client.unlink(0x16)
            if self.subscriber is client:
                self.subscriber = None
            writer.close()

    async def stop(self) -> None:
        """Ends it."""
        self.server.close()
        await self.tag.stop()
