"""The options of the add-on, against the configuration of the bridge. A unit test compares them with the table of keys."""
import concurrent.futures
import itertools
import json
import os
import random
import re
import shutil
import subprocess

from files import configuration
from tools import ADD_ON, Failure, require

# Values of each option without a finite number of values; the first one is an ordinary one.
TEXTS = {
    "instance": ["homeassistant", "a", "0-9", "x" * 32],
    "mqtt.host": ["core-mosquitto", "192.168.1.2", "fe80::1%eth0", "a" * 63],
    "mqtt.base_topic": ["jacquard", "home/jacquard", "Übung"],
    "mqtt.client_id": ["bridge", "1", "true", "a: b # c", "x" * 128],
    "mqtt.username": ["addons", "0123", "null", "yes", "'\"\\", "ü"],
    "mqtt.password": ["secret", "1e5", "[a", "{b", "\u2028\u2029\u0085\ufeff % @ `", "\U0001f9e5", "x" * 64],
    "tls.ca_file": ["/ssl/ca.pem"],
    "tls.certificate_file": ["/ssl/client.pem"],
    "tls.key_file": ["/ssl/client.key"],
    "bluetooth.adapter": ["auto", "hci0", "00:11:22:AA:bb:CC"],
    "home_assistant.prefix": ["homeassistant", "ha"],
    "home_assistant.status_topic": ["homeassistant/status", "hass/status"],
    "home_assistant.page": ["http://192.168.1.5:8377/", "homeassistant://hassio/ingress/jacquard2mqtt"],
    "tags.serial": ["003R", "0001", "1234", "TRUE", "0-07-9324FLHBK0003R-1903"],
    "tags.id": ["sleeve", "7", "null", "x" * 64],
    "tags.name": ["Left sleeve", "yes", "Ärmel \U0001f9e5", "- a", "a\u2028b", "x" * 128],
    "tags.address": ["F0:00:00:00:00:01"],
    "gear.vendor_id": ["74-a8-ce-54"],
    "gear.product_id": ["8a-66-50-f4"],
    "gear.vendor": ["Levi's", "1"],
    "gear.product": ["Trucker Jacket"],
    "chords.name": ["tap_in", "a2", "x" * 32],
    "chords.of": ["double_tap, brush_in", " cover ,brush_up,brush_down,brush_out "],
    "chords.tags": ["003R", "sleeve, 0001"],
    "gear.capabilities": ["gesture, haptic", "led", " led ,gesture,touch_data_stream,haptic "],
}
# Options that the bridge accepts only together.
PAIRS = {"tls.certificate_file": "tls.key_file", "tls.key_file": "tls.certificate_file"}


def values(path, element):
    """Valid values of an option, with both ends of a range."""
    element = element.rstrip("?")
    if path in TEXTS:
        for text in TEXTS[path]:
            pattern = re.fullmatch(r"match\((.*)\)", element)
            require(not pattern or re.match(pattern.group(1), text), f"{path}: {text!r} does not match {element}")
        return TEXTS[path]
    if element == "bool":
        return [True, False]
    if element == "port":
        return [1883, 1, 65535]
    if choices := re.fullmatch(r"list\((.*)\)", element):
        return choices.group(1).split("|")
    if limits := re.fullmatch(r"(int|float)\((.*),(.*)\)", element):
        number = int if limits.group(1) == "int" else float
        return [number(limits.group(2)), number(limits.group(3))]
    raise Failure(f"{path}: no values for {element}")


def one_by_one(schema):
    """Options in which one option has one of its values, for each value of each option."""
    for name, element in schema.items():
        inner = element[0] if isinstance(element, list) else element
        if not isinstance(inner, dict):
            yield from ({name: value} for value in values(name, inner))
            continue
        needed = {key: values(f"{name}.{key}", kind)[0] for key, kind in inner.items() if not kind.endswith("?")}
        if name == "tls":
            needed = {"enabled": True}
        for key, kind_of in inner.items():
            for value in values(f"{name}.{key}", kind_of):
                section = {**needed, key: value}
                if partner := PAIRS.get(f"{name}.{key}"):
                    section[partner.split(".")[1]] = TEXTS[partner][0]
                yield {name: [section] if isinstance(element, list) else section}
        # What the page of the add-on leaves behind when a text is deleted.
        empty = {key: "" for key in inner if key not in needed}
        yield {name: [{**needed, **empty}] if isinstance(element, list) else empty}


def combinations(schema, seed=1):
    """Options with each pair of sections, and with all, with values that are chosen by a seed."""
    chance = random.Random(seed)

    def section(name, inner):
        result = {}
        for key, element in inner.items():
            if not element.endswith("?") or chance.random() < 0.5:
                result[key] = chance.choice(values(f"{name}.{key}", element))
        for key, partner in PAIRS.items():
            if key.split(".")[0] == name and key.split(".")[1] in result:
                result[partner.split(".")[1]] = TEXTS[partner][0]
        return result

    for names in [*itertools.combinations(schema, 2), list(schema)]:
        result = {}
        for name in names:
            element = schema[name]
            if isinstance(element, list):
                result[name] = [section(name, element[0])]
            elif isinstance(element, dict):
                result[name] = section(name, element)
            else:
                result[name] = chance.choice(values(name, element))
        yield result


def configurations(rig, options, service):
    """The configuration for each of the options, made by one jq."""
    broker = rig.write("service.json", json.dumps(service))
    program = os.path.join(ADD_ON, "configuration.jq")
    text = "\n".join(json.dumps(value) for value in options)
    result = subprocess.run(
        ["jq", "--slurpfile", "broker", broker, "--raw-output", "--from-file", program], input=text, text=True,
        capture_output=True)
    require(result.returncode == 0, result.stderr)
    return result.stdout.rstrip("\n").split("\n")


def options_are_accepted(rig):
    """check-config accepts the configuration that is made of each value of each option, of each pair of sections and of all."""
    schema = configuration()["schema"]
    defaults = configuration()["options"]
    single = list(one_by_one(schema))
    combined = list(combinations(schema))
    everything = [{**defaults, **chosen} for chosen in single + combined] + [defaults, {}]
    services = [
        {"host": "core-mosquitto", "port": 1883, "username": "addons", "password": "Oh5'\"eu: #x", "ssl": False,
         "protocol": "3.1.1", "addon": "core_mosquitto"},
        {"host": "172.30.33.0", "port": 8883, "ssl": True, "protocol": "3.1.1"},
    ]
    # check-config reads certificates.
    certificates = os.path.join(rig.folder, "ssl")
    os.makedirs(certificates)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
         "/CN=client", "-keyout", f"{certificates}/client.key", "-out", f"{certificates}/client.pem"],
        check=True, capture_output=True)
    shutil.copy(f"{certificates}/client.pem", f"{certificates}/ca.pem")
    def accept(case):
        options, line = case
        path = rig.write(f"{hash(line)}.yaml", line.replace('"/ssl/', f'"{certificates}/') + "\n")
        result = subprocess.run(
            [rig.program("jacquard2mqtt"), "check-config", "--config", path], capture_output=True, text=True)
        require(result.returncode == 0, f"{json.dumps(options)}: {line}: {result.stdout}{result.stderr}")

    lines = configurations(rig, everything, {})
    lines += configurations(rig, everything[:len(single)], services[0]) + configurations(rig, everything, services[1])
    cases = list(zip(everything + everything[:len(single)] + everything, lines, strict=True))
    # Equal configurations are checked once.
    cases = list({line: (options, line) for options, line in cases}.values())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(accept, cases))
    rig.say(f"{len(single)} single values and {len(combined)} combinations, with and without the supervisor's broker: "
            f"{len(cases)} different configurations are accepted")


def values_arrive(rig):
    """The bridge reads the values that were entered."""
    cases = [
        ({"tags": [{"serial": "0001", "name": "yes"}]}, {}, {"tags.N.serial": "0001", "tags.N.name": "yes"}),
        ({"mqtt": {"version": "5", "username": "0123"}}, {"host": "core-mosquitto", "port": 1884},
         {"mqtt.version": "5", "mqtt.username": "0123", "mqtt.host": "core-mosquitto", "mqtt.port": "1884"}),
        ({"tls": {"enabled": True}}, {"host": "a"}, {"mqtt.tls": "true", "mqtt.port": "8883"}),
        ({"tls": {"enabled": False, "ca_file": "/ssl/ca.pem"}}, {"host": "a"}, {"mqtt.tls": "false", "mqtt.port": "1883"}),
        ({}, {"host": "a", "ssl": True}, {"mqtt.tls": "true"}),
        ({"mqtt": {"username": "a\u2028\u0085b"}}, {}, {"mqtt.username": r"a\u{2028}\u{85}b"}),
        ({"mqtt": {"host": ""}}, {"host": "known"}, {"mqtt.host": "known"}),
        ({"mqtt": {"username": "own"}}, {"host": "known", "username": "addons"}, {"mqtt.username": "own"}),
        ({"gear": [{"vendor_id": "00-00-00-01", "product_id": "00-00-00-02", "capabilities": "led, haptic"}]}, {},
         {"gear.N.capabilities": "led, haptic"}),
        ({"chords": [{"name": "a", "of": "cover,brush_in", "exclusive": True, "tags": "0001, sleeve"}]}, {},
         {"chords.N.of": "cover, brush_in", "chords.N.exclusive": "true", "chords.N.tags": "0001, sleeve"}),
    ]
    for options, service, wanted in cases:
        path = rig.write("config.yaml", configurations(rig, [options], service)[0])
        for key, value in wanted.items():
            result = subprocess.run(
                [rig.program("jacquard2mqtt"), "check-config", "--config", path, "--print", key], capture_output=True,
                text=True)
            require(result.stdout.strip() == value, f"{options}: {key} is {result.stdout.strip()!r} {result.stderr}")


CASES = [options_are_accepted, values_arrive]
