"""A configuration of Home Assistant that needs no person: user, token and broker are there already."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import pathlib
import re
import secrets
import time

from releases import Release

CONFIGURATION = """\
homeassistant:
  name: test
  latitude: 52.0
  longitude: 5.0
  elevation: 0
  unit_system: metric
  time_zone: UTC
{http}
api:
websocket_api:
config:
automation: !include automations.yaml
input_boolean:
  doorbell:
    name: Doorbell
person:
mqtt:
  light:
    - name: Lamp
      unique_id: lamp
      command_topic: test/lamp/set
      brightness_command_topic: test/lamp/brightness
      optimistic: true
counter:
  triggers:
  events:
  received:
logger:
  default: warning
  logs:
    homeassistant.components.mqtt: info
"""

STAMP = "2024-01-01T00:00:00.000000+00:00"


def seed(folder: pathlib.Path, release: Release, port: int, broker_port: int) -> str:
    """Writes everything and gives a token for the interface."""
    (folder / ".storage").mkdir(parents=True)
    (folder / "automations.yaml").write_text("[]\n")
    (folder / "configuration.yaml").write_text(CONFIGURATION.format(http=_http(folder, release, port)))
    _store(folder, "onboarding", {"done": ["user", "core_config", "analytics", "integration"]}, version=4)
    # The multicast name service stays on the loopback interface, too.
    _store(folder, "core.network", {"configured_adapters": ["lo"]})
    _store(folder, "core.config_entries", {"entries": [{
        "entry_id": secrets.token_hex(16), "version": 1, "domain": "mqtt", "title": "broker",
        "data": {"broker": "127.0.0.1", "port": broker_port}, "options": {}, "pref_disable_new_entities": False,
        "pref_disable_polling": False, "source": "user", "unique_id": None, "disabled_by": None,
    }]})
    return _user(folder)


def _store(folder: pathlib.Path, key: str, data: object, version: int = 1, minor: int = 1) -> None:
    document = {"version": version, "minor_version": minor, "key": key, "data": data}
    (folder / ".storage" / key).write_text(json.dumps(document))


def _user(folder: pathlib.Path) -> str:
    user, refresh, key = secrets.token_hex(16), secrets.token_hex(16), secrets.token_hex(64)
    _store(folder, "auth", {
        "users": [{
            "id": user, "group_ids": ["system-admin"], "is_owner": True, "is_active": True, "name": "test",
            "system_generated": False, "local_only": False,
        }],
        "groups": [
            {"id": "system-admin", "name": "Administrators"}, {"id": "system-users", "name": "Users"},
            {"id": "system-read-only", "name": "Read Only"},
        ],
        "credentials": [],
        "refresh_tokens": [{
            "id": refresh, "user_id": user, "client_id": None, "client_name": "test", "client_icon": None,
            "token_type": "long_lived_access_token", "created_at": STAMP, "access_token_expiration": 315360000.0,
            "token": secrets.token_hex(64), "jwt_key": key, "last_used_at": None, "last_used_ip": None,
            "expire_at": None, "credential_id": None, "version": "2024.1.0",
        }],
    })
    now = int(time.time())
    head = _base64(b'{"alg":"HS256","typ":"JWT"}')
    body = _base64(json.dumps({"iss": refresh, "iat": now - 60, "exp": now + 86400}).encode())
    signature = hmac.new(key.encode(), f"{head}.{body}".encode(), hashlib.sha256).digest()
    return f"{head}.{body}.{_base64(signature)}"


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _http(folder: pathlib.Path, release: Release, port: int) -> str:
    """Binds to the loopback interface; gives what has to stand in the YAML for it.

    Releases of 2026 take `http:` in YAML as a trial that a person has to confirm within five minutes. So what they would
    store after that is stored here.
    """
    http = release.package / "components" / "http"
    source = (http / "config.py").read_text() if (http / "config.py").exists() else ""
    version = re.search(r"STORAGE_VERSION: Final = (\d+)", source)
    if "yaml_migration_done" not in source or version is None:
        return f"http:\n  server_host: 127.0.0.1\n  server_port: {port}"
    minor = re.search(r"STORAGE_MINOR_VERSION: Final = (\d+)", source)
    profiles = r"(?:CURRENT_SSL_PROFILES|DEFAULT_SSL_PROFILE)[^=\n]*= \(?SSLProfile\.(\w+)"
    profile = re.search(profiles, (http / "const.py").read_text())
    settings = {
        "server_port": port, "server_host": ["127.0.0.1"], "cors_allowed_origins": [],
        "login_attempts_threshold": -1, "ip_ban_enabled": False, "use_x_frame_options": True,
        "ssl_profile": profile[1].lower() if profile else "intermediate",
        "created_at": STAMP, "error": None, "error_message": None,
    }
    _store(
        folder, "http", {"stable": settings, "pending": None, "yaml_migration_done": True},
        int(version[1]), int(minor[1]) if minor else 1)
    return ""
