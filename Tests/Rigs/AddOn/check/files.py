"""The files of the add-on, against the rules that the supervisor documents.

Source: https://developers.home-assistant.io/docs/apps/configuration
"""
import os
import re
import struct
import subprocess

import yaml
from tools import ADD_ON, PROJECT, read, require

# Key: the form of its value. The documentation lists these keys as required or optional.
REQUIRED = {"name": str, "version": str, "slug": str, "description": str, "arch": list}
OPTIONAL = {
    "machine": list, "url": str, "startup": str, "webui": str, "boot": str, "ports": dict, "ports_description": dict,
    "host_network": bool, "host_ipc": bool, "host_dbus": bool, "host_pid": bool, "host_uts": bool, "devices": list,
    "homeassistant": str, "hassio_role": str, "hassio_api": bool, "homeassistant_api": bool, "docker_api": bool,
    "privileged": list, "full_access": bool, "apparmor": (bool, str), "map": list, "environment": dict, "audio": bool,
    "video": bool, "gpio": bool, "usb": bool, "uart": bool, "udev": bool, "devicetree": bool, "kernel_modules": bool,
    "stdin": bool, "legacy": bool, "options": dict, "schema": (dict, bool), "image": str, "timeout": int, "tmpfs": bool,
    "discovery": list, "services": list, "auth_api": bool, "ingress": bool, "ingress_port": int, "ingress_entry": str,
    "ingress_stream": bool, "panel_icon": str, "panel_title": str, "panel_admin": bool, "backup": str, "backup_pre": str,
    "backup_post": str, "backup_exclude": list, "stage": str, "init": bool, "watchdog": str, "realtime": bool,
    "journald": bool, "breaking_versions": list, "ulimits": dict,
}
CHOICES = {
    "startup": {"initialize", "system", "services", "application", "once"},
    "boot": {"auto", "manual", "manual_only"},
    "stage": {"stable", "experimental", "deprecated"},
    "backup": {"hot", "cold"},
}
# What would take rights that the bridge does not need.
FORBIDDEN = {
    "host_network", "host_ipc", "host_pid", "host_uts", "devices", "hassio_api", "homeassistant_api", "docker_api",
    "privileged", "full_access", "audio", "video", "gpio", "usb", "uart", "udev", "devicetree", "kernel_modules", "realtime",
    "journald", "auth_api",
}
ELEMENT = re.compile(
    r"(?:bool|email|url|port|device(?:\(subsystem=[a-z]+\))?"
    r"|(?:str|password)(?:\(\d*,\d*\))?|int(?:\(-?\d*,-?\d*\))?|float(?:\(-?[\d.]*,-?[\d.]*\))?"
    r"|match\(.*\)|list\(.+\))\??")


def configuration():
    return yaml.safe_load(read("deploy/home-assistant/jacquard2mqtt/config.yaml"))


def check_element(element, path, depth=0):
    """A type, a list of one type, or types by name; lists contain no lists, and there are at most two levels of names."""
    require(depth <= 2, f"{path}: more than two levels")
    if isinstance(element, dict):
        for key, value in element.items():
            check_element(value, f"{path}.{key}", depth + 1)
    elif isinstance(element, list):
        require(len(element) == 1 and not isinstance(element[0], list), f"{path}: a list needs exactly one type")
        check_element(element[0], path, depth)
    else:
        require(isinstance(element, str) and ELEMENT.fullmatch(element), f"{path}: {element!r} is not a type")


def supervisor_reads_config(rig):
    """config.yaml has the keys and values that the supervisor documents, and takes no rights that are not needed."""
    config = configuration()
    known = {**REQUIRED, **OPTIONAL}
    for key, value in config.items():
        require(key in known, f"config.yaml: unknown key {key}")
        require(isinstance(value, known[key]), f"config.yaml: {key} has the wrong type")
        require(key not in CHOICES or value in CHOICES[key], f"config.yaml: {key} is not one of {CHOICES.get(key)}")
        require(key not in FORBIDDEN, f"config.yaml: {key} takes a right that is not needed")
    for key in REQUIRED:
        require(key in config, f"config.yaml: {key} is missing")
    require(re.fullmatch(r"[-_.A-Za-z0-9]+", config["slug"]), "config.yaml: slug")
    require(config["slug"] == os.path.basename(ADD_ON), "config.yaml: slug is not the name of the folder")
    require(set(config["arch"]) == {"amd64", "aarch64"}, "config.yaml: arch")
    require(10 <= config["timeout"] <= 300, "config.yaml: timeout is not 10 to 300")
    for service in config["services"]:
        require(re.fullmatch(r"(mqtt|mysql):(provide|want|need)", service), f"config.yaml: services {service}")
    for entry in config["map"]:
        require(set(entry) <= {"type", "read_only", "path"}, f"config.yaml: map {entry}")
        require(entry["type"] == "ssl" and entry.get("read_only", True), f"config.yaml: map {entry} is not read-only /ssl")
    check_element(config["schema"], "schema")
    for key, value in config["options"].items():
        require(key in config["schema"], f"config.yaml: the option {key} has no type")
    for key, value in config["schema"].items():
        # The supervisor rejects options without a section that is not optional.
        require(key in config["options"], f"config.yaml: the option {key} has no default")
    if config.get("ingress"):
        require(1 <= config["ingress_port"] <= 65535, "config.yaml: ingress_port")


def supervisor_reads_repository(rig):
    repository = yaml.safe_load(read("deploy/home-assistant/repository.yaml"))
    require(set(repository) <= {"name", "url", "maintainer"} and repository.get("name"), f"repository.yaml: {repository}")


def versions_are_equal(rig):
    """The add-on has the version of the package."""
    released = re.match(r"jacquard2mqtt \(([^)]+)\)", read("deploy/debian/changelog")).group(1)
    require(configuration()["version"] == released, f"config.yaml: version is not {released}")


def translations_name_options(rig):
    """Each language names each option, and nothing else."""
    def compare(schema, texts, path):
        require(set(texts) == set(schema), f"{path}: {sorted(set(texts) ^ set(schema))} differ")
        for key, text in texts.items():
            require(set(text) <= {"name", "description", "fields"} and text.get("name"), f"{path}.{key}: no name")
            inner = schema[key][0] if isinstance(schema[key], list) else schema[key]
            if isinstance(inner, dict):
                compare(inner, text.get("fields", {}), f"{path}.{key}")
            else:
                require("fields" not in text, f"{path}.{key}: fields of a single option")

    names = sorted(os.listdir(os.path.join(ADD_ON, "translations")))
    require("en.yaml" in names, "there is no English translation")
    for name in names:
        texts = yaml.safe_load(read("deploy/home-assistant/jacquard2mqtt/translations", name))
        require(set(texts) <= {"configuration", "network"}, f"{name}: unknown keys")
        compare(configuration()["schema"], texts["configuration"], name)


def images_have_their_sizes(rig):
    for name, size in (("icon.png", (128, 128)), ("logo.png", (250, 100))):
        with open(os.path.join(ADD_ON, name), "rb") as file:
            start = file.read(24)
        require(start[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", start[16:24]) == size, f"{name}: not {size}")


def profile_has_one_name(rig):
    """The supervisor renames the one line that begins with `profile`; the profile must have the slug as its name."""
    profile = read("deploy/home-assistant/jacquard2mqtt/apparmor.txt")
    names = re.findall(r"^profile ([^ ]+).*$", profile, re.M)
    require(names == [configuration()["slug"]], f"apparmor.txt: profiles {names}")
    require(profile.count("{") == profile.count("}"), "apparmor.txt: braces")
    for line in profile.splitlines():
        rule = line.strip()
        if not rule or rule.startswith(("#", "profile ")) or rule == "}":
            continue
        require(rule.endswith(","), f"apparmor.txt: no comma after {rule!r}")


def repository_is_assembled(rig):
    """deploy/add-on makes a repository with packages, or with the name of an image."""
    script = os.path.join(PROJECT, "deploy", "add-on")
    package = rig.write("jacquard2mqtt_0.1.0_amd64.deb", "")
    subprocess.run([script, "--package", package, os.path.join(rig.folder, "local")], check=True, capture_output=True)
    local = os.path.join(rig.folder, "local", "jacquard2mqtt")
    require(os.listdir(os.path.join(local, "packages")) == ["jacquard2mqtt_0.1.0_amd64.deb"], "no package")
    for name in ("start", "health"):
        require(os.access(os.path.join(local, name), os.X_OK), f"{name} cannot be executed")
    require(os.path.getsize(os.path.join(local, "CHANGELOG.md")) > 100, "no changelog")
    subprocess.run(
        [script, "--image", "ghcr.io/owner/jacquard-add-on", os.path.join(rig.folder, "published")], check=True,
        capture_output=True)
    with open(os.path.join(rig.folder, "published", "jacquard2mqtt", "config.yaml"), encoding="utf-8") as file:
        config = yaml.safe_load(file)
    require(config["image"] == "ghcr.io/owner/jacquard-add-on", "no image")
    again = subprocess.run([script, os.path.join(rig.folder, "local")], capture_output=True, text=True)
    require(again.returncode == 2 and "exists already" in again.stderr, f"not refused: {again.stderr}")


CASES = [
    supervisor_reads_config, supervisor_reads_repository, versions_are_equal, translations_name_options,
    images_have_their_sizes, profile_has_one_name, repository_is_assembled,
]
