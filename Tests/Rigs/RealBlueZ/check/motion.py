"""The scenario of the motion sensor: a recording becomes a file."""

from __future__ import annotations

import binascii
import pathlib
import time

from guest import ONE, Guest
from watch import Failure

# 208 kB.
SAMPLES = 13_000
# The tag drops the link before these bytes.
CUTS = [70_000, 140_000]


def downloads_a_recording_over_lost_links(guest: Guest) -> None:
    """A session is recorded; a long one is transferred to a file while the link is lost twice: size and CRC are the tag's."""
    guest.bridge.command("imu", "record", ONE, "walk", "--rate", "200")
    guest.bridge.command("imu", "stop", ONE)
    guest.tags.do(ONE, f"session long {SAMPLES}")
    listed = guest.bridge.command("imu", "sessions", ONE)["data"]["sessions"]
    if [session["session"] for session in listed] != ["walk", "long"]:
        raise Failure(f"the tag lists {listed}")
    guest.tags.do(ONE, f"motion-fault link-lost {' '.join(map(str, CUTS))}")
    mark = len(guest.watch)
    began = time.monotonic()
    result = guest.bridge.command("imu", "download", ONE, "long")
    seconds = time.monotonic() - began
    if result["status"] != "ok":
        raise Failure(f"the download has failed: {result}")
    content = pathlib.Path(result["file"]).read_bytes()
    session = listed[1]
    if (len(content), f"{binascii.crc_hqx(content, 0):04x}") != (session["bytes"], session["crc"]):
        raise Failure(f"{len(content)} bytes of the file are not those of {session}")
    if (losses := len(guest.tags.told(mark, ONE, "disconnected"))) != len(CUTS):
        raise Failure(f"{losses} links were lost")
    print(f"downloaded: {len(content)} bytes with {losses} lost links: {seconds:.1f} s", flush=True)
    guest.expect_gestures(ONE)


ALL = [downloads_a_recording_over_lost_links]
