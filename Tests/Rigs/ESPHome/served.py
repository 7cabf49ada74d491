"""Checks the project's client with a proxy that is made of aioesphomeapi's messages.

usage: served.py PROGRAMS     the folder of proxy-client and jacquard-simulator
"""

from __future__ import annotations

import asyncio
import base64
import pathlib
import socket
import struct
import sys
import time

from proxy import Proxy

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Support"))
from programs import Stopwatch  # noqa: E402

PROGRAMS = pathlib.Path(sys.argv[1])
KEY = bytes(range(32))


class Failure(Exception):
    """A check has failed."""


class Program:
    """proxy-client, with the lines that it prints."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def start(self, port: int, key: bytes | None) -> None:
        """Starts it."""
        arguments = [base64.b64encode(key).decode()] if key else []
        self.process = await asyncio.create_subprocess_exec(
            str(PROGRAMS / "proxy-client"), str(port), *arguments,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        self.reading = asyncio.create_task(self.read())

    async def read(self) -> None:
        """Collects its lines."""
        async for line in self.process.stdout:
            self.lines.append(line.decode().rstrip())

    async def wait(self, text: str, count: int = 1, seconds: float = 10) -> float:
        """Waits until some lines begin with a text; the seconds that it took, of a `Stopwatch`."""
        watch = Stopwatch()
        while sum(line.startswith(text) for line in self.lines) < count:
            if watch.seconds() > seconds:
                raise Failure(f"no {text!r} within {seconds} s: {self.lines[-6:]}")
            await asyncio.sleep(0.02)
        return watch.seconds()

    async def stop(self) -> None:
        """Ends its input, and waits for its end."""
        if self.process.returncode is None:
            self.process.stdin.close()
            await asyncio.wait_for(self.process.wait(), 10)
        await self.reading
        if self.process.returncode:
            raise Failure(f"proxy-client ended with {self.process.returncode}")


async def works(proxy: Proxy, client: Program) -> None:
    """A tag is connected, its gesture arrives, and its LED is lit."""
    await client.wait("connected")
    proxy.tag.do(do="gesture double_tap")
    await client.wait("gesture 1")
    await client.wait("led done")
    if "BluetoothGATTWriteDescriptorRequest" not in proxy.received:
        raise Failure("the descriptor 0x2902 was not written")


async def wrong_key(_: Proxy, client: Program) -> None:
    """Another key is an error of its own."""
    await client.wait("status waiting 60 the proxy has another key")


async def replayed(proxy: Proxy, client: Program) -> None:
    """A frame that is sent twice ends the connection, which is made again."""
    await client.wait("connected")
    proxy.subscriber.writer.write(proxy.subscriber.last_frame)
    await client.wait("status waiting 1 a message is not authentic")
    await client.wait("connected", 2)


async def changed(proxy: Proxy, client: Program) -> None:
    """A frame with a changed byte ends the connection."""
    await client.wait("connected")
    frame = bytearray(proxy.subscriber.noise.encrypt(b"\x00\x08\x00\x00"))
    frame[-1] ^= 1
    proxy.subscriber.write_frame(bytes(frame))
    await client.wait("status waiting 1 a message is not authentic")


async def truncated(proxy: Proxy, client: Program) -> None:
    """A connection that ends inside a frame is made again, and the tag is reported as disconnected."""
    await client.wait("connected")
    proxy.subscriber.writer.write(b"\x01\x00\x40" + bytes(20))
    # Its reading goes on: a socket that is closed with unread bytes resets the connection.
    proxy.fault = "silent"
    proxy.subscriber.writer.get_extra_info("socket").shutdown(socket.SHUT_WR)
    await client.wait("status waiting 1 the proxy ended the connection")
    proxy.fault = ""
    await client.wait("connected", 2)


async def reset(proxy: Proxy, client: Program) -> None:
    """A connection that the proxy resets is made again; the client may notice it when it reads or when it writes."""
    await client.wait("connected")
    proxy.subscriber.writer.get_extra_info("socket").setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    proxy.subscriber.writer.transport.abort()
    await client.wait("status waiting 1 cannot ")
    await client.wait("connected", 2)


async def malformed(proxy: Proxy, client: Program) -> None:
    """Bytes that are no frame end the connection."""
    await client.wait("connected")
    proxy.subscriber.writer.write(b"HTTP/1.1 400\r\n")
    await client.wait("status waiting 1 malformed: a frame")


async def silent(proxy: Proxy, client: Program) -> None:
    """A proxy that stops answering is lost at most 13 s later."""
    await client.wait("connected")
    proxy.fault = "silent"
    begin = time.monotonic()
    seconds = await client.wait("status waiting 1 the proxy does not respond", seconds=15)
    # A `Stopwatch` counts less of a busy machine's time, the client all of it.
    if time.monotonic() - begin < 2.9 or seconds > 13.5:
        raise Failure(f"lost after {seconds:.1f} s")
    proxy.fault = ""
    await client.wait("connected", 2, seconds=15)


async def taken(proxy: Proxy, client: Program) -> None:
    """A proxy that serves another client is left alone for a minute."""
    await client.wait("status waiting 60 another client uses the proxy")
    await asyncio.sleep(2)
    if proxy.connections != 1:
        raise Failure(f"{proxy.connections} connections")


async def taken_over(proxy: Proxy, client: Program) -> None:
    """A proxy that another client takes is noticed within 24 s, and left alone for an hour."""
    await client.wait("connected")
    proxy.fault = "taken"
    await client.wait("status waiting 3600 another client has taken the proxy", seconds=24)


async def no_slot(proxy: Proxy, client: Program) -> None:
    """Without a free link nothing is requested, until there is one."""
    await client.wait("found")
    await asyncio.sleep(1)
    if any(line.startswith("connected") for line in client.lines):
        raise Failure("a tag was connected without a free link")
    proxy.slots = 1
    proxy.subscriber.send(proxy.subscriber.free())
    await client.wait("connected")


CHECKS = [  # check, key of the proxy, key of the client, fault and slots at the start
    (works, KEY, KEY, "", 3), (works, None, None, "", 3), (wrong_key, KEY, KEY[::-1], "", 3),
    (replayed, KEY, KEY, "", 3), (changed, KEY, KEY, "", 3), (truncated, KEY, KEY, "", 3),
    (reset, KEY, KEY, "", 3), (malformed, KEY, KEY, "", 3), (silent, KEY, KEY, "", 3), (taken, KEY, KEY, "taken", 3),
    (taken_over, KEY, KEY, "", 3), (no_slot, KEY, KEY, "", 0),
]


async def run(check, key: bytes | None, client_key: bytes | None, fault: str, slots: int) -> str:
    """Performs a check; its verdict."""
    proxy, client = Proxy(key), Program()
    (proxy.fault, proxy.slots) = (fault, slots)
    try:
        await client.start(await proxy.start(str(PROGRAMS / "jacquard-simulator")), client_key)
        await check(proxy, client)
        await client.stop()
        verdict = "ok"
    except Failure as failure:
        verdict = f"FAILED: {failure}"
    finally:
        if client.process.returncode is None:
            client.process.kill()
        await proxy.stop()
    return verdict


async def main() -> int:
    """Performs all checks at once: most of them wait."""
    async def one(check, *arguments) -> bool:
        begin = time.monotonic()
        verdict = await run(check, *arguments)
        form = "encrypted" if arguments[0] else "plain"
        print(f"client, {form:9} {check.__name__:11} {time.monotonic() - begin:5.1f} s  {verdict}", flush=True)
        return verdict == "ok"

    results = await asyncio.gather(*(one(*check) for check in CHECKS))
    return 0 if all(results) else 1


sys.exit(asyncio.run(main()))
