#!/usr/bin/env python3
"""Measures the daemon beside a single-threaded C program and a Python bridge that do the same work, in turn."""
import argparse
import json
import os
import signal
import sys
import tempfile
import time

import report
from rig import flat, memory
from scenario import REFLEXES, Run


def candidates(options):
    """Name and command line; the order is reversed every other round."""
    peers = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "peers")
    arguments = "run --config {config} --state {state}"
    return {
        "floor": f"{options.rig}/floor {{bus}} {{port}} {{base}} {{instance}} {{serials}} {{mode}}",
        "python": f"env PYTHONPATH={options.rig} {options.python} {peers}/python_bridge.py "
                  "{port} {base} {instance} {serials} {mode}",
        "before": f"{options.before} {arguments}",
        "jacquard2mqtt": f"{options.daemon} {arguments}",
    }


def with_tags(options, name, command, tags, body, settings=""):
    with tempfile.TemporaryDirectory(prefix="bench.") as work:
        run = Run(options, name, command, tags, work, settings)
        try:
            return body(run)
        except Exception:
            sys.stderr.write(run.p.tail())
            raise
        finally:
            run.close()


def whole(options):
    """Everything with one number of tags."""
    def body(run):
        figures = {"start": run.start()}
        time.sleep(1.5)  # what follows a connection: the gear's turn
        figures["idle"] = run.idle(options.idle)
        figures["memory"] = memory(run.p.pid)
        run.warm_up()
        for rate in options.rates:
            figures[str(rate)] = run.gestures(rate, max(200, int(rate * options.seconds)))
        figures["led"] = run.commands(50, options.commands)
        figures["burst"] = run.gestures(0, options.burst)
        figures["after"] = memory(run.p.pid)
        return figures
    return body


def small(run):
    """The start, memory and the cost of a gesture, for the growth with the number of tags."""
    start = run.start()
    time.sleep(2)
    used = memory(run.p.pid)
    run.warm_up()
    return {"start_ms": start["all_ms"], "start_cpu_ms": start["cpu_ms"], "rss_mb": used["rss_mb"],
            "cpu_us": run.gestures(1000, 2000)["cpu_us"]}


def growth(options, name, command):
    sizes = {}
    for tags in options.growth:
        try:
            sizes[str(tags)] = with_tags(options, name, command, tags, small)
        except Exception as error:  # what has been measured stays good
            print(f"# {name}, {tags} tags: {error}", file=sys.stderr)
    if len(sizes) > 1:
        low, high = min(sizes, key=int), max(sizes, key=int)
        sizes["kb_per_tag"] = (sizes[high]["rss_mb"] - sizes[low]["rss_mb"]) * 1024 / (int(high) - int(low))
    return sizes


def known(options, name, command):
    """The start with tags that are listed but absent, announced to Home Assistant: CPU until nothing more is done."""
    def body(run):
        run.start()
        return {"cpu_ms": run.settled()}

    def listed(count):
        return "".join(f"  - serial: {chr(65 + number // 1000)}{number % 1000:03d}\n" for number in range(count))
    return {str(count): with_tags(options, name, command, 1, body, listed(count) + "home_assistant: {discovery: true}\n")
            for count in options.known}


def measure(options, mode):
    options.mode = mode
    rounds = {name: [] for name in options.candidates}
    commands = candidates(options)
    for number in range(options.rounds):
        for name in options.candidates if number % 2 == 0 else reversed(options.candidates):
            try:
                figures = with_tags(options, name, commands[name], options.tags, whole(options))
                if number == 0:
                    figures["growth"] = growth(options, name, commands[name])
                    if name == "jacquard2mqtt":
                        figures["known"] = known(options, name, commands[name])
                rounds[name].append(flat(figures))
            except Exception as error:
                print(f"# {name}: {error}", file=sys.stderr)
    return {name: figures for name, figures in rounds.items() if figures}


def reflexes(options):
    """From a gesture to the LED command of its reflex, without a broker, beside the floor, which writes at once."""
    os.environ["REFLEX"] = "1"

    def body(run):
        run.start()
        run.warm_up()
        return run.reflexes(options.reflex, int(options.reflex * options.seconds))

    for mode in options.mode:
        options.mode, rounds = mode, {"floor": [], "jacquard2mqtt": []}
        for number in range(options.rounds):
            for name in list(rounds)[::1 if number % 2 == 0 else -1]:
                command = candidates(options)[name]
                rounds[name].append(with_tags(options, name, command, options.tags, body, REFLEXES))
        yield mode, {name: report.best(figures) for name, figures in rounds.items()}


def endurance(options):
    """So many gestures through QoS 1, in ten parts; the memory after each."""
    options.mode = "acquire"

    def body(run):
        run.start()
        run.warm_up()
        faults, sizes = {}, []
        for _ in range(10):
            part = run.gestures(4000, options.endurance // 10)
            for key in report.FAULTS:
                faults[key] = faults.get(key, 0) + part.get(key, 0)
            sizes.append(round(memory(run.p.pid)["rss_mb"], 2))
        return {"gestures": options.endurance, "rss_mb": sizes, **faults}
    return with_tags(options, "jacquard2mqtt", candidates(options)["jacquard2mqtt"], options.tags, body)


def arguments():
    numbers = lambda text: [int(part) for part in text.split(",") if part]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rig", required=True, help="folder of the built rig")
    parser.add_argument("--daemon", required=True, help="the program jacquard2mqtt, a release build")
    parser.add_argument("--before", metavar="PROGRAM", help="another build of the daemon, for the same rounds")
    parser.add_argument("--python", required=True, help="interpreter with bleak, paho-mqtt and protobuf")
    parser.add_argument("--mode", default="acquire,signal", type=lambda text: text.split(","))
    parser.add_argument("--candidates", default="floor,python,jacquard2mqtt", type=lambda text: text.split(","))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tags", type=int, default=20)
    parser.add_argument("--growth", type=numbers, default="1,20,100,400", help="numbers of tags, in the first round")
    parser.add_argument("--known", type=numbers, default="1000,3000", help="numbers of absent tags, in the first round")
    parser.add_argument("--rates", type=numbers, default="100,2000", help="gestures a second")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each rate")
    parser.add_argument("--idle", type=float, default=3.0, help="seconds")
    parser.add_argument("--commands", type=int, default=150)
    parser.add_argument("--burst", type=int, default=10000, help="gestures as fast as the candidate takes them")
    parser.add_argument("--endurance", type=int, default=0, metavar="GESTURES", help="only this, with the daemon alone")
    parser.add_argument("--reflex", type=float, default=0, metavar="RATE", help="only this: gestures a second, with a reflex for each")
    parser.add_argument("--json", help="all rounds, for machines")
    options = parser.parse_args()
    if options.before:
        options.candidates.insert(options.candidates.index("jacquard2mqtt"), "before")
    return options


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the rig's processes end with us
    if options.reflex:
        for mode, figures in reflexes(options):
            print(mode, json.dumps(figures), flush=True)
        return None
    if options.endurance:
        return print(json.dumps(endurance(options)))
    results = {}
    for mode in options.mode:
        results[mode] = measure(options, mode)
        print(report.table(options, mode, {name: report.best(figures) for name, figures in results[mode].items()}), flush=True)
    if options.json:
        with open(options.json, "w") as f:
            json.dump(results, f, indent=1)


if __name__ == "__main__":
    main()
