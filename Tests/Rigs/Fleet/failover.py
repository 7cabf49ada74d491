"""A bridge with all nodes of a cluster in mqtt.hosts, under load, while each node fails once and returns."""
from __future__ import annotations

import contextlib
import datetime
import json
import pathlib
import signal
import subprocess
import threading
import time

from brokers import Cluster
from clients import PROBE, TAG, Control, Observer, Watch, retained
from programs import Bridge, Program, Simulator, Stopwatch, wait_for

GESTURES, COMMANDS = 20, 5
STATE, INFO = "jacquard/bridge/fleet/state", "jacquard/bridge/fleet/info"
# A failure has ended when everything was right for so many seconds: longer than a request of a NATS node to its cluster.
STABLE = 5
# The longest failure. Some last until the node is back, for every client of the servers.
FAILURE = 60
# The longest return: on a busy machine, NATS takes minutes to elect leaders.
PATIENCE = 300
# How long nodes may wait for one that was cut off: 1.25 times the 10 s after which they notice it.
WAITING = 12.5


class Rig:
    def __init__(self, folder: pathlib.Path, stack: contextlib.ExitStack, cluster: Cluster) -> None:
        self.folder, self.cluster = folder, cluster
        stack.callback(self.stop)
        self.parts: list[Program] = []
        self.observers: list[Observer] = []
        self.running = False
        self.probes = 0
        # What has not become right again; the rounds before are complete.
        self.problem = ""

    def start(self) -> None:
        folder, cluster = self.folder, self.cluster
        cluster.start()
        self.everywhere = list(range(cluster.count))
        self.tags = Simulator(folder, "--tags", "1")
        self.parts.append(self.tags)
        self.observers = [Observer(cluster, number) for number in self.everywhere]
        for observer in self.observers:
            assert observer.is_ready.wait(60), "an observer cannot subscribe"
        began = time.monotonic()
        self.bridge = Bridge(
            folder, self.tags.address, f"instance: fleet\n{cluster.bridge()}tags:\n  - serial: '0001'\n")
        self.parts.append(self.bridge)
        wait_for("the bridge is connected", lambda: "connected to the broker" in self.bridge.printed())
        self.start_time = time.monotonic() - began
        # The node and the time of each command.
        self.sent: dict[str, tuple[int, float]] = {}
        self.talkers = list(self.observers)
        self.level = 50
        self.running = True
        self.threads = [threading.Thread(target=body, daemon=True) for body in (self.gesture, self.command)]

    def bridge_node(self) -> int | None:
        """The node that the bridge's process has a connection to."""
        process = self.bridge.process.pid
        inodes = set()
        for link in pathlib.Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(OSError):
                inodes.add(str(link.readlink()).removeprefix("socket:[").removesuffix("]"))
        for line in pathlib.Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
            words = line.split()
            port = int(words[2].split(":")[1], 16)
            if words[3] == "01" and words[9] in inodes and port in self.cluster.ports:
                return self.cluster.ports.index(port)
        return None

    def gesture(self) -> None:
        start, count = time.monotonic(), 0
        while self.running:
            self.tags.type("gesture 0001 double_tap")
            count += 1
            time.sleep(max(0, start + count / GESTURES - time.monotonic()))

    def command(self) -> None:
        start, count = time.monotonic(), 0
        while self.running:
            number = count % len(self.talkers)
            talker, name = self.talkers[number], f"c{count}"
            self.sent[name] = self.observers.index(talker), time.time()
            talker.client.publish(f"{TAG}/led/set", json.dumps({"id": name, "color": "#0000ff", "duration_ms": 100}), 1)
            count += 1
            time.sleep(max(0, start + count / COMMANDS - time.monotonic()))

    def wrong(self, nodes: list[int]) -> list[str]:
        """What is not retained as it should be at some nodes."""
        own = self.bridge_node()
        wrong = ["the bridge is not connected"] if own is None else []
        node = f'"node":"127.0.0.1:{self.cluster.ports[own or 0]}"'
        expected = {
            STATE: lambda text: text == "online", f"{TAG}/availability": lambda text: text == "online",
            INFO: lambda text: node in text,
            f"{TAG}/battery/level": lambda text: text == str(self.level),
            f"{TAG}/connection": lambda text: '"state":"connected"' in text,
            f"{TAG}/info": lambda text: '"bridge":"fleet"' in text,
        }
        if not self.cluster.shows_everywhere:
            nodes = [] if own is None else [own]
        for number in nodes:
            facts = retained(self.cluster, number, list(expected))
            wrong += [
                f"node{number} {topic} {facts.get(topic)}" for topic, test in expected.items()
                if not test(facts.get(topic, ""))]
        return wrong

    def set_battery(self) -> None:
        """A change that happens while the bridge has no broker."""
        self.level += 1
        self.tags.type(f"battery 0001 {self.level}")

    def wait_right(self, nodes: list[int], seconds: float = 60) -> None:
        watch = Stopwatch()
        while wrong := self.wrong(nodes):
            if watch.seconds() > seconds:
                raise TimeoutError(f"not right after {seconds} s: {wrong}")
            # Each check takes a port of the machine for a minute.
            time.sleep(0.1)

    def flows(self, nodes: list[int]) -> bool:
        """Whether gestures of the last second have reached some nodes."""
        return all(time.monotonic() - self.observers[number].received < 1 for number in nodes)

    def carries(self, node: int) -> bool:
        """Whether a message from a node arrives at all others, and one from another at it."""
        for source, sinks in (node, self.everywhere), (self.everywhere[node - 1], [node]):
            self.probes += 1
            probe = str(self.probes).encode()
            self.observers[source].client.publish(PROBE, probe, 1)
            end = time.monotonic() + 2
            while not all(probe in self.observers[sink].probes for sink in sinks):
                if time.monotonic() > end:
                    return False
                time.sleep(0.02)
        return True

    def run(self, failures: list[str]) -> list[dict[str, object]]:
        self.set_battery()
        self.wait_right(self.everywhere)
        for thread in self.threads:
            thread.start()
        time.sleep(2)
        rounds: list[dict[str, object]] = []
        for failure in failures:
            remaining = list(self.everywhere)
            while remaining:
                own = self.bridge_node()
                node = own if own in remaining else remaining[0]
                try:
                    rounds.append(self.round(failure, node))
                except (AssertionError, TimeoutError) as problem:
                    self.problem = f"{failure} of node {node}: {problem}"
                    break
                remaining.remove(node)
            if self.problem:
                break
        time.sleep(1)
        self.running = False
        for thread in self.threads:
            thread.join()
        for result in rounds:
            self.evaluate(result)
        return rounds

    def fail(self, failure: str, node: int) -> None:
        """Ends a node, or cuts it off: it is not scheduled, and its connections stay open."""
        if failure == "kill":
            self.cluster.nodes[node].kill()
        else:
            self.cluster.nodes[node].process.send_signal(signal.SIGSTOP)

    def bring_back(self, failure: str, node: int) -> None:
        program = self.cluster.nodes[node]
        if failure == "cut":
            program.process.send_signal(signal.SIGCONT)
            if not self.cluster.restarts_after_cut:
                return
            program.kill()
        program.start()

    def round(self, failure: str, node: int) -> dict[str, object]:
        """Lets a node fail, waits until everything is right without it, and brings it back."""
        is_own = node == self.bridge_node()
        survivors = [number for number in self.everywhere if number != node]
        self.talkers = [self.observers[number] for number in survivors]
        # The same order as that of the bridge.
        control = Control(self.cluster, self.everywhere[node:] + self.everywhere[:node])
        assert control.ready.wait(30), "the control client cannot subscribe"
        time.sleep(2)
        first = max(self.observers[number].last() for number in survivors)
        expired = self.expired(survivors, first)
        first_command = len(self.sent)
        began, failed_at = time.monotonic(), time.time()
        self.fail(failure, node)
        self.set_battery()
        conditions = {
            "connected": lambda: self.bridge_node() in survivors,
            "right": lambda: not self.wrong(survivors), "control": lambda: control.ready.is_set() and control.node != node,
            "control_right": lambda: control.is_right(survivors), "flow": lambda: self.flows(survivors),
        }
        # The time of a condition is that after which it stays true.
        watches = {name: Watch(condition) for name, condition in conditions.items()}
        while time.monotonic() < began + FAILURE and any(watch.age() < STABLE for watch in watches.values()):
            time.sleep(0.1)
        times = {name: round(watch.stop() - began, 2) for name, watch in watches.items()}
        control.stop()
        returned = time.monotonic()
        self.bring_back(failure, node)
        wait_for(f"plain clients of node {node} and of the others receive each other's messages", lambda: self.carries(node), PATIENCE)
        self.wait_right(self.everywhere, PATIENCE)
        times["returned"] = round(time.monotonic() - returned, 2)
        last, last_command = min(self.observers[number].last() for number in survivors), len(self.sent)
        expired = self.expired(survivors, last) - expired
        unseen = [seq for seq in range(first + 1, last + 1) if not self.is_delivered(seq)]
        acknowledged = self.acknowledged(unseen) if len(unseen) > expired else 0
        return {
            "acknowledged": acknowledged,
            "failure": failure, "failed_at": failed_at, "node": node, "of_bridge": is_own, "survivors": survivors, "first": first, "last": last,
            "expired": expired, "first_command": first_command, "last_command": last_command, **times,
        }

    def is_delivered(self, sequence: int) -> bool:
        """Whether an observer has received a gesture, be it that of the node that failed."""
        # While that node runs, its observer may be the only one: when a subscriber's acknowledgement reaches a server
        # before the message itself, NATS before 2.9.16 deletes the message for all other subscribers.
        return any(sequence in observer.arrivals for observer in self.observers)

    def acknowledged(self, sequences: list[int]) -> int:
        """How many of the latest of some gestures the broker has acknowledged, by the bridge's traces."""
        program, _, _, configuration = self.bridge.command
        count = 0
        for sequence in sequences[-200:]:
            printed = subprocess.run(
                [program, "explain", "--config", configuration, "--json", "0001", str(sequence)],
                capture_output=True, text=True, timeout=60, check=False).stdout
            with contextlib.suppress(ValueError, LookupError):
                count += json.loads(printed)["gestures"][0]["stage"] == "acknowledged"
        return count

    def evaluate(self, result) -> None:
        """Counts after the end of the load, so that what is late is not lost."""
        with contextlib.suppress(TimeoutError):
            wait_for("the last results", lambda: not self.without(result), 15)
        seen = [self.observers[number].gestures for number in result["survivors"]]
        boots = {boot for observer in self.observers for boot, _ in observer.gestures}
        counts = [
            [sum(len(gestures.get((boot, seq), [])) for boot in boots) for gestures in seen]
            for seq in range(result["first"] + 1, result["last"] + 1)]
        # A gesture that one node has delivered was published; the other nodes have lost it.
        # One that was delivered and not acknowledged before it expired counts as expired, too.
        unseen = [seq for seq in range(result["first"] + 1, result["last"] + 1) if not self.is_delivered(seq)]
        result["lost"] = max(0, len(unseen) - result["expired"])
        # A cluster that ends sessions may do so to all subscribers at once.
        survivors = [self.observers[number] for number in result["survivors"]]
        unheard = 0 if self.cluster.keeps_sessions else sum(
            all(observer.missed(sequence) for observer in survivors) for sequence in unseen)
        result["unheard"] = min(result["lost"], unheard)
        result["lost"] -= result["unheard"]
        result["lost_at_one_node"] = sum(not all(row) for row in counts) - len(unseen)
        # QoS 1 delivers at least once: what was not acknowledged is sent again, byte for byte.
        result["repeated_gestures"] = sum(max(row) > 1 for row in counts)
        result["doubled"] = sum(
            len({payload for gestures in seen for boot in boots for payload in gestures.get((boot, seq), [])}) > 1
            for seq in range(result["first"] + 1, result["last"] + 1))
        result["gestures"] = result["last"] - result["first"]
        result["commands"] = result["last_command"] - result["first_command"]
        missing = self.without(result)
        # Without a session there is no subscription at that moment.
        gaps = [] if self.cluster.keeps_sessions else self.gaps()
        if gaps and result["of_bridge"]:
            # The bridge notices a node that was cut off later.
            gaps.append((result["failed_at"], result["failed_at"] + float(result["connected"]) + 0.5))
        elif result["failure"] == "cut":
            # The other nodes wait for the one that was cut off, and then end sessions that have waited.
            failed = float(result["failed_at"])
            gaps += [(failed, end) for begin, end in gaps if failed < begin < failed + WAITING]
        # As with gestures: a result that one node has delivered was published; the other node has lost it.
        unpublished = [command for command in missing if not command["elsewhere"]]
        unserved = [command for command in unpublished if any(begin <= command["at"] <= end for begin, end in gaps)]
        result["missing"] = missing
        result["unserved"] = len(unserved)
        result["results_at_one_node"] = len(missing) - len(unpublished)
        result["without_result"] = len(unpublished) - len(unserved)
        results = [self.observers[self.sent[name][0]].results.get(name, []) for name in self.names(result)]
        result["two_results"] = sum(len(set(payloads)) > 1 for payloads in results)
        result["repeated_results"] = sum(len(payloads) > len(set(payloads)) for payloads in results)

    def gaps(self) -> list[tuple[float, float]]:
        """When the bridge had no connection, with the time that a command may take."""
        gaps, begin = [], None
        for text in self.bridge.printed().splitlines():
            at = datetime.datetime.fromisoformat(text.split(" ", 1)[0]).timestamp()
            if " mqtt: connected" in text and begin is not None:
                gaps.append((begin - 0.5, at + 0.5))
                begin = None
            elif " mqtt: " in text and "endpoint=" in text and "connected to" not in text:
                begin = begin or at
        return gaps

    def names(self, result) -> list[str]:
        """The commands of a round."""
        return [f"c{count}" for count in range(result["first_command"], result["last_command"])]

    def without(self, result) -> list[dict[str, object]]:
        """The commands without a result at the node that they were sent to."""
        return [
            {"node": node, "at": at, "elsewhere": any(name in observer.results for observer in self.observers)}
            for name in self.names(result) for node, at in [self.sent[name]]
            if name not in self.observers[node].results]

    def expired(self, nodes: list[int], last: int) -> int:
        """The number of expired gestures up to one of them, by the bridge's own count."""
        def count() -> dict[str, object] | None:
            stats = [self.observers[number].stats for number in nodes]
            return next((document for document in stats if document.get("last_seq", -1) >= last), None)
        return int(wait_for("the statistics", count)["expired"])

    def stop(self) -> None:
        self.running = False
        for observer in self.observers:
            observer.client.loop_stop()
        for part in reversed(self.parts):
            part.stop()
        self.cluster.stop()
