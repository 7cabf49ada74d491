"""Eight tags that walk between four radios, faults of the radios, and an oracle of links, gestures and commands."""
from __future__ import annotations

import dataclasses
import heapq
import itertools
import json
import math
import random
import threading
import time
from collections import Counter

from house import RANGE, House, percentile, wait_for
from ports import take_port

PLACES = {"hall": (0.0, 0.0), "kitchen": (40.0, 0.0), "attic": (40.0, 40.0), "loft": (0.0, 40.0)}
SERIALS = [f"000{number}" for number in range(1, 9)]
GESTURES = ["double_tap", "brush_in", "brush_out", "cover", "brush_up", "brush_down"]
FAULTS = ["hall unplugged", "kitchen unplugged", "attic killed", "loft frozen", "loft dropped"]
# The faults in which a radio keeps its links, although the bridge cannot use them.
HOLDING = ("attic killed", "loft frozen")
OFFLINE_AFTER = 5.0
STEP = 0.5
# A gesture that has not arrived after so many seconds is lost: less than the time until the same one is made again.
PATIENCE = 3.0
# A gesture so many seconds before the end of its link, or before a fault of its radio, may be on its way.
CUT = 1.0
TARGETS = (3.0, 6.0)


@dataclasses.dataclass
class Link:
    """A link of a tag, in the simulator's view: from its subscription to gestures to its end."""

    begin: float
    radio: str | None = None
    end: float | None = None


@dataclasses.dataclass(eq=False)
class GestureRecord:
    """A gesture."""

    name: str
    made: float
    place: tuple[float, float]
    # The link at that time; None without a subscription.
    link: Link | None = None
    arrivals: list[float] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Fault:
    """A fault of a radio."""

    kind: str
    begin: float
    end: float = math.inf

    @property
    def radio(self) -> str:
        """The radio that has it."""
        return self.kind.split()[0]


class TagRecord:
    """What one tag does, and what is known about it."""

    def __init__(self, place: tuple[float, float], numbers: random.Random) -> None:
        self.place, self.goal, self.speed, self.rests_until = place, place, 1.0, 0.0
        self.names = itertools.cycle(GESTURES)
        self.numbers = numbers
        self.links: list[Link] = []
        # The links without regard to subscriptions: beginning, and end if it has ended.
        self.linked: list[list[float]] = []
        self.gestures: list[GestureRecord] = []
        # The times of the steps at which no usable radio was in range.
        self.uncovered: list[float] = []
        # When the tag left the range of its link's radio.
        self.left: dict[int, float] = {}
        self.sequence: list[tuple[str, int]] = []
        self.unknown: list[str] = []
        self.state = ("", 0.0)
        self.lost_at: float | None = None
        self.gaps: list[tuple[float, float]] = []
        self.offline: list[tuple[float, float]] = []
        self.executed: Counter[str] = Counter()

    @property
    def link(self) -> Link | None:
        """The link with a subscription."""
        return self.links[-1] if self.links and self.links[-1].end is None else None


class Walk:
    """The walk: schedule, records and report."""

    def __init__(self, house: House, seed: int, minutes: float) -> None:
        self.house, self.minutes = house, minutes
        self.numbers = random.Random(seed)
        self.lock = threading.RLock()
        self.tags = {serial: TagRecord((20.0, 20.0), random.Random(f"{seed} {serial}")) for serial in SERIALS}
        self.faults: list[Fault] = []
        self.kinds: list[str] = []
        self.usable: set[str] = set()
        self.typed: dict[str, list[GestureRecord]] = {}
        self.sent: dict[str, float] = {}
        self.results: dict[str, list[tuple[str, str]]] = {}
        self.colors: dict[str, str] = {}
        self.agenda: list = []
        self.count = itertools.count()

    # Start

    def start(self) -> None:
        """Starts everything and waits until all tags are connected."""
        house, port = self.house, take_port()
        house.another_computer()
        place = {name: f"{x:g},{y:g}" for name, (x, y) in PLACES.items()}
        simulator = [
            "--tags", str(len(SERIALS)), "--places", f"{place['hall']}:{place['kitchen']}:{place['attic']}",
            "--other-bus", house.other_bus.address, "--esphome-place", place["loft"], *house.proxy_options(port)]
        radios = ("    - {adapter: hci0, name: hall}\n    - {adapter: hci1, name: kitchen}\n"
                  + house.ssh.radio("attic") + house.proxy_radio(port))
        house.topics += [
            "jacquard/tag/+/gesture", "jacquard/tag/+/availability", "jacquard/tag/+/led/result",
            "jacquard/bridge/walk/adapter"]
        house.start(SERIALS, simulator, radios, f"defaults:\n  offline_after_s: {OFFLINE_AFTER:g}\n")
        wait_for("all radios are ready", self.all_usable)
        for serial in SERIALS:
            house.tags.type(f"move {serial} 20,20")
        house.tags.on_line, house.observer.on_message = self.line, self.message
        # Each tag gets a new link, whose beginning is recorded.
        for serial in SERIALS:
            house.tags.type(f"out-of-range {serial}")
        wait_for("all links end", lambda: not any(map(house.observer.is_connected, SERIALS)), 30)
        for serial in SERIALS:
            house.tags.type(f"in-range {serial}")
        house.wait_connected(SERIALS)
        wait_for("all subscriptions", lambda: all(tag.link for tag in self.tags.values()))

    def all_usable(self) -> bool:
        """Whether the bridge can use all radios."""
        adapters = []
        client = self.house.observer
        client.on_message = lambda topic, payload, _now: adapters.append(payload) if topic.endswith("/adapter") else None
        client.client.subscribe("jacquard/bridge/walk/adapter", 1)
        wait_for("the list of radios", lambda: adapters)
        self.note_adapters(adapters[-1])
        return self.usable == set(PLACES)

    # What is observed

    def note_adapters(self, payload: bytes) -> None:
        """Notes which radios the bridge can use."""
        self.usable = {adapter["radio"] for adapter in json.loads(payload) if adapter["state"] == "powered_on"}

    def line(self, document: dict, now: float) -> None:
        """Handles a line of the simulator. Answers and events are in the order in which they happened."""
        with self.lock:
            tag, event = self.tags.get(document.get("tag", "")), document["event"]
            if event == "ok" and document["command"].startswith("gesture "):
                serial = document["command"].split()[1]
                self.typed[serial].pop(0).link = self.tags[serial].link
            elif event == "error":
                if document["command"].startswith("gesture "):
                    serial = document["command"].split()[1]
                    self.tags[serial].gestures.remove(self.typed[serial].pop(0))
            elif tag and event == "connected":
                tag.linked.append([now])
            elif tag and event == "subscribed" and document["channel"] == "notify":
                if not tag.link:
                    tag.links.append(Link(now))
                self.name_radio(document["tag"], tag)
            elif tag and (event == "disconnected" or (event == "unsubscribed" and document["channel"] == "notify")):
                if tag.link:
                    tag.link.end = now
                if event == "disconnected" and tag.linked:
                    tag.linked[-1].append(now)
            elif tag and event == "led" and document["color"]:
                tag.executed[document["color"]] += 1

    def name_radio(self, serial: str, tag: TagRecord) -> None:
        """Notes which radio has the link. The bridge publishes it before or after the subscription."""
        state = self.house.observer.states.get(serial, {})
        if tag.link and state.get("state") in ("initializing", "configuring", "connected"):
            tag.link.radio = state["radio"]

    def message(self, topic: str, payload: bytes, now: float) -> None:
        """Handles a message of the bridge."""
        with self.lock:
            if topic.endswith("/adapter"):
                return self.note_adapters(payload)
            serial = topic.split("/")[2]
            tag = self.tags[serial]
            if topic.endswith("/availability"):
                if payload == b"offline":
                    tag.offline.append((now, now - (tag.lost_at or now)))
                return None
            document = json.loads(payload)
            if topic.endswith("/connection"):
                self.name_radio(serial, tag)
                is_connected = document["state"] == "connected"
                if tag.state[0] == "connected" and not is_connected:
                    tag.lost_at = now
                elif is_connected and tag.lost_at:
                    tag.gaps.append((tag.lost_at, now))
                    tag.lost_at = None
                tag.state = (document["state"], now)
            elif topic.endswith("/gesture"):
                self.arrived(tag, document, now)
            elif document["final"]:
                error = document["error"]
                self.results.setdefault(document["id"], []).append(
                    (document["status"], error["code"] if error else ""))
            return None

    @staticmethod
    def arrived(tag: TagRecord, document: dict, now: float) -> None:
        """Finds the gesture that has arrived: the latest one with this name that is missing."""
        tag.sequence.append((document["boot"], document["seq"]))
        recent = [g for g in reversed(tag.gestures) if g.name == document["event_type"] and now - g.made < PATIENCE]
        record = next((g for g in recent if not g.arrivals), recent[0] if recent else None)
        if record:
            record.arrivals.append(now)
        else:
            tag.unknown.append(document["event_type"])

    # What is done

    def plan(self, when: float, action, *arguments) -> None:
        """Performs an action later."""
        heapq.heappush(self.agenda, (when, next(self.count), action, arguments))

    def step(self, now: float) -> None:
        """Moves all tags, and notes which of them no radio can receive."""
        with self.lock:
            for serial, tag in self.tags.items():
                self.move(serial, tag, now)
                loft_links = sum(1 for other in self.tags.values() if other.link and other.link.radio == "loft")
                faulty = {fault.radio for fault in self.faults if fault.end > now}
                near = [name for name in self.usable - faulty if self.in_range(tag.place, name)
                        and (name != "loft" or loft_links < 3)]
                if not near:
                    tag.uncovered.append(now)
                link = tag.link
                if link and link.radio and not self.in_range(tag.place, link.radio):
                    tag.left.setdefault(id(link), now)
                elif link:
                    tag.left.pop(id(link), None)
        self.plan(now + STEP, self.step, now + STEP)

    def move(self, serial: str, tag: TagRecord, now: float) -> None:
        """Moves a tag towards its goal, or chooses another goal."""
        distance = math.dist(tag.place, tag.goal)
        if distance > 0:
            share = min(1, tag.speed * STEP / distance)
            tag.place = tuple(a + (b - a) * share for a, b in zip(tag.place, tag.goal))
            self.house.tags.type(f"move {serial} {tag.place[0]:.2f},{tag.place[1]:.2f}")
            if share == 1:
                tag.rests_until = now + tag.numbers.uniform(0, 4)
        elif now >= tag.rests_until:
            tag.speed = tag.numbers.uniform(1, 4)
            # Some walks lead out of the range of all radios.
            tag.goal = (20.0, 90.0) if tag.numbers.random() < 0.05 else (
                tag.numbers.uniform(-5, 45), tag.numbers.uniform(-5, 45))

    @staticmethod
    def in_range(place: tuple[float, float], radio: str) -> bool:
        """Whether a radio receives a tag."""
        return math.dist(place, PLACES[radio]) <= RANGE

    def gesture(self, serial: str) -> None:
        """Makes a gesture."""
        with self.lock:
            tag = self.tags[serial]
            # The place as the simulator has read it.
            place = tuple(round(value, 2) for value in tag.place)
            gesture = GestureRecord(next(tag.names), time.monotonic(), place)
            tag.gestures.append(gesture)
            self.typed.setdefault(serial, []).append(gesture)
            self.house.tags.type(f"gesture {serial} {gesture.name}")
            self.plan(time.monotonic() + tag.numbers.uniform(0.7, 1.1), self.gesture, serial)

    def command(self, serial: str) -> None:
        """Sends a command for the LED, with a colour of its own."""
        name = f"{serial}-{len(self.sent)}"
        with self.lock:
            self.sent[name] = time.monotonic()
            self.colors[name] = f"#{len(self.sent):06x}"
            self.house.observer.send(f"jacquard/tag/{serial}/led/set", {
                "id": name, "color": self.colors[name], "duration_ms": 100})
            self.plan(time.monotonic() + self.tags[serial].numbers.uniform(3, 7), self.command, serial)

    def fault(self) -> None:
        """Begins a fault, and plans its end and the next one."""
        # Each kind once before any is repeated.
        self.kinds = self.kinds or self.numbers.sample(FAULTS, len(FAULTS))
        now, kind, house = time.monotonic(), self.kinds.pop(), self.house
        duration = self.numbers.uniform(2, 20)
        fault = Fault(kind, now)
        with self.lock:
            self.faults.append(fault)
        if kind.endswith("unplugged"):
            house.tags.type(f"adapter unplug {0 if fault.radio == 'hall' else 1}")
        elif kind == "attic killed":
            house.ssh.kill()
        elif kind == "loft frozen":
            house.tags.type("esphome silent")
        else:
            house.tags.type("esphome drop")
            duration = 0
        self.plan(now + duration, self.end_fault, fault)
        self.plan(now + duration + self.numbers.uniform(8, 20), self.fault)

    def end_fault(self, fault: Fault) -> None:
        """Ends a fault."""
        house = self.house
        if fault.kind.endswith("unplugged"):
            house.tags.type(f"adapter plug {0 if fault.radio == 'hall' else 1}")
        elif fault.kind == "attic killed":
            house.ssh.start()
        elif fault.kind == "loft frozen":
            house.tags.type("esphome clear")
        with self.lock:
            fault.end = time.monotonic()

    def run(self) -> None:
        """Walks for the given time, ends all faults, and waits until everything is right again."""
        begin = time.monotonic()
        end = begin + 60 * self.minutes
        self.plan(begin, self.step, begin)
        for number, serial in enumerate(SERIALS):
            self.plan(begin + number * 0.1, self.gesture, serial)
            self.plan(begin + 1 + number * 0.5, self.command, serial)
        self.plan(begin + 5, self.fault)
        while self.agenda and self.agenda[0][0] < end:
            when, _, action, arguments = heapq.heappop(self.agenda)
            time.sleep(max(0, when - time.monotonic()))
            action(*arguments)
        for fault in self.faults:
            if fault.end == math.inf:
                self.end_fault(fault)
        with self.lock:
            for serial, tag in self.tags.items():
                tag.place = (20.0, 20.0)
                self.house.tags.type(f"move {serial} 20,20")
        self.house.wait_connected(SERIALS, 90)
        wait_for("all radios are used again", lambda: self.usable == set(PLACES), 90)
        wait_for("every command has its result", lambda: self.sent.keys() <= self.results.keys(), 20)
        now = time.monotonic()
        wait_for("late messages", lambda: time.monotonic() > now + PATIENCE)

    # Report

    def fault_of(self, radio: str | None, begin: float, end: float) -> Fault | None:
        """A fault of a radio in an interval."""
        return next((f for f in self.faults if f.radio == radio and f.begin <= end and f.end >= begin), None)

    def holder(self, tag: TagRecord, old: Link, new: Link) -> Fault | None:
        """The fault of a radio that has connected the tag in a gap and could not use the link."""
        for begin, end in (link for link in tag.linked if len(link) == 2):
            if old.end < begin and end <= new.begin and end - begin > CUT:
                for fault in self.faults:
                    if fault.kind in HOLDING and fault.begin <= end and fault.end >= begin:
                        return fault
        return None

    def gap_rows(self) -> dict[str, list[float]]:
        """The gaps between links by their cause."""
        rows: dict[str, list[float]] = {"walk": [], "walk, since the tag left the range": []}
        for tag in self.tags.values():
            for old, new in itertools.pairwise(tag.links):
                begin, fault = old.end, self.fault_of(old.radio, old.end - CUT, old.end)
                holder = self.holder(tag, old, new)
                if fault and fault.kind in HOLDING:
                    # The tag may keep a link that nobody can use.
                    begin = min(begin, max(fault.begin, old.begin))
                elif holder:
                    fault = holder
                if any(begin - STEP <= at <= new.begin for at in tag.uncovered):
                    cause = "no usable radio in range"
                else:
                    cause = fault.kind if fault else "walk"
                rows.setdefault(cause, []).append(new.begin - begin)
                if cause in HOLDING:
                    rows.setdefault(f"{cause}, since the fault ended", []).append(max(0, new.begin - fault.end))
                left = tag.left.get(id(old))
                if cause == "walk" and left:
                    rows["walk, since the tag left the range"].append(new.begin - left)
        return rows

    def kind(self, gesture: GestureRecord) -> str:
        """Whether a gesture was made on a live link, or why not."""
        link = gesture.link
        if link is None:
            return "no subscription"
        if link.radio and not self.in_range(gesture.place, link.radio):
            return "out of range of its link"
        if self.fault_of(link.radio, gesture.made, gesture.made + (0 if gesture.arrivals else CUT)):
            return "fault of its radio"
        if not gesture.arrivals and link.end is not None and link.end - gesture.made < CUT:
            return "link cut within 1 s"
        return "live link"

    def report(self) -> bool:
        """Prints the table. Returns whether everything is as it should be."""
        problems = []
        print(f"{len(self.faults)} faults: " + ", ".join(
            f"{count} {kind}" for kind, count in sorted(Counter(f.kind for f in self.faults).items())))
        print(f"\n{'gap between links':44}{'n':>5}{'p50 s':>8}{'p99 s':>8}{'max s':>8}")
        rows = self.gap_rows()
        for cause, gaps in sorted(rows.items()):
            if gaps:
                print(f"{cause:44}{len(gaps):5}{percentile(gaps, 50):8.2f}{percentile(gaps, 99):8.2f}{max(gaps):8.2f}")
        overlap = [gap for cause, gaps in rows.items() for gap in gaps
                   if cause == "walk" or cause.endswith(("unplugged", "dropped"))]
        median, most = percentile(overlap, 50), percentile(overlap, 99)
        print(f"{'places overlap (walk, unplugged, dropped)':44}{len(overlap):5}{median:8.2f}{most:8.2f}{max(overlap, default=0):8.2f}")
        if median > TARGETS[0] or most > TARGETS[1]:
            problems.append(f"gaps p50 {median:.2f} s and p99 {most:.2f} s; at most {TARGETS} s")

        print(f"\n{'gestures made':44}{'n':>5}{'once':>8}{'lost':>8}{'doubled':>8}")
        table: dict[str, list[GestureRecord]] = {}
        for tag in self.tags.values():
            for gesture in tag.gestures:
                table.setdefault(self.kind(gesture), []).append(gesture)
        for kind, gestures in sorted(table.items()):
            arrivals = Counter(len(gesture.arrivals) for gesture in gestures)
            lost, doubled = arrivals[0], sum(count for number, count in arrivals.items() if number > 1)
            print(f"{kind:44}{len(gestures):5}{arrivals[1]:8}{lost:8}{doubled:8}")
            if doubled or (kind == "live link" and lost):
                problems.append(f"gestures on a {kind}: {lost} lost, {doubled} doubled")
        live = [g.arrivals[0] - g.made for g in table.get("live link", []) if g.arrivals]
        print(f"latency of a gesture on a live link: p50 {1000 * percentile(live, 50):.1f} ms, p99 {1000 * percentile(live, 99):.1f} ms")
        for serial, tag in self.tags.items():
            numbers = [number for _, number in tag.sequence]
            if numbers != list(range(numbers[0], numbers[0] + len(numbers))) if numbers else False:
                problems.append(f"sequence numbers of {serial} have gaps or repetitions")
            if tag.unknown:
                problems.append(f"gestures of {serial} that were not made, or came late: {tag.unknown}")

        finals = Counter(len(self.results.get(name, [])) for name in self.sent)
        codes = Counter(code or status for results in self.results.values() for status, code in results)
        print(f"\ncommands: {len(self.sent)}, with one final result {finals[1]}: {dict(codes)}")
        if finals[1] != len(self.sent):
            problems.append(f"number of final results of the commands: {dict(finals)}")
        executed = Counter()
        for name, results in self.results.items():
            times = self.tags[name[:4]].executed[self.colors[name]]
            executed[f"{results[0][1] or results[0][0]}, executed {times} times"] += 1
        print("; ".join(f"{count} {what}" for what, count in sorted(executed.items())))
        if executed["ok, executed 0 times"]:
            problems.append("a command with the result ok was not executed")

        gaps = [end - begin for tag in self.tags.values() for begin, end in tag.gaps]
        blinks = [after for tag in self.tags.values() for _, after in tag.offline]
        early = [after for after in blinks if after < OFFLINE_AFTER - 0.2]
        due = sum(1 for gap in gaps if gap > OFFLINE_AFTER + 0.3)
        print(f"\navailability: {len(blinks)} times offline, {due} gaps of the bridge above {OFFLINE_AFTER:g} s, "
              f"offline after {min(blinks, default=0):.2f} to {max(blinks, default=0):.2f} s, {len(gaps)} gaps in all")
        if early:
            problems.append(f"offline too early, after {early} s")
        if len(blinks) < due:
            problems.append(f"{due - len(blinks)} long gaps without offline")
        if self.house.bridge.process.poll() is not None:
            problems.append("the bridge has ended")
        for problem in problems:
            print(f"FAILED: {problem}")
        return not problems
