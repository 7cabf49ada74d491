"""Latency over SSH beside a local bus, the cost of further radios, and gestures beside a stream of motion."""
from __future__ import annotations

import json
import pathlib
import threading
import time

from house import percentile, wait_for
from ports import take_port


class Stopwatch:
    """Times one thing at a time: from its beginning to a message that ends it."""

    def __init__(self) -> None:
        self.begin, self.end, self.done = 0.0, 0.0, threading.Event()

    def time(self, what: str, action) -> float:
        """The milliseconds from an action to its message."""
        self.done.clear()
        self.begin = time.monotonic()
        action()
        if not self.done.wait(10):
            raise TimeoutError(f"{what}: not within 10 s")
        return 1000 * (self.end - self.begin)

    def stop(self, now: float) -> None:
        """Ends the measurement."""
        self.end = now
        self.done.set()


def time_messages(house) -> Stopwatch:
    """A stopwatch that gestures and final results end."""
    watch = Stopwatch()

    def message(topic: str, payload: bytes, now: float) -> None:
        if topic.endswith("/gesture") or (topic.endswith("/result") and json.loads(payload)["final"]):
            watch.stop(now)

    house.observer.on_message = message
    return watch


def row(name: str, values: list[float]) -> None:
    """Prints a row of milliseconds."""
    print(f"{name:48}{len(values):6}{percentile(values, 50):9.2f}{percentile(values, 99):9.2f}{max(values):9.2f}", flush=True)


def latency(make, count: int = 1000) -> None:
    """Gestures and LED commands over a local bus and over SSH, alternately."""
    house = make("latency", ["jacquard/tag/+/gesture", "jacquard/tag/+/led/result"])
    house.another_computer()
    house.start(
        ["0001", "0002"],
        ["--tags", "2", "--places", "0,0:500,0", "--other-bus", house.other_bus.address],
        "    - {adapter: hci0, name: hall}\n" + house.ssh.radio("attic"))
    house.tags.type("move 0002 500,0")
    wait_for("each radio has a tag", lambda: house.observer.is_connected("0001", "hall")
             and house.observer.is_connected("0002", "attic"), 30)
    watch = time_messages(house)
    rows: dict[str, list[float]] = {}
    for number in range(count + 20):
        for serial, radio in ("0001", "local bus"), ("0002", "SSH"):
            for what, action in (
                ("gesture", lambda serial=serial: house.tags.type(f"gesture {serial} double_tap")),
                ("LED command to result", lambda serial=serial: house.observer.send(
                    f"jacquard/tag/{serial}/led/set", {"color": "#0000ff", "duration_ms": 100})),
            ):
                value = watch.time(f"{what} over {radio}", action)
                if number >= 20:
                    rows.setdefault(f"{what}, {radio}", []).append(value)
    print(f"{'ms':48}{'n':>6}{'p50':>9}{'p99':>9}{'max':>9}")
    for name, values in sorted(rows.items()):
        row(name, values)


def switches(process: int) -> dict[str, int]:
    """The wake-ups of each thread so far: its voluntary context switches."""
    found = {}
    for task in pathlib.Path(f"/proc/{process}/task").iterdir():
        lines = (task / "status").read_text(encoding="utf-8").splitlines()
        values = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        found[f"{task.name} {values['Name']}"] = int(values["voluntary_ctxt_switches"])
    return found


def private_memory(process: int) -> int:
    """The private memory in kB."""
    lines = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean", "Private_Dirty")))


def cost(make, seconds: float = 60) -> None:
    """Private memory and wake-ups of an idle bridge, whose tag is connected by the first radio."""
    print(f"{'idle, one tag connected':32}{'private kB':>12}{'wake-ups':>10}   in {seconds:g} s")
    adapters = "".join(f"    - {{adapter: hci{number}, name: room{number}}}\n" for number in range(4))
    lines = adapters.splitlines(keepends=True)
    port = take_port()
    for name, count, radios in (
        ("one adapter, no radios", 1, ""), ("one adapter", 1, lines[0]), ("two adapters", 2, "".join(lines[:2])),
        ("four adapters", 4, adapters), ("one adapter and a proxy", 1, lines[0]),
    ):
        house = make(name.replace(" ", "-"), ["jacquard/bridge/walk/adapter"])
        options = ["--tags", "1", "--places", ":".join(f"{10 * number},0" for number in range(count))]
        if "proxy" in name:
            options += [*house.proxy_options(port), "--esphome-place", "20,0"]
            radios += house.proxy_radio(port)
        states: list[bytes] = []
        house.start(["0001"], options, radios)
        house.observer.on_message = lambda _topic, payload, _now, states=states: states.append(payload)
        house.observer.client.subscribe("jacquard/bridge/walk/adapter", 1)
        total = max(1, radios.count("name:"))
        wait_for("all radios are ready", lambda states=states, total=total: states and states[-1].count(b"powered_on") == total)
        process = house.bridge.process.pid
        # The bridge is idle when it has slept for five seconds but for a few wake-ups.
        state = [sum(switches(process).values()), time.monotonic()]

        def is_idle(process=process, state=state) -> bool:
            current, now = sum(switches(process).values()), time.monotonic()
            if now - state[1] < 5:
                return False
            is_idle, state[:] = current - state[0] <= 10, [current, now]
            return is_idle

        wait_for("the bridge is idle", is_idle, 60)
        before, begin = switches(process), time.monotonic()
        wait_for("the time of the measurement", lambda begin=begin: time.monotonic() - begin >= seconds, seconds + 5)
        after = switches(process)
        print(f"{name:32}{private_memory(process):12}{sum(after.values()) - sum(before.values()):10}", flush=True)
        house.stop()


def stream(make, seconds: float = 60, rate: float = 20) -> None:
    """Gestures of nineteen tags, without and with a stream of motion at 200 Hz of the twentieth."""
    house = make("stream", [
        "jacquard/tag/+/gesture", "jacquard/tag/+/imu/result", "jacquard/tag/0001/imu/data", "jacquard/tag/0001/imu"])
    serials = [f"{number:04}" for number in range(1, 21)]
    house.start(serials, ["--tags", "20"], "")
    watch = time_messages(house)
    gestures = watch_only(house, watch)
    print(f"{'ms':48}{'n':>6}{'p50':>9}{'p99':>9}{'max':>9}")
    for name in "without a stream", "with a stream at 200 Hz", "without a stream again":
        gestures.samples = 0
        if "with " in name:
            watch.time("the stream", lambda: house.observer.send("jacquard/tag/0001/imu/set", {
                "action": "stream", "accelerometer_hz": 200, "gyroscope_hz": 200, "seconds": int(seconds) + 30}))
            wait_for("samples", lambda: gestures.samples > 200)
        begin, before = time.monotonic(), gestures.samples
        values: list[float] = []
        while time.monotonic() - begin < seconds:
            serial = serials[1 + len(values) % 19]
            values.append(watch.time("a gesture", lambda serial=serial: house.tags.type(f"gesture {serial} double_tap")))
            time.sleep(max(0, begin + len(values) / rate - time.monotonic()))
        took = time.monotonic() - begin
        row(f"gesture, {name}", values)
        if "with " in name:
            print(f"  samples: {(gestures.samples - before) / took:.1f} a second, lost {gestures.lost}")
            watch.time("the end of the stream", lambda: house.observer.send("jacquard/tag/0001/imu/set", "stop"))


class SampleCount:
    """The samples of a stream that have arrived."""

    samples, lost = 0, 0


def watch_only(house, watch: Stopwatch) -> SampleCount:
    """Counts samples, and lets gestures and results end the stopwatch."""
    count, inner = SampleCount(), house.observer.on_message

    def message(topic: str, payload: bytes, now: float) -> None:
        if topic.endswith("/imu/data"):
            document = json.loads(payload)
            count.samples += len(document["accel_gyro"])
            count.lost = document["lost"]
        else:
            inner(topic, payload, now)

    house.observer.on_message = message
    return count
