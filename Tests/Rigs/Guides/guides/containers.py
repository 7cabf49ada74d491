"""The guide for containers, on a machine with Podman, which takes Docker's commands.

No registry is reached: the images of Debian and mosquitto are made of Debian's packages, and the programs in the image of the bridge are
those of the package. systemd-nspawn runs as root of this machine's container.
"""
import re
import subprocess
import sys

from debian import DAEMON, TREE, give_adapter, tag_does
from machine import HOME, PROJECT

# A container needs these to make further containers.
OPTIONS = ["--capability=all", "--system-call-filter=@keyring bpf"]
# The podman-compose of Debian 12 does not know `network_mode: host`.
COMPOSE = "podman-compose==1.0.6"
DOCKER = """#!/bin/sh
[ "$1" = compose ] || exec sudo podman "$@"
shift
exec sudo python3 /opt/compose/podman_compose.py "$@"
"""
MOSQUITTO = """FROM debian:bookworm-slim
RUN groupadd --gid 1883 broker && useradd --uid 1883 --gid 1883 broker && apt-get update \\
    && apt-get install -y --no-install-recommends mosquitto mosquitto-clients \\
    && install -d -o 1883 -g 1883 /mosquitto/config /mosquitto/data
USER 1883:1883
VOLUME /mosquitto/data
CMD ["mosquitto", "-c", "/mosquitto/config/mosquitto.conf"]
"""
BUILD = "podman build --format docker --network host --tag {} --file /root/Dockerfile /root"


def give_podman(machine):
    """A host with Podman, the images, BlueZ and a tag."""
    machine.administer(
        "for folder in /sys/fs/cgroup $(mount -t cgroup,cgroup2 | cut -d' ' -f3); do mount -o remount,bind,rw $folder; done; "
        "apt-get install -y -q podman podman-compose bluez libsystemd0 libyaml-0-2 mosquitto-clients; "
        f"for package in {HOME}/*.deb; do dpkg-deb -x $package /root/programs; done; "
        "cp /root/programs/usr/bin/* /usr/local/bin", network=True)
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", machine.root / "opt/compose", COMPOSE], check=True)
    machine.write("/etc/containers/containers.conf", '[engine]\ncgroup_manager = "cgroupfs"\n')
    machine.write("/usr/local/bin/docker", DOCKER)
    machine.administer("chmod 755 /usr/local/bin/docker")
    subprocess.run(["tar", "-C", machine.clean, "-cf", machine.root / "root/debian.tar", "."], check=True)
    machine.administer("podman import /root/debian.tar docker.io/library/debian:bookworm-slim")
    machine.write("/root/Dockerfile", MOSQUITTO)
    machine.administer(BUILD.format("docker.io/library/eclipse-mosquitto:2.0"), network=True)
    give_adapter(machine)
    tag_does(machine, "button 003R")


def containers(machine, guide):
    give_podman(machine)
    guide.folder = TREE
    guide.leaves_out("docker build", "its first stage needs Swift's image; the second one follows, with the programs of the package")
    stage = re.search(r"(?s)\nFROM debian.*", (PROJECT / "deploy/Dockerfile").read_text(encoding="utf-8")).group()
    machine.write("/root/Dockerfile", "FROM debian:bookworm-slim AS build\nCOPY programs/usr/bin/ /out/\n" + stage)
    machine.administer(BUILD.format("jacquard2mqtt"), network=True)

    guide.runs("mkdir jacquard")
    machine.administer(
        f"cd {TREE}/jacquard && sed -i 's/#- serial: 003R/- serial: 003R/; s/^#*instance:.*/instance: attic/' config.yaml")
    broker = f"-h 127.0.0.1 -u admin -P \"$(cat {TREE}/jacquard/web-password)\" -W 5 -C 1"
    guide.runs("docker compose up")
    for service in "mosquitto", "bridge", "web":
        guide.waits(f"{service} is healthy", f"podman healthcheck run jacquard_{service}_1")
    guide.runs("docker compose ps", prints=["003R", "http://127.0.0.1:8377/#key="])
    gesture = f"mosquitto_sub {broker} -t jacquard/tag/003R/gesture"
    tag_does(machine, "gesture 003R cycle 3600 2")
    machine.say(guide.waits("a gesture", gesture))
    machine.administer("podman stop jacquard_bridge_1 jacquard_web_1")

    guide.runs("docker run -d")
    guide.waits("the bridge starts", "podman logs jacquard2mqtt 2>&1 | grep starting")
    machine.administer("podman rm --force jacquard2mqtt")
    guide.leaves_out("podman run -d", "the options stand for those above")

    guide.folder = TREE
    machine.administer(f"cp {HOME}/jacquard2mqtt_*.deb {TREE}")
    guide.runs("sudo apt install debootstrap", network=True)
    machine.write(
        "/etc/jacquard2mqtt/config.yaml", "instance: attic\nmqtt:\n  host: 127.0.0.1\n  username: bridge\n  password: "
        + machine.administer(f"cat {TREE}/jacquard/password") + "tags:\n  - serial: 003R\n")
    guide.runs("sudo machinectl enable")
    guide.waits("the tag is connected", "journalctl --unit systemd-nspawn@jacquard | grep 'tag: connected'")
    tag_does(machine, "gesture 003R cycle 3600 2")
    machine.say(guide.waits("a gesture", gesture))


GUIDES = {
    containers: f"{DAEMON}/Containers.md",
}
