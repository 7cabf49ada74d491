"""Prints what pip has to install for the integrations that the tests use.

usage: requirements.py SITE_PACKAGES

Home Assistant installs such requirements when it starts; here they are there before, and its start needs no network.
Reads the manifests only: it imports nothing of Home Assistant and runs under any Python.
"""

import json
import pathlib
import re
import sys

# `hassio` is not wanted itself, but others import its parts.
WANTED = """
    api assist_pipeline auth automation binary_sensor blueprint button config counter device_automation diagnostics event
    hassio homeassistant http input_boolean light logger mqtt onboarding person persistent_notification recorder script
    select sensor stream switch system_log trace update websocket_api
""".split()


def always_set_up(core: pathlib.Path) -> list[str]:
    """The integrations that Home Assistant sets up whatever its configuration says."""
    names: list[str] = []
    source = (core / "bootstrap.py").read_text()
    sets = r"^(?:CORE|DEFAULT|CRITICAL|FRONTEND|LOGGING)_\w*INTEGRATIONS\s*(?::[^=\n]+)?=\s*\{(.*?)\}"
    for block in re.findall(sets, source, re.DOTALL | re.MULTILINE):
        text = re.sub(r"#.*", "", block)
        names += re.findall(r'"(\w+)"', text)
        if "BASE_PLATFORMS" in text:
            names += [path.parent.name for path in core.glob("components/*/manifest.json") if is_platform(path)]
    return names


def is_platform(manifest: pathlib.Path) -> bool:
    """Whether an integration is a kind of entity, such as `light`."""
    return json.loads(manifest.read_text()).get("integration_type") == "entity"


def main(site_packages: str) -> None:
    """Prints the requirements of all wanted integrations and of those they depend on."""
    core = pathlib.Path(site_packages) / "homeassistant"
    names = WANTED + always_set_up(core)
    seen: dict[str, list[str]] = {}
    while names:
        name = names.pop()
        manifest = core / "components" / name / "manifest.json"
        if name in seen or name == "sentry" or not manifest.exists():
            continue
        content = json.loads(manifest.read_text())
        seen[name] = content.get("requirements", [])
        names += content.get("dependencies", [])
    print("\n".join(sorted({requirement for found in seen.values() for requirement in found})))


if __name__ == "__main__":
    main(sys.argv[1])
