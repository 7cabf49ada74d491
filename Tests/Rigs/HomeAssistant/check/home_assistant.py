"""A running Home Assistant: its process, and what it knows."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pathlib
import signal
from typing import Any

import aiohttp
from failure import Failure, require, until
from log import Log
from processes import Process, take_port
from releases import Release
from seed import seed


class HomeAssistant:
    """The process and one websocket to it."""

    def __init__(self, release: Release, folder: pathlib.Path, broker_port: int) -> None:
        self.release = release
        self.configuration = folder / "home-assistant"
        port = take_port()
        self.url = f"http://127.0.0.1:{port}"
        self.token = seed(self.configuration, release, port, broker_port)
        self.log = Log(self.configuration / "home-assistant.log")
        environment = {"PATH": os.environ["PATH"], "HOME": "/config", "TZ": "UTC", "LANG": "C.UTF-8"}
        self._process = Process(folder / "home-assistant.out", release.command(self.configuration), environment)
        self._http: aiohttp.ClientSession | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._reader: asyncio.Task[None] | None = None
        self._number = 0
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}

    # -- life

    async def begin(self) -> None:
        """Starts it and waits until it runs and has reached the broker."""
        self._process.start()
        await until("Home Assistant runs", self._comes_up, 180)
        await until("Home Assistant has reached the broker", self._reaches_broker, 60)

    async def end(self, kill: bool = False) -> None:
        """Ends it, as a person does or as a power cut does."""
        await self._disconnect()
        await self._process.stop(signal.SIGKILL if kill else signal.SIGTERM)
        self.log.close()

    async def _comes_up(self) -> bool:
        if not self._process.runs:
            raise Failure(f"Home Assistant ended, see {self._process.log}")
        with contextlib.suppress(aiohttp.ClientError, OSError, TypeError):
            if self._socket is None:
                await self._connect()
            configuration = await self.ask("get_config")
            require(not configuration.get("recovery_mode"), f"Home Assistant is in recovery mode, see {self.log.path}")
            return configuration["state"] == "RUNNING"
        await self._disconnect()
        await asyncio.sleep(0.3)
        return False

    async def _reaches_broker(self) -> bool:
        entries = await self.request("GET", "/api/config/config_entries/entry?domain=mqtt")
        return bool(entries) and entries[0]["state"] == "loaded"

    # -- questions

    async def _connect(self) -> None:
        self._http = aiohttp.ClientSession(headers={"Authorization": f"Bearer {self.token}"})
        self._socket = await self._http.ws_connect(self.url + "/api/websocket", max_msg_size=0)
        await self._socket.receive_json()
        await self._socket.send_json({"type": "auth", "access_token": self.token})
        if (await self._socket.receive_json())["type"] != "auth_ok":
            raise Failure("Home Assistant refuses the token")
        self._reader = asyncio.create_task(self._read(self._socket))

    async def _disconnect(self) -> None:
        if self._reader:
            self._reader.cancel()
        if self._socket:
            await self._socket.close()
        if self._http:
            await self._http.close()
        self._reader = self._socket = self._http = None

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        async for message in socket:
            data = json.loads(message.data)
            for answer in data if isinstance(data, list) else [data]:
                waiting = self._answers.pop(answer["id"], None)
                if waiting and not waiting.done():
                    waiting.set_result(answer)

    async def ask(self, kind: str, **data: Any) -> Any:
        """One command of the websocket interface, and its result."""
        if self._socket is None:
            raise Failure("there is no connection to Home Assistant")
        self._number += 1
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[self._number] = answer
        await self._socket.send_json({"id": self._number, "type": kind, **data})
        try:
            said = await asyncio.wait_for(answer, 30)
        except asyncio.TimeoutError:
            raise Failure(f"Home Assistant does not answer {kind}") from None
        if not said.get("success", True):
            raise Failure(f"{kind}: {said['error']}")
        return said.get("result")

    async def request(self, method: str, path: str, data: Any = None) -> Any:
        """One request of the HTTP interface."""
        if self._http is None:
            raise Failure("there is no connection to Home Assistant")
        async with self._http.request(method, self.url + path, json=data) as response:
            text = await response.text()
            if response.status >= 400:
                raise Failure(f"{method} {path}: {response.status} {text}")
            return json.loads(text) if text else None

    async def call(self, service: str, target: str, data: dict[str, Any] | None = None) -> None:
        """Calls a service for an entity."""
        domain, name = service.split(".")
        await self.ask(
            "call_service", domain=domain, service=name, service_data=data or {}, target={"entity_id": target})

    # -- what it knows

    async def devices(self) -> dict[str, dict[str, Any]]:
        """The devices of the MQTT integration, by their identifier."""
        found = await self.ask("config/device_registry/list")
        return {name: device for device in found for domain, name in device["identifiers"] if domain == "mqtt"}

    async def entities(self) -> dict[str, dict[str, Any]]:
        """The entries of the entity registry that are MQTT's, by unique id."""
        found = await self.ask("config/entity_registry/list")
        return {entity["unique_id"]: entity for entity in found if entity["platform"] == "mqtt"}

    async def entity_ids(self) -> dict[str, str]:
        """The entity ids of MQTT's entities, by unique id."""
        return {name: entity["entity_id"] for name, entity in (await self.entities()).items()}

    async def states(self) -> dict[str, dict[str, Any]]:
        """All states, by entity id."""
        return {state["entity_id"]: state for state in await self.ask("get_states")}

    async def state(self, unique_id: str) -> dict[str, Any]:
        """The state of an entity by its unique id; empty if there is none."""
        entity = (await self.entities()).get(unique_id)
        return (await self.states()).get(entity["entity_id"], {}) if entity else {}

    async def wait_state(
        self, unique_id: str, wanted: str, within: float = 40, **attributes: Any
    ) -> dict[str, Any]:
        """Waits until an entity has a state, and these attributes."""
        seen: dict[str, Any] = {}

        async def look() -> dict[str, Any]:
            seen.clear()
            seen.update(await self.state(unique_id))
            has_all = all(seen.get("attributes", {}).get(name) == value for name, value in attributes.items())
            return seen if seen.get("state") == wanted and has_all else {}

        try:
            return await until(f"{unique_id} is {wanted}", look, within)
        except Failure as failure:
            raise Failure(f"{failure}; it is {seen.get('state')} with {seen.get('attributes')}") from None

    async def triggers(self, identifier: str) -> list[dict[str, Any]]:
        """The device triggers that a person may choose from."""
        device = (await self.devices())[identifier]
        found = await self.ask("device_automation/trigger/list", device_id=device["id"])
        return [trigger for trigger in found if trigger["domain"] == "mqtt"]

    async def delete_device(self, identifier: str) -> None:
        """Deletes a device as a person does on its page."""
        device = (await self.devices())[identifier]
        entry = device["config_entries"][0]
        await self.ask("config/device_registry/remove_config_entry", device_id=device["id"], config_entry_id=entry)

    async def inventory(self) -> str:
        """All entities and triggers of the devices, one a line."""
        lines = []
        states, entities = await self.states(), await self.entities()
        for identifier, device in sorted((await self.devices()).items()):
            lines.append(f"{identifier}: {device['name']}, {device['manufacturer']} {device['model']}")
            for entity in sorted(entities.values(), key=lambda entity: entity["entity_id"]):
                if entity["device_id"] == device["id"]:
                    state = states.get(entity["entity_id"], {}).get("state", "(disabled)")
                    lines.append(f"  {entity['entity_id']}  {entity['entity_category'] or 'main'}  {state}")
            for trigger in await self.triggers(identifier):
                lines.append(f"  trigger {trigger['type']} {trigger['subtype']}")
        return "\n".join(lines) + "\n"

    async def automate(self, name: str, configuration: dict[str, Any]) -> None:
        """Makes an automation as the editor does; the same name replaces it."""
        settings = {"alias": name, "mode": "queued", "max": 200, **configuration}
        await self.request("POST", f"/api/config/automation/config/{name}", settings)

        async def there() -> bool:
            return any(
                state["attributes"].get("id") == name and state["state"] == "on"
                for state in (await self.states()).values() if state["entity_id"].startswith("automation."))

        await until(f"automation {name} is there", there)
        # Home Assistant collects subscriptions for half a second before it sends them to the broker.
        await asyncio.sleep(0.8)

    async def remove_automation(self, name: str) -> None:
        """Deletes an automation."""
        await self.request("DELETE", f"/api/config/automation/config/{name}")
