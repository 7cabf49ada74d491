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


def use(process: int) -> tuple[int, float]:
    """The wake-ups of a process so far, which are its voluntary context switches, and its milliseconds of processor time."""
    wakeups, nanoseconds = 0, 0
    for task in pathlib.Path(f"/proc/{process}/task").iterdir():
        lines = (task / "status").read_text(encoding="utf-8").splitlines()
        wakeups += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
        nanoseconds += int((task / "schedstat").read_text(encoding="ascii").split()[0])
    return wakeups, nanoseconds / 1e6


def private_memory(process: int) -> int:
    """The private memory in kB."""
    lines = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean", "Private_Dirty")))


def wait_idle(process: int) -> None:
    """Waits until a process wakes up as often in five seconds as in the five before."""
    counts = [(time.monotonic(), use(process)[0])]

    def is_idle() -> bool:
        if time.monotonic() - counts[-1][0] >= 5:
            counts.append((time.monotonic(), use(process)[0]))
        last = [count for _, count in counts[-3:]]
        return len(last) == 3 and abs(last[2] - 2 * last[1] + last[0]) <= 5

    wait_for("the bridge is idle", is_idle, 60)


# Adapters of the host, other radios, and tags that are not the bridge's, which advertise.
COSTS = [
    (1, "", 0), (1, "adapter", 0), (2, "", 0), (4, "", 0), (1, "SSH", 0), (1, "proxy", 0), (1, "proxy", 20),
]


def cost(make, seconds: float = 60) -> None:
    """Private memory and wake-ups of an idle bridge, whose tag is connected by the first radio."""
    print(f"{'idle, one tag connected':48}{'private kB':>12}{'wake-ups':>10}{'CPU ms':>8}   in {seconds:g} s")
    for adapters, more, others in COSTS:
        name = f"{adapters} adapter" + "s" * (adapters > 1)
        if adapters == 1 and not more:
            name += ", without `radios`"
        elif more != "adapter":
            name += f", {more}" if more else ""
        name += f", {others} other devices advertise" if others else ""
        house = make(f"cost-{adapters}{more}{others}", ["jacquard/bridge/walk/adapter"])
        radios = "".join(f"    - {{adapter: hci{number}, name: room{number}}}\n" for number in range(adapters))
        options = ["--tags", str(1 + others)]
        places = [f"{10 * number},0" for number in range(adapters)]
        if more == "SSH":
            house.another_computer()
            options += ["--other-bus", house.other_bus.address]
            places.append("20,0")
            radios += house.ssh.radio("attic")
        elif more == "proxy":
            port = take_port()
            options += [*house.proxy_options(port), "--esphome-place", "20,0"]
            radios += house.proxy_radio(port)
        elif adapters == 1 and not more:
            radios = ""
        options += ["--places", ":".join(places)]
        states: list[bytes] = []
        house.start(["0001"], options, radios)
        house.observer.on_message = lambda _topic, payload, _now, states=states: states.append(payload)
        house.observer.client.subscribe("jacquard/bridge/walk/adapter", 1)
        total = max(1, radios.count("name:"))
        wait_for("all radios are ready", lambda states=states, total=total: states and states[-1].count(b"powered_on") == total)
        process = house.bridge.process.pid
        wait_idle(process)
        before, begin = use(process), time.monotonic()
        wait_for("the time of the measurement", lambda begin=begin: time.monotonic() - begin >= seconds, seconds + 5)
        after = use(process)
        print(f"{name:48}{private_memory(process):12}{after[0] - before[0]:10}{after[1] - before[1]:8.1f}", flush=True)
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
