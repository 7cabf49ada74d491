"""Checks the simulated proxy with aioesphomeapi, the client of Home Assistant.

usage: accepted.py PROGRAMS     the folder of jacquard-simulator
"""

from __future__ import annotations

import asyncio
import base64
import pathlib
import sys
import tempfile
import time

from aioesphomeapi import APIClient
from aioesphomeapi.core import InvalidEncryptionKeyAPIError, RequiresEncryptionAPIError

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Support"))
from ports import take_port  # noqa: E402
from programs import Simulator, Stopwatch  # noqa: E402

PROGRAMS = pathlib.Path(sys.argv[1])
KEY = base64.b64encode(bytes(range(32))).decode()
TAG = 0xF00000000001
NOTIFY = "d2f2b8d1-d165-445c-b0e1-2d6b642ec57b"
COMMAND = "d2f2eabb-d165-445c-b0e1-2d6b642ec57b"


class Failure(Exception):
    """A check has failed."""


async def until(what: str, condition, seconds: float = 10) -> None:
    """Waits until a condition holds."""
    watch = Stopwatch()
    while not condition():
        if watch.seconds() > seconds:
            raise Failure(f"{what}: not within {seconds} s")
        await asyncio.sleep(0.02)


class Session:
    """A client of Home Assistant's kind, and what it receives."""

    def __init__(self, port: int, key: str | None) -> None:
        self.client = APIClient("127.0.0.1", port, None, noise_psk=key)
        self.advertisements, self.states, self.free, self.scanner = {}, [], [], []
        self.is_stopped = False

    async def open(self) -> None:
        """Connects and subscribes."""
        async def stopped(_: bool) -> None:
            self.is_stopped = True

        await self.client.connect(on_stop=stopped, login=True)
        self.info = await self.client.device_info()
        self.client.subscribe_bluetooth_scanner_state(self.scanner.append)
        self.client.subscribe_bluetooth_le_raw_advertisements(self.heard)
        self.client.subscribe_bluetooth_connections_free(
            lambda free, limit, allocated: self.free.append((free, limit, list(allocated))))

    def heard(self, message) -> None:
        """Collects advertisements."""
        for one in message.advertisements:
            self.advertisements[one.address] = one

    async def link(self, address: int = TAG) -> None:
        """Connects a tag that has advertised."""
        await until("an advertisement", lambda: address in self.advertisements)
        await self.client.bluetooth_device_connect(
            address, lambda *state: self.states.append(state), feature_flags=0xFF,
            address_type=self.advertisements[address].address_type, timeout=10)


def handle(services, uuid: str):
    """A characteristic of a list of services."""
    for service in services.services:
        for one in service.characteristics:
            if one.uuid == uuid:
                return one
    raise Failure(f"no characteristic {uuid}")


async def works(tags: Simulator, session: Session) -> None:
    """Everything that Home Assistant's client does with a proxy."""
    await session.open()
    if session.info.bluetooth_proxy_feature_flags != 0xFF or session.info.name != "simulated":
        raise Failure(f"properties {session.info}")
    await until("the scanner's state", lambda: session.scanner)
    await session.link()
    if session.states != [(True, 247, 0)]:
        raise Failure(f"states {session.states}")
    services = await session.client.bluetooth_gatt_get_services(TAG)
    notify, values = handle(services, NOTIFY), []
    await session.client.bluetooth_gatt_start_notify(TAG, notify.handle, lambda _, data: values.append(bytes(data)))
    descriptor = next(one for one in notify.descriptors if one.uuid.startswith("00002902"))
    await session.client.bluetooth_gatt_write_descriptor(TAG, descriptor.handle, b"\x01\x00")
    tags.type("gesture 0001 double_tap")
    await until("a gesture", lambda: values)
    await session.client.bluetooth_gatt_write(TAG, handle(services, COMMAND).handle, b"\x00", True)
    await session.client.bluetooth_gatt_write(TAG, handle(services, COMMAND).handle, b"\x00", False)
    pairing = await session.client.bluetooth_device_pair(TAG)
    if not pairing.paired:
        raise Failure(f"pairing {pairing}")
    await session.client.bluetooth_device_set_connection_params(TAG, 6, 9, 0, 400)
    if session.free[-1] != (2, 3, [TAG]):
        raise Failure(f"free links {session.free}")
    await session.client.bluetooth_device_disconnect(TAG)
    await until("three free links", lambda: session.free[-1][0] == 3)


async def one_slot(tags: Simulator, session: Session) -> None:
    """With one slot, a second tag is refused."""
    tags.type("esphome slots 1")
    await session.open()
    await session.link()
    await until("no free link", lambda: session.free and session.free[-1][:2] == (0, 1))
    await session.link(TAG + 1)
    if session.states != [(True, 247, 0), (False, 0, 0)]:
        raise Failure(f"states {session.states}")


async def dropped(tags: Simulator, session: Session) -> None:
    """A proxy that drops its connections, and comes back."""
    await session.open()
    tags.type("esphome drop")
    await until("the end", lambda: session.is_stopped)
    await Session(session.client.port, KEY).open()


async def taken(tags: Simulator, session: Session) -> None:
    """A proxy that another client has taken."""
    await session.open()
    await until("an advertisement", lambda: session.advertisements)
    tags.type("esphome taken")
    await until("the command", lambda: tags.printed().count("ok") >= 1)
    await asyncio.sleep(0.2)
    session.advertisements.clear()
    await asyncio.sleep(0.5)
    if session.advertisements:
        raise Failure("a client that is not served receives advertisements")
    await session.client.device_info()


async def silent(tags: Simulator, session: Session) -> None:
    """A proxy that is frozen."""
    await session.open()
    tags.type("esphome silent")
    await until("the command", lambda: tags.printed().count("ok") >= 1)
    try:
        await asyncio.wait_for(session.client.device_info(), 1)
        raise Failure("a frozen proxy responds")
    except TimeoutError:
        pass
    tags.type("esphome clear")
    await session.client.device_info()


async def wrong_key(_: Simulator, session: Session) -> None:
    """Another key, and none."""
    for key, error in [(base64.b64encode(bytes(32)).decode(), InvalidEncryptionKeyAPIError), (None, RequiresEncryptionAPIError)]:
        try:
            await Session(session.client.port, key).open()
            raise Failure(f"a client with key {key} is accepted")
        except error:
            pass


CHECKS = [(works, True), (works, False), (one_slot, True), (dropped, True), (taken, True), (silent, True), (wrong_key, True)]


async def main() -> int:
    """Performs the checks one after another."""
    status = 0
    for check, is_encrypted in CHECKS:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            key_file = pathlib.Path(folder) / "key"
            key_file.write_text(KEY + "\n", encoding="utf-8")
            port = take_port()
            options = ["--esphome-key", str(key_file)] if is_encrypted else []
            tags = Simulator(folder, "--tags", "2", "--esphome", str(port), *options, build=PROGRAMS)
            session = Session(port, KEY if is_encrypted else None)
            try:
                await check(tags, session)
                verdict = "ok"
            except Exception as error:  # noqa: BLE001
                verdict = f"FAILED: {type(error).__name__}: {error}"
                status = 1
            finally:
                await session.client.disconnect(force=True)
                tags.stop()
        form = "encrypted" if is_encrypted else "plain"
        print(f"proxy,  {form:9} {check.__name__:11} {time.monotonic() - begin:5.1f} s  {verdict}", flush=True)
    return status


sys.exit(asyncio.run(main()))
