"""Bridges that do a tag's whole handshake, publish its gestures and carry out LED commands, each against a bus, a broker
and simulated tags of its own.

The tags are bonded and on the bus from the start; their serials are known only once discovery runs. A tag tells its battery
and its gear after the first configuration write, and gives gestures only when it is told to: the six known kinds in turn,
tag by tag. Gestures are paired with what arrived by `seq`, so that a lost one does not shift the others."""
import os
import shutil
import struct
import tempfile
import time

from rig import Candidate, Daemons, Tool, cpu_ns, memory, switches

BASE, INSTANCE = "jacquard", "rig"
GESTURES = (1, 2, 3, 7, 13, 14)  # in the order of tag.c
LED = '{"color":"#ff0000","pattern":"breathing","duration_ms":2000,"component":"tag"}'
DRAIN = 20  # seconds to wait for late messages
CONFIGURATION = """instance: rig
mqtt:
  host: 127.0.0.1
  port: {port}
  base_topic: jacquard
{without}tags:
{tags}"""
REFLEXES = "reflexes:\n" + "".join(
    f"  - {{on: {name}, cooldown_ms: 0, do: 'led {LED}'}}\n"
    for name in ("double_tap", "brush_in", "brush_out", "cover", "brush_up", "brush_down"))


def percentiles(ns):
    """p50, p99 and the slowest of latencies in ns, as us."""
    ns = sorted(ns)
    if not ns:
        return {}
    return {"p50_us": ns[(len(ns) - 1) // 2] / 1000, "p99_us": ns[int((len(ns) - 1) * 0.99)] / 1000,
            "slowest_us": ns[-1] / 1000}


def read(path, layout):
    with open(path, "rb") as f:
        return list(struct.iter_unpack(layout, f.read()))


class Run:
    """One candidate with N tags, from its start to its end; `options` has mode and rig, the folder of its programs."""

    def __init__(self, options, name, command, tags, parent, settings=""):
        self.options, self.name, self.tags = options, name, tags
        self.work = tempfile.mkdtemp(dir=parent)
        self.state = os.path.join(self.work, "state")
        os.mkdir(self.state)
        self.open = []
        self.daemons = Daemons(self.work)
        self.open.append(self.daemons)
        self.bluez = self.tool([os.path.join(options.rig, "fakebluez"), str(tags), options.mode], self.daemons.env)
        self.sink = self.tool([os.path.join(options.rig, "tagsink"), str(self.daemons.port), BASE, str(tags)])
        self.told = [0] * tags  # gestures sent to each tag so far
        self.origin = {}  # the `seq` of its first one
        serials = [f"{i + 1:04d}" for i in range(tags)]
        config = os.path.join(self.work, "config.yaml")
        with open(config, "w") as f:
            without = "" if "home_assistant" in settings else "home_assistant: {discovery: false}\n"
            f.write(CONFIGURATION.format(port=self.daemons.port, without=without, tags="".join(f'  - serial: "{s}"\n' for s in serials)) + settings)
        keys = dict(bus=self.daemons.bus, port=self.daemons.port, mode=options.mode, state=self.state, config=config,
                    base=BASE, instance=INSTANCE, serials=",".join(serials))
        for key, value in keys.items():
            command = command.replace("{" + key + "}", str(value))
        self.p = Candidate(name, command, self.daemons.env, self.work)

    def tool(self, argv, env=None):
        t = Tool(argv, env)
        self.open.append(t)
        if t.wait("ready") is None:
            raise RuntimeError(f"{argv[0]} did not start")
        return t

    def close(self):
        self.p.close()
        for x in reversed(self.open):
            x.close()
        shutil.rmtree(self.work, ignore_errors=True)

    def ask(self, tool, line, *events, timeout=20.0):
        tool.drain()
        tool.send(line)
        got = tool.wait(*events, timeout=timeout)
        if got is None:
            raise RuntimeError(f"{self.name}: no answer to `{line}`")
        return got

    def expect(self, tool, *events, timeout):
        """Waits for an event that only comes if the candidate does its part."""
        end = time.monotonic() + timeout
        while (got := tool.wait(*events, timeout=0.25)) is None:
            if self.p.ended() is not None:
                raise RuntimeError(f"{self.name} ended with status {self.p.ended()}")
            if time.monotonic() > end:
                raise RuntimeError(f"{self.name}: no `{' or '.join(events)}` within {timeout:.0f} s")
        return got

    def dump(self, tool, command, layout):
        path = os.path.join(self.work, "dump")
        self.ask(tool, f"{command} {path}", "dumped")
        return read(path, layout)

    def start(self):
        first = self.expect(self.bluez, "acquired", "notify-on", timeout=30)
        done = self.expect(self.sink, "all-connected", timeout=60 + self.tags)
        out = {"first_ms": (first["t_ns"] - self.p.t0_ns) / 1e6, "all_ms": (done["t_ns"] - self.p.t0_ns) / 1e6, "cpu_ms": cpu_ns(self.p.pid) / 1e6}
        self.sink.send("retained")
        self.expect(self.sink, "retained", timeout=5)
        return out

    def settled(self):
        """Waits until the candidate has used no CPU for a second, and returns in ms what it has used."""
        used, since = cpu_ns(self.p.pid), time.monotonic()
        while time.monotonic() < since + 1:
            time.sleep(0.05)
            if (now := cpu_ns(self.p.pid)) > used + 1_000_000:
                used, since = now, time.monotonic()
        return used / 1e6

    def warm_up(self):
        """Some gestures of every tag: shows that they come through, and where each tag's `seq` begins."""
        count = 6 * self.tags
        self.ask(self.sink, f"arm gesture {count}", "armed")
        self.ask(self.bluez, f"gen 200 {count}", "generated", timeout=60)
        self.expect(self.sink, "report", timeout=10)
        for _t, seq, tag, _number in self.dump(self.sink, "dump", "<QQII"):
            self.origin.setdefault(tag, seq)
        self.told = [6] * self.tags

    def idle(self, seconds):
        cpu, woken = cpu_ns(self.p.pid), switches(self.p.pid)
        time.sleep(seconds)
        return {"cpu_ms_s": (cpu_ns(self.p.pid) - cpu) / 1e6 / seconds, "wakeups_s": (switches(self.p.pid) - woken) / seconds}

    def gestures(self, rate, count):
        """One run of the generator: CPU per event, latency, throughput, and whether all came once and in order."""
        pid = self.p.pid
        self.ask(self.sink, f"arm gesture {count}", "armed")
        cpu, woken = cpu_ns(pid), switches(pid)
        made = self.ask(self.bluez, f"gen {rate} {count}", "generated", timeout=(count / rate if rate else 120) + 60)
        self.sink.wait("report", timeout=DRAIN)
        time.sleep(0.1)  # anything that comes twice
        out = {"cpu_us": (cpu_ns(pid) - cpu) / 1000 / count, "wakeups_per_event": (switches(pid) - woken) / count, "undelivered": made["dropped"]}
        sent = [t for t, in self.dump(self.bluez, "dump", "<Q")]
        got = self.dump(self.sink, "dump", "<QQII")
        out.update(self.check(count, sent, got))
        if got:
            out["rate"] = len(got) * 1e9 / max(1, got[-1][0] - made["start_ns"])
        return out

    def reflexes(self, rate, count):
        """Gestures with a reflex for each, while the broker is gone: until the write at the tag."""
        self.daemons.parts[-1].stop()
        time.sleep(0.5)
        self.dump(self.bluez, "dump-led", "<QQ")
        cpu = cpu_ns(self.p.pid)
        self.ask(self.bluez, f"gen {rate} {count}", "generated", timeout=count / rate + 60)
        time.sleep(1)
        cpu = cpu_ns(self.p.pid) - cpu
        sent = [t for t, in self.dump(self.bluez, "dump", "<Q")]
        nth, late = {}, []
        for t, tag in self.dump(self.bluez, "dump-led", "<QQ"):
            nth[tag] = nth.get(tag, -1) + 1
            k = nth[tag] * self.tags + tag
            if k < len(sent):
                late.append(t - sent[k])
        return {"cpu_us": cpu / 1000 / count, "lost": count - len(late), **percentiles(late)}

    def check(self, count, sent, got):
        n, seen, last, late = self.tags, set(), {}, []
        doubled = disorder = wrong = 0
        for t, seq, tag, number in got:
            nth = seq - self.origin[tag] - self.told[tag]  # `seq` counts the tag's gestures
            k = nth * n + tag
            wrong += number != GESTURES[nth % len(GESTURES)]
            if not 0 <= k < count or k % n != tag:
                wrong += 1
                continue
            doubled += k in seen
            disorder += k < last.get(tag, -1)
            seen.add(k)
            last[tag] = k
            late.append(t - sent[k])
        for tag in range(n):
            self.told[tag] += (count - tag + n - 1) // n
        return {"lost": count - len(seen), "doubled": doubled, "disorder": disorder, "wrong": wrong, **percentiles(late)}

    def commands(self, rate, count):
        """LED commands over MQTT, to the tags in turn: until the write at the tag, and until the result is published."""
        self.ask(self.sink, f"arm led/result {count}", "armed")
        self.dump(self.bluez, "dump-led", "<QQ")
        cpu = cpu_ns(self.p.pid)
        self.sink.drain()
        self.sink.send(f"send {rate} {count} led/set {LED}")
        self.sink.wait("sent", timeout=count / rate + 20)
        self.sink.wait("report", timeout=DRAIN)
        cpu = cpu_ns(self.p.pid) - cpu
        time.sleep(0.1)
        sent = {}
        for t, _seq, tag, _n in self.dump(self.sink, "dump-sent", "<QQII"):
            sent.setdefault(tag, []).append(t)
        written = [(tag, t) for t, tag in self.dump(self.bluez, "dump-led", "<QQ")]
        results = [(tag, t, ok) for t, _seq, tag, ok in self.dump(self.sink, "dump", "<QQII")]

        def pair(arrivals):
            nth, late = {}, []
            for tag, t in arrivals:
                i = nth[tag] = nth.get(tag, -1) + 1
                if i < len(sent.get(tag, ())):
                    late.append(t - sent[tag][i])
            return percentiles(late)

        return {"cpu_us": cpu / 1000 / count, "write": pair(written), "result": pair((tag, t) for tag, t, _ok in results),
                "lost": count - len(written), "unanswered": count - sum(ok for _tag, _t, ok in results)}
