#!/usr/bin/env -S python3 -B
"""Plants errors in drivers and state machines, and counts how many of them Tests/simulate finds within a minute each.

usage: Tests/simulate --planted [--only N[,N...]] [--seconds N]

Run by hand. All errors are built at once, as release, into a copy of the tree below .build/planted. An environment variable
turns on one of them for each run, as in Tests/mutate. Each error gets the same seeds with one or two bridges, with some or
all faults, in turn. Without any error these seeds violate nothing.
The minute is processor time.
"""
import argparse
import os
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import schemata
from workspace import copy_tree

PROJECT = Path(__file__).resolve().parents[3]
FIRST_SEED = 1
FOLDER = PROJECT / ".build" / "planted"
TREE = FOLDER / "tree"

# The options of the runs, in turn.
WORLDS = [
    ["--minutes", "30"], ["--minutes", "30", "--all-faults"], ["--minutes", "30", "--bridges", "2"],
    ["--minutes", "60", "--all-faults"],
]


@dataclass
class Planted:
    """An error: a text of a file, which occurs there once, and its replacement. PLANTED is true while it is turned on."""

    title: str
    file: str
    old: str
    new: str


SESSION = "Sources/Tag/JacquardProtocol/Session/"
TAGS = "Sources/Tag/Tags/"
BRIDGE = "Sources/Bridge/Bridge/"
DAEMON = "Sources/Programs/Daemon/"

ERRORS = [
    Planted(
        "a lost link does not end the commands that wait", SESSION + "TagLink.swift",
        "actions += unsent.compactMap { $0.commandEndAtLinkLoss(isSent: false) }.map(TagSession.Action.emit)",
        "if !PLANTED { actions += unsent.compactMap { $0.commandEndAtLinkLoss(isSent: false) }.map(TagSession.Action.emit) }"),
    Planted(
        "the end of a write does not send the next request", SESSION + "TagLink.swift",
        "case .complete: sendNext(at: now, &actions)", "case .complete: if !PLANTED { sendNext(at: now, &actions) }"),
    Planted(
        "a timeout does not send the next request", SESSION + "TagLink.swift",
        "            probeIfSilent()\n            sendNext(at: now, &actions)",
        "            probeIfSilent()\n            if !PLANTED { sendNext(at: now, &actions) }"),
    Planted(
        "missing gear is never noticed", SESSION + "TagLink.swift",
        "gear.expect(by: now + timing.gearAnnouncement)",
        "if !PLANTED { gear.expect(by: now + timing.gearAnnouncement) }"),
    Planted(
        "an uncertain touch mode is not requested again", SESSION + "GearState.swift",
        "if isTouchModeUncertain { touchModeDue = now", "if !PLANTED, isTouchModeUncertain { touchModeDue = now"),
    Planted(
        "a request to connect is forgotten while a link ends", SESSION + "TagSession.swift",
        "then: .restart))", "then: PLANTED ? .stop(nil) : .restart))"),
    Planted(
        "values are ignored while a link ends", SESSION + "TagSession.swift",
        "        case .subscribing, .open, .closing: break\n",
        "        case .closing where PLANTED: return []\n        case .subscribing, .open, .closing: break\n"),
    Planted(
        "a session goes on when Bluetooth is switched off", SESSION + "TagSession.swift",
        "return endLink() + finish(.stop(error), at: now)",
        "return endLink() + (PLANTED ? [] : finish(.stop(error), at: now))"),
    Planted(
        "a late response is taken for the one of the next request", SESSION + "RequestQueue.swift",
        "guard inFlight?.id == id else", "guard PLANTED || inFlight?.id == id else"),
    Planted(
        "a tag that is found is not connected", TAGS + "TagDriver.swift",
        "        self.address = address\n        if isLooking {", "        self.address = address\n        if !PLANTED, isLooking {"),
    Planted(
        "sessions don't notice that Bluetooth is off", TAGS + "TagManager.swift",
        "if wasUsable {", "if !PLANTED, wasUsable {"),
    Planted(
        "actions of an event during another one are lost", TAGS + "TagDriver.swift",
        "for action in next { perform", "for action in next where !PLANTED { perform"),
    Planted(
        "pending commands have no result at a stop", BRIDGE + "State/BridgeState.swift",
        "{ stopped(command, at: now, &effects) }", "{ if !PLANTED { stopped(command, at: now, &effects) } }"),
    Planted(
        "messages without acknowledgement are not sent again", BRIDGE + "Outbox/Backlog.swift",
        "replaceMessages((unacknowledged + messages)", "replaceMessages(((PLANTED ? [] : unacknowledged) + messages)"),
    Planted(
        "expired gestures are not counted", BRIDGE + "Outbox/Backlog.swift",
        "if waiting.isExpired(at: now) { drop(waiting, as: .expired) } else { add(waiting) }",
        "if waiting.isExpired(at: now) { if !PLANTED { drop(waiting, as: .expired) } } else { add(waiting) }"),
    Planted(
        "facts are not published again on a new connection", BRIDGE + "Outbox/FactMirror.swift",
        "guard let topic, facts[topic]?.progress != .dropped else { return nil }",
        "guard let topic, (facts[topic]?.progress != .dropped) != PLANTED else { return nil }"),
    Planted(
        "gestures overtake those that are queued", BRIDGE + "Outbox/Outbox.swift",
        "guard hasRoom, waiting.isResult ? backlog.isEmpty : backlog.hasOnlyResults else",
        "guard PLANTED ? isConnected : hasRoom && (waiting.isResult ? backlog.isEmpty : backlog.hasOnlyResults) else"),
    Planted(
        "a problem stays after its cure", BRIDGE + "State/HealthMonitor.swift",
        "guard Set(current) != Set(problems.keys) else { return false }",
        "guard PLANTED ? !Set(current).isSubset(of: problems.keys) : Set(current) != Set(problems.keys) else { return false }"),
    Planted(
        "two bridges both respond for a tag that none has connected", BRIDGE + "State/PeerBridges.swift",
        "(name < instance && other.tags.contains(tag))", "(!PLANTED && name < instance && other.tags.contains(tag))"),
    Planted(
        "commands don't expire", BRIDGE + "Commands/PendingCommands.swift",
        "remove { $0.expiresAt <= now }", "remove { !PLANTED && $0.expiresAt <= now }"),
    Planted(
        "tags are not requested again when Bluetooth is back", BRIDGE + "State/LinkState.swift",
        "self.isOutOfService = isOutOfService\n        intent.requestAgain()",
        "self.isOutOfService = isOutOfService\n        if !PLANTED { intent.requestAgain() }"),
    Planted(
        "the end of a connection leaves a tag available", BRIDGE + "State/TagMirror.swift",
        "reconnects += 1 }\n            effects.publish(availabilityFact)",
        "reconnects += 1 }\n            if !PLANTED || isConnected { effects.publish(availabilityFact) }"),
    Planted(
        "detached gear stays attached", BRIDGE + "State/TagMirror.swift",
        "        gear.latest = Timestamped(value: component, at: now)\n",
        "        if !PLANTED || component != nil { gear.latest = Timestamped(value: component, at: now) }\n"),
    Planted(
        "a command that could not be sent is forgotten", BRIDGE + "State/BridgeState+Results.swift",
        "if let command = pendingCommands.command(token) { waitAgain",
        "if !PLANTED, let command = pendingCommands.command(token) { waitAgain"),
    Planted(
        "the list of connected tags does not follow", BRIDGE + "State/BridgeState+Tags.swift",
        "if isChanged { listsChanged", "if isChanged, !PLANTED { listsChanged"),
    Planted(
        "the timer of the handshake is not disarmed", "Sources/Broker/MQTT/Session/MQTTConnection.swift",
        "if isDiscardOnly { limit.arm(at: deadline) } else { limit.disarm() }",
        "if isDiscardOnly { limit.arm(at: deadline) } else if !PLANTED { limit.disarm() }"),
    Planted(
        "a stop does not wait for acknowledgements", "Sources/Broker/MQTT/Session/MQTTConnection.swift",
        "guard phase == .finishing, outstanding.messages == 0 else",
        "guard phase == .finishing, PLANTED || outstanding.messages == 0 else"),
    Planted(
        "actions of an event during an action are lost", DAEMON + "Runtime/BridgeService.swift",
        "for action in waiting { perform(action, at: now) }", "for action in waiting where !PLANTED { perform(action, at: now) }"),
    Planted(
        "a reload during another one is forgotten", DAEMON + "Reload/ConfigurationReload.swift",
        "    func request() {\n        isAskedFor = true", "    func request() {\n        if !PLANTED || !isReading { isAskedFor = true }"),
    Planted(
        "a file that could not be written is not written again", DAEMON + "State/TagStore.swift",
        "if tags == wanted { retry.arm(after: retryInterval) } else { save() }",
        "if tags == wanted { if !PLANTED { retry.arm(after: retryInterval) } } else { save() }"),
    Planted(
        "commands to gear fail until the tag has reported its gear", SESSION + "TagLink.swift",
        "if error == .gearNotAttached, self.gear", "if !PLANTED, error == .gearNotAttached, self.gear"),
    Planted(
        "the LED of the tag needs gear", SESSION + "TagCommand+Request.swift",
        "        case .playLEDPattern(let pattern, on: .tag): return",
        "        case .playLEDPattern(_, on: .tag) where PLANTED: throw .gearNotAttached\n"
        "        case .playLEDPattern(let pattern, on: .tag): return"),
    Planted(
        "an expired command succeeds", BRIDGE + "State/BridgeState+Results.swift",
        "            failed(command, failure, at: now, &effects)\n            settle(position, at: now, &effects)\n        }\n",
        "            if PLANTED { return pendingCommands.succeed(command, data: .none, at: now, &effects) }\n"
        "            failed(command, failure, at: now, &effects)\n            settle(position, at: now, &effects)\n        }\n"),
    Planted(
        "a command to a tag that is held fails as to one that is away", BRIDGE + "State/BridgeState+Commands.swift",
        "isHeld { throw tags[position].heldFailure }",
        "isHeld { throw PLANTED ? tags[position].offlineFailure(at: now) : tags[position].heldFailure }"),
    Planted(
        "a command that the tag refuses succeeds", SESSION + "TagLink.swift",
        "case .ok: try succeeded(", "case let status where PLANTED || status == .ok: try succeeded("),
    Planted(
        "commands to a tag that is away fail at once", BRIDGE + "State/BridgeState+Commands.swift",
        "guard tags[position].isConnected || timeToLive > .zero else",
        "guard tags[position].isConnected || timeToLive > .zero && !PLANTED else"),
    Planted(
        "an unknown command is taken for a reading of the battery", BRIDGE + "Registry/TagRequestTable.swift",
        "        let names = names.joined", "        if PLANTED { return BatteryGet.self }\n        let names = names.joined"),
]


def module(file: str) -> str:
    """The module of a source file, such as Bridge."""
    return file.split("/")[2]


def planted_files() -> dict[str, str]:
    """The text of each changed file, and the file of each of their modules that reads the variable."""
    texts: dict[str, str] = {}
    for number, error in enumerate(ERRORS, 1):
        text = texts.get(error.file) or (PROJECT / error.file).read_text(encoding="utf-8")
        if text.count(error.old) != 1:
            sys.exit(f"{error.file}: the text of error {number} occurs {text.count(error.old)} times: {error.old}")
        switch = f"{schemata.switch(module(error.file))}({number})"
        texts[error.file] = text.replace(error.old, error.new.replace("PLANTED", switch))
    for name in {module(error.file) for error in ERRORS}:
        folder = "/".join(next(e.file for e in ERRORS if module(e.file) == name).split("/")[:3])
        texts[f"{folder}/{schemata.FILE}"] = schemata.support(name)
    return texts


def build() -> Path:
    """Builds the copy. Returns the program."""
    command = '. deploy/release; swift build "${release_options[@]}" --product simulate >&2 && ' \
        'echo "$(swift build "${release_options[@]}" --show-bin-path)/simulate"'
    result = subprocess.run(["bash", "-c", command], cwd=TREE, stdout=subprocess.PIPE, encoding="utf-8")
    if result.returncode:
        sys.exit("Tests/simulate: the errors don't build")
    return Path(result.stdout.split()[-1])


def search(program: Path, number: int, seconds: float) -> tuple[str, float]:
    """Plays seeds with an error until one violates something. Returns that, or an empty text, and the time."""
    begin, seed = processor_time(), FIRST_SEED
    while True:
        for world in WORLDS:
            if processor_time() - begin >= seconds:
                return "", processor_time() - begin
            result = subprocess.run(
                [program, "--seed", str(seed), *world], env={**os.environ, schemata.VARIABLE: str(number)},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
            spent = processor_time() - begin
            if result.returncode and spent < seconds:
                line = result.stdout.strip().splitlines()[-1:] or [f"status {result.returncode}"]
                return f"{' '.join(world)} {line[0]}".strip(), spent
        seed += 1


def processor_time() -> float:
    """The seconds of processor time of all runs so far: those of a busy machine don't count."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(prog="Tests/simulate --planted", description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", help="the numbers of errors, such as 3,7; 0: without an error", default="")
    parser.add_argument("--seconds", type=float, default=60, help="processor time for each error (default: 60)")
    options = parser.parse_args()
    copy_tree(PROJECT, TREE, planted_files())
    program = build()
    numbers = [int(n) for n in options.only.split(",")] if options.only else range(len(ERRORS) + 1)
    found = 0
    for number in numbers:
        violation, seconds = search(program, number, options.seconds)
        title = ERRORS[number - 1].title if number else "no error"
        verdict = "found " if violation else "MISSED" if number else "clean "
        print(f"{number:3} {verdict} {seconds:5.1f} s  {title}{': ' + violation[:160] if violation else ''}", flush=True)
        if number == 0 and violation:
            return 1
        found += bool(violation)
    print(f"{found} of {len([n for n in numbers if n])} errors found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
