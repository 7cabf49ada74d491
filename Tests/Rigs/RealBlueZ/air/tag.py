"""A tag on the air: bumble plays the link and GATT, the firmware process decides every byte."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from typing import Any

from bumble import att, gatt, hci
from bumble.controller import Controller
from bumble.device import Connection, Device, DeviceConfiguration
from bumble.host import Host
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.transport.common import AsyncPipeSink

from adapter import SUPERVISION_TIMEOUT
from air import Air
from firmware import Firmware, Line
from low_energy import LowEnergyController

SERVICE = "D2F2BF0D-D165-445C-B0E1-2D6B642EC57B"
# The four characteristics of a tag by the names that the firmware gives them: UUID, properties.
CHARACTERISTICS = {
    "command": ("D2F2EABB-D165-445C-B0E1-2D6B642EC57B", ("write", "write_without_response")),
    "response": ("D2F2B8D0-D165-445C-B0E1-2D6B642EC57B", ("notify",)),
    "notify": ("D2F2B8D1-D165-445C-B0E1-2D6B642EC57B", ("notify",)),
    "raw": ("D2F2B8D2-D165-445C-B0E1-2D6B642EC57B", ("notify", "write", "write_without_response")),
}
# The smallest that carries a tag's fragments of 61 bytes: a client that assumes more fails here.
MTU = 64
ADVERTISING_INTERVAL_MS = 100
FLAGS, ALL_UUIDS_128, COMPLETE_NAME, MANUFACTURER_DATA = 0x01, 0x07, 0x09, 0xFF


class Tag:
    """One simulated tag. `say` is called with what it was told, for those who test."""

    def __init__(self, air: Air, number: int, firmware: Firmware, say: Callable[[Line], None]) -> None:
        self.air = air
        self.firmware = firmware
        self.say = say
        self.is_advertising = asyncio.Event()
        self.name = b""
        self.link: Connection | None = None
        self.ending: asyncio.Task[None] | None = None
        # The two top bits of a static random address are set.
        self.address = hci.Address(f"F0:00:00:00:00:{number:02X}", hci.Address.RANDOM_DEVICE_ADDRESS)
        self.controller = LowEnergyController(str(self.address), link=air)
        self.characteristics = {name: self._characteristic(name) for name in CHARACTERISTICS}
        self.device = self._device()

    async def run(self) -> None:
        """Switches the tag on, and serves it until its firmware ends."""
        await self.device.power_on()
        await self.firmware.run(self._take)

    def go_out_of_range(self) -> None:
        """Stops everything between tag and adapters; both sides lose their link when its timeout is over."""
        self._be_near([])

    def come_back(self) -> None:
        """Lets everything pass again."""
        self._be_near(list(self.air.adapters))

    def go_to(self, name: str) -> None:
        """In range of this adapter alone."""
        self._be_near([name])

    def _be_near(self, names: list[str]) -> None:
        for name, adapter in self.air.adapters.items():
            pair: frozenset[Controller] = frozenset((self.controller, adapter))
            if name in names:
                self.air.apart.discard(pair)
            else:
                self.air.apart.add(pair)
        asyncio.get_running_loop().call_later(SUPERVISION_TIMEOUT, self._time_out)

    def demand_pairing(self) -> None:
        """From now on it takes commands over an encrypted link only; pairing is Just Works."""
        self.characteristics["command"].permissions |= gatt.Characteristic.Permissions.WRITE_REQUIRES_ENCRYPTION

    def demand_encryption(self) -> None:
        """From now on every access to its characteristics takes an encrypted link; it does not ask for a pairing."""
        permissions = att.Attribute.Permissions
        for name, characteristic in self.characteristics.items():
            characteristic.permissions |= permissions.READ_REQUIRES_ENCRYPTION
            if name in ("command", "raw"):
                characteristic.permissions |= permissions.WRITE_REQUIRES_ENCRYPTION
        for attribute in self.device.gatt_server.attributes:
            if attribute.type == gatt.GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR:
                attribute.permissions |= permissions.WRITE_REQUIRES_ENCRYPTION

    def forget_bond(self) -> None:
        """Forgets the keys that it has made with adapters."""
        self.device.keystore = MemoryKeyStore()

    def drop_link(self) -> None:
        """Ends the connection from the tag's side."""
        if self.link is not None:
            reason = hci.HCI_ErrorCode.REMOTE_USER_TERMINATED_CONNECTION_ERROR
            self.ending = asyncio.create_task(self.link.disconnect(reason))

    # From bumble to the firmware

    def _connected(self, link: Connection) -> None:
        self.link = link
        link.on(Connection.EVENT_DISCONNECTION, self._disconnected)
        self.firmware.tell({"connected": True, "mtu": MTU})

    def _disconnected(self, reason: int) -> None:
        self.link = None
        self.firmware.tell({"connected": False})

    def _time_out(self) -> None:
        for adapter in self.air.adapters.values():
            link = self.controller.le_connections.get(adapter.public_address)
            if link is None or frozenset((self.controller, adapter)) not in self.air.apart:
                continue
            other = adapter.le_connections.get(link.self_address)
            if other is not None:
                adapter.lose(other)
            self.controller.lose(link)

    # From the firmware to bumble

    async def _take(self, line: Line) -> None:
        if "notify" in line:
            value = bytes.fromhex(line["notify"])
            await self.device.notify_subscribers(self.characteristics[line["on"]], value)
        elif "advertise" in line:
            await self._advertise(line["advertise"])
        elif "drop_link" in line:
            self.drop_link()
        else:
            self.say(line)

    async def _advertise(self, advertisement: Line | None) -> None:
        await self.device.stop_advertising()
        if advertisement is None:
            return
        # Flags, service and serial fill the advertisement; the name goes into the scan response.
        self.device.advertising_data = _field(FLAGS, b"\x06") + b"".join(
            [_field(ALL_UUIDS_128, bytes.fromhex(uuid.replace("-", ""))[::-1]) for uuid in advertisement["services"]]
            + [
                _field(MANUFACTURER_DATA, struct.pack("<H", int(company)) + bytes.fromhex(data))
                for company, data in advertisement["manufacturer_data"].items()
            ]
        )
        self.name = advertisement["name"].encode()
        self.device.scan_response_data = _field(COMPLETE_NAME, self.name)
        await self.device.start_advertising(
            advertising_interval_min=ADVERTISING_INTERVAL_MS, advertising_interval_max=ADVERTISING_INTERVAL_MS
        )
        self.is_advertising.set()

    # Construction

    def _device(self) -> Device:
        host = Host(self.controller, AsyncPipeSink(self.controller))
        device = Device(config=DeviceConfiguration(gap_service_enabled=False, address=self.address), host=host)
        device.keystore = MemoryKeyStore()
        device.gatt_server.max_mtu = MTU
        delegate = PairingDelegate(PairingDelegate.NO_OUTPUT_NO_INPUT)
        device.pairing_config_factory = lambda link: PairingConfig(sc=True, mitm=False, bonding=True, delegate=delegate)
        name: gatt.Characteristic[bytes] = gatt.Characteristic(
            gatt.GATT_DEVICE_NAME_CHARACTERISTIC,
            gatt.Characteristic.Properties.READ,
            gatt.Characteristic.Permissions.READABLE,
            gatt.CharacteristicValue(read=lambda link: self.name),
        )
        device.add_services(
            [
                gatt.Service(gatt.GATT_GENERIC_ACCESS_SERVICE, [name]),
                gatt.Service(SERVICE, list(self.characteristics.values())),
            ]
        )
        device.on(Device.EVENT_CONNECTION, self._connected)
        return device

    def _characteristic(self, name: str) -> gatt.Characteristic[bytes]:
        uuid, words = CHARACTERISTICS[name]
        kinds = gatt.Characteristic.Properties
        properties = kinds(0)
        for word in words:
            properties |= kinds[word.upper()]
        writes = kinds.WRITE | kinds.WRITE_WITHOUT_RESPONSE
        permissions = gatt.Characteristic.Permissions(0)
        if properties & writes:
            permissions |= gatt.Characteristic.Permissions.WRITEABLE
        characteristic: gatt.Characteristic[bytes] = gatt.Characteristic(
            uuid,
            properties,
            permissions,
            gatt.CharacteristicValue(
                write=lambda link, value: self.firmware.tell({"write": bytes(value).hex().upper(), "on": name})
            ),
        )
        characteristic.on(
            gatt.Characteristic.EVENT_SUBSCRIPTION,
            lambda link, notifies, indicates: self.firmware.tell({"subscribe" if notifies else "unsubscribe": name}),
        )
        return characteristic


def _field(kind: int, value: bytes) -> bytes:
    """One structure of an advertisement: length, type, value."""
    return bytes([len(value) + 1, kind]) + value
