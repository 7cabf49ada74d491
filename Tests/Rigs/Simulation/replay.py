#!/usr/bin/python3 -B
"""Plays the schedule of a simulation again with real programs, and compares what the bridge publishes.

usage: Tests/Rigs/Simulation/replay.py [--seed N] [--tags N] [--build DIR] [--keep DIR]

The simulation prints what happens at the tags, at the broker and at the bridge, and when. The same happens in real time to
jacquard-simulator, mosquitto and jacquard2mqtt. In the calm after each cycle of faults, all retained messages are the same.
Each command has one final result on both sides. It is the same result, and each gesture is published on both sides or on none,
unless a fault was near: then the moments at which links and connections are back decide, and the LED, the touch mode and the
name of the tag may differ until the end. Only the bridge that has lost a gesture without a broker has the problem events_dropped.
Prints what differs, and ends with status 1 if it may not. Needs a build and the packages of Tests/run.
"""
from __future__ import annotations

import argparse
import collections
import datetime
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import paho.mqtt.client as mqtt

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Support"))
from programs import BUILD, Bridge, Mosquitto, Simulator  # noqa: E402

# Keys whose values follow from the moment, the machine or the radio.
MOMENTARY = {
    "address", "adapter", "since", "time", "seq", "rssi", "mtu", "version", "bluez", "started", "uptime_s", "pid", "last_seen",
    "ttl_ms", "took_ms", "boot", "queue", "rss_kb", "attempt", "retry_in_ms", "dropped",
}
# Topics of figures that are measured or counted.
MEASURED = ("/stats", "/metrics", "/rssi", "/last_gesture")
# Facts that a command sets.
SETTABLE = ("/led", "/touch_mode", "/info", "/config")
# The text in place of a retained message that does not exist.
MISSING = "(missing)"
# The longest time from a gesture to its receipt by the bridge, in seconds: a tag out of range keeps it until its link is lost.
LATENCY = 3
# How long before and after a command or gesture a fault may matter, in seconds: until links are back, and until a result is due.
BEFORE, AFTER = 20, 12


class Listener:
    """A client that notes final results and gestures."""

    def __init__(self, broker: Mosquitto) -> None:
        self.broker = broker
        self.results: dict[str, list[dict]] = collections.defaultdict(list)
        self.gestures: dict[str, list[dict]] = collections.defaultdict(list)
        self.client: mqtt.Client | None = None

    def connect(self) -> None:
        """Subscribes; there is no session from before."""
        granted = threading.Event()
        self.client = mqtt.Client(protocol=mqtt.MQTTv311)
        self.client.on_subscribe = lambda *_: granted.set()
        self.client.on_message = lambda _client, _data, message: self.note(message)
        self.client.connect("127.0.0.1", self.broker.port)
        self.client.loop_start()
        self.client.subscribe([("jacquard/tag/+/gesture", 1), ("jacquard/tag/+/+/result", 1)])
        if not granted.wait(10):
            raise TimeoutError("the listener cannot subscribe")

    def disconnect(self) -> None:
        """Ends the connection before the broker does."""
        if self.client:
            self.client.disconnect()
            self.client.loop_stop()
        self.client = None

    def note(self, message: mqtt.MQTTMessage) -> None:
        """Notes a message that is not repeated."""
        document = json.loads(message.payload)
        if message.dup:
            return
        if message.topic.endswith("/gesture"):
            self.gestures[message.topic.split("/")[2]].append(document)
        elif document["final"] and "id" in document:
            self.results[document["id"]].append(document)


def retained(port: int) -> dict[str, object]:
    """All retained messages of the bridges and tags."""
    found: dict[str, object] = {}
    done = threading.Event()

    def note(_client, _data, message) -> None:
        if message.topic == "replay/done":
            done.set()
        elif message.retain:
            found[message.topic] = document(message.payload)

    client = mqtt.Client(protocol=mqtt.MQTTv311)
    client.on_message = note
    client.connect("127.0.0.1", port)
    client.loop_start()
    # Retained messages come before those that are published after the subscription.
    client.on_subscribe = lambda *_: client.publish("replay/done", "")
    client.subscribe([("replay/done", 0), ("jacquard/#", 0), ("homeassistant/#", 0)])
    if not done.wait(30):
        raise TimeoutError("the retained messages do not arrive")
    client.disconnect()
    client.loop_stop()
    return found


def document(payload: bytes) -> object:
    """A payload as a JSON document; any other text as a string."""
    try:
        return json.loads(payload)
    except ValueError:
        return payload.decode()


def lasting(value: object) -> object:
    """A document without what follows from the moment, such as the number of lost events in a text."""
    if isinstance(value, str):
        return re.sub(r"^\d+ events", "events", value)
    if isinstance(value, dict):
        return {key: lasting(item) for key, item in value.items() if key not in MOMENTARY and not key.endswith("_at")}
    return [lasting(item) for item in value] if isinstance(value, list) else value


class Replay:
    """The real programs, and what is done to them."""

    def __init__(self, folder: pathlib.Path, tags: int, build: pathlib.Path) -> None:
        self.folder, self.build = folder, build
        self.broker = Mosquitto(
            folder, ("allow_anonymous true", "user root", "persistence true", f"persistence_location {folder}/"))
        self.listener = Listener(self.broker)
        self.listener.connect()
        serials = ",".join(f"{number:04}" for number in range(tags))
        self.tags = Simulator(folder, "--serials", serials, build=build, is_quick=False)
        self.bridge: Bridge | None = None
        self.configuration = ""
        # The time of day at which the schedule begins.
        self.began = 0.0
        self.timers: list[threading.Thread] = []
        # The topics whose retained messages differ, with both documents.
        self.differences: list[tuple[float, str, object, object]] = []

    def stop(self) -> None:
        """Stops everything."""
        for timer in self.timers:
            timer.join()
        self.listener.disconnect()
        for part in (self.bridge, self.tags, self.broker):
            if part:
                part.stop()

    def perform(self, step: dict) -> None:
        """Performs a step of the schedule."""
        match step["do"]:
            case "broker": self.change_broker(step["action"], step.get("forgets", False))
            case "bridge": self.change_bridge(step["action"], step.get("away_s", 0))
            case what: getattr(self, what)(step)

    def configure(self, step: dict) -> None:
        """Writes the configuration file."""
        self.configuration = step["text"].replace("host: broker", f"host: 127.0.0.1\n  port: {self.broker.port}")
        (self.folder / "bridge.yaml").write_text(self.configuration, encoding="utf-8")

    def start(self, _step: dict) -> None:
        """Starts the bridge."""
        self.bridge = Bridge(self.folder, self.tags.address, self.configuration, build=self.build)

    def type(self, step: dict) -> None:
        """Types a line for the simulator of tags."""
        self.tags.type(step["line"])

    def publish(self, step: dict) -> None:
        """Sends a command; without a broker it is lost."""
        if self.listener.client:
            self.listener.client.publish(step["topic"], step["payload"], 1)

    def change_broker(self, action: str, forgets: bool) -> None:
        """Stops, starts, suspends or continues the broker."""
        if action == "stop":
            self.listener.disconnect()
            self.broker.stop()
            if forgets:
                (self.folder / "mosquitto.db").unlink(missing_ok=True)
        elif action == "start":
            self.broker.start()
            self.listener.connect()
        else:
            self.broker.process.send_signal(signal.SIGSTOP if action == "stall" else signal.SIGCONT)

    def change_bridge(self, action: str, away_s: float) -> None:
        """Kills, restarts or reloads the bridge."""
        if action == "reload":
            self.bridge.process.send_signal(signal.SIGHUP)
            return

        def restart() -> None:
            self.bridge.process.send_signal(signal.SIGKILL if action == "kill" else signal.SIGTERM)
            self.bridge.process.wait()
            time.sleep(away_s)
            self.bridge.start()

        self.timers.append(threading.Thread(target=restart))
        self.timers[-1].start()

    def compare(self, step: dict) -> None:
        """Compares all retained messages."""
        simulated, real = step["retained"], retained(self.broker.port)
        for topic in sorted({*simulated, *real}):
            if topic.endswith(MEASURED):
                continue
            first, second = (lasting(side.get(topic, MISSING)) for side in (simulated, real))
            if first != second:
                self.differences.append((step["at"], topic, first, second))


def outcome(result: dict) -> str:
    """The status of a result, and the code of its error."""
    return result["status"] + (f" {result['error']['code']}" if result.get("error") else "")


class Comparison:
    """What both sides have answered and published."""

    def __init__(self, steps: list[dict], replay: Replay) -> None:
        self.steps, self.replay, self.end = steps, replay, steps[-1]
        # The times of day at which the schedule begins on both sides.
        start = next(step for step in steps if step["do"] == "start")
        self.origins = start["unix_s"] - start["at"], replay.began
        self.same = 0
        # What differs near a fault, and when.
        self.near: dict[str, list[str]] = collections.defaultdict(list)
        # Since when a tag may differ, because a command near a fault has had another result.
        self.since: dict[str, float] = {}
        self.complaints: list[str] = []
        # When the broker is away. On each side the gestures made then that only the other side has published.
        broker = [step["at"] for step in steps if step["do"] == "broker"]
        self.outages = list(zip(broker[::2], broker[1::2]))
        self.lost: tuple[list[float], list[float]] = [], []
        # What is no gesture and no value, and when it begins and ends. A fault of one tag concerns its own commands. A new name
        # ends the link.
        self.faults = [
            (step["at"], step["at"] + self.duration(step), self.tag(step)) for step in steps
            if step["do"] in ("broker", "bridge") or step.get("topic", "").endswith("/name/set")
            or step["do"] == "type" and step["line"].split()[0] not in ("gesture", "battery", "attach", "detach")]

    @staticmethod
    def duration(step: dict) -> float:
        """The seconds until a step ends by itself."""
        words = step.get("line", "").split()
        return int(words[1]) / 1000 if words[:1] == ["crash-bluez"] else step.get("away_s", 0)

    @staticmethod
    def tag(step: dict) -> str | None:
        """The tag that a step is about; nil for all tags."""
        if "topic" in step:
            return step["topic"].split("/")[2]
        words = step.get("line", "").split()
        return words[1] if len(words) > 1 and words[0] not in ("adapter", "crash-bluez") else None

    def has_fault(self, at: float, tag: str) -> bool:
        """Whether a fault was near."""
        return any(begin < at + AFTER and at - BEFORE < end and other in (None, tag) for begin, end, other in self.faults)

    def complain(self, at: float, text: str) -> None:
        """Notes a difference that may not be."""
        self.complaints.append(f"{at:.1f} s: {text}")

    def retained(self) -> None:
        """Judges the differences of retained messages. A cause is in the results."""
        for at, topic, *sides in self.replay.differences:
            tag = re.search(r"tag[/_](\w+)/", topic)
            if topic.endswith("/health") and self.without_losses(at, sides):
                self.near["retained health: events_dropped"].append(f"{at:.1f}")
            elif tag and topic.endswith(SETTABLE) and self.since.get(tag[1], at) < at:
                self.near[f"retained {topic.rsplit('/', 1)[-1]}"].append(f"{at:.1f} {tag[1]}")
            else:
                first, second = (json.dumps(side)[:400] for side in sides)
                self.complain(at, f"{topic}\n    simulated {first}\n    real      {second}")

    def without_losses(self, at: float, sides: list[dict]) -> bool:
        """Whether health documents are the same but for gestures that only one side has lost, since its bridge has started."""
        start = max((step["at"] for step in self.steps if step.get("away_s") and step["at"] < at), default=0)
        if MISSING in sides:
            return False
        for side, lost in zip(sides, self.lost):
            others = [problem for problem in side["problems"] if problem["code"] != "events_dropped"]
            if others != side["problems"] and any(start < time < at for time in lost):
                side.update(problems=others, status=side["status"] if others else "ok")
        return sides[0] == sides[1]

    def results(self) -> None:
        """Compares the final results of commands."""
        for step in self.steps:
            if step["do"] != "publish":
                continue
            number, tag = step["id"], step["topic"].split("/")[2]
            sides = [sorted(map(outcome, results.get(number, []))) or ["none"]
                     for results in (self.end["results"], self.replay.listener.results)]
            if sides[0] == sides[1]:
                self.same += 1
            elif self.has_fault(step["at"], tag):
                what = f"{step['topic'].split('/')[3]}: {', '.join(sides[0])} and {', '.join(sides[1])}"
                self.near[what].append(f"{step['at']:.1f} {tag}")
                self.since.setdefault(tag, step["at"])
            else:
                self.complain(step["at"], f"{step['topic']} {step['payload']}: simulated {sides[0]}, real {sides[1]}")

    def gestures(self) -> None:
        """Compares the gestures that were published."""
        for tag in sorted({step["line"].split()[1] for step in self.steps if step.get("line", "").startswith("gesture ")}):
            made = [(step["at"], step["line"].split()[2]) for step in self.steps
                    if step.get("line", "").startswith(f"gesture {tag} ")]
            sides = [published(made, gestures.get(tag, []), origin)
                     for gestures, origin in zip((self.end["gestures"], self.replay.listener.gestures), self.origins)]
            for name, side in zip(("the simulation", "the real bridge"), sides):
                if side is None:
                    self.complain(self.end["at"], f"{name} has published gestures of {tag} that were not made then")
            if None in sides:
                continue
            for number, (at, gesture) in enumerate(made):
                if (number in sides[0]) == (number in sides[1]):
                    self.same += 1
                elif self.has_fault(at, tag) or self.since.get(tag, at) < at:
                    if any(begin - 1 < at < end for begin, end in self.outages):
                        self.lost[number in sides[0]].append(at)
                    what = "gesture: " + ("simulated only" if number in sides[0] else "real only")
                    self.near[what].append(f"{at:.1f} {tag}")
                else:
                    self.complain(at, f"{gesture} of {tag} is published by one side only")


def published(made: list[tuple[float, str]], gestures: list[dict], origin: float) -> set[int] | None:
    """The numbers of those that were made that are published; None if others are. A message has the time of its receipt."""
    numbers: set[int] = set()
    messages = {(message["boot"], message["seq"]): message for message in gestures}
    for message in sorted(messages.values(), key=lambda message: message["time"]):
        at = datetime.datetime.fromisoformat(message["time"]).timestamp() - origin
        number = next((number for number in reversed(range(len(made))) if number not in numbers
                       and made[number][1] == message["event_type"] and -0.1 < at - made[number][0] < LATENCY), None)
        if number is None:
            return None
        numbers.add(number)
    return numbers


def schedule(seed: int, tags: int, build: pathlib.Path) -> list[dict]:
    """The steps of a simulation."""
    done = subprocess.run(
        [build / "simulate", "--schedule", "--seed", str(seed), "--tags", str(tags)], stdout=subprocess.PIPE, text=True,
        check=False)
    if done.returncode:
        raise SystemExit(f"{done.stdout}\nseed {seed}: the simulation has failed")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="of the schedule (default: 1)")
    parser.add_argument("--tags", type=int, default=4, help="the number of tags (default: 4)")
    parser.add_argument("--build", type=pathlib.Path, default=BUILD, help="the folder of the programs (default: .build/debug)")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the logs in this folder")
    options = parser.parse_args()
    steps = schedule(options.seed, options.tags, options.build)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="replay-"))
    replay = Replay(folder, options.tags, options.build)
    try:
        begin, replay.began = time.monotonic(), time.time()
        for step in steps[:-1]:
            time.sleep(max(0, begin + step["at"] - time.monotonic()))
            replay.perform(step)
        comparison = Comparison(steps, replay)
        comparison.results()
        comparison.gestures()
        comparison.retained()
    finally:
        replay.stop()
        if options.keep:
            shutil.copytree(folder, options.keep / f"seed-{options.seed}", dirs_exist_ok=True)
        shutil.rmtree(folder)
    count = sum(step["do"] == "compare" for step in steps)
    near = sum(map(len, comparison.near.values()))
    print(f"seed {options.seed}: {comparison.same} results and gestures are the same, {near} near a fault differ, "
          f"{count} times all retained messages: {len(comparison.complaints)} differences without a cause")
    for text, places in sorted(comparison.near.items()):
        print(f"  near a fault, {len(places)} times: {text} ({', '.join(places[:8])})")
    for complaint in comparison.complaints:
        print(f"  {complaint}")
    return 1 if comparison.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
