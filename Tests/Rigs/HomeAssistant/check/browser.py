"""A headless Chromium, driven by its DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import pathlib
import re
from typing import Any

import aiohttp
from failure import Failure, require, until
from processes import Process

# All nodes of a page, also those within the shadow roots of its elements, and what is asked of them.
NODES = """
function* nodes(node) {
    yield node;
    for (const below of [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes]) yield* nodes(below);
}
const all = [...nodes(document.body)];
const isRead = (node) => node.nodeType === Node.TEXT_NODE && !["STYLE", "SCRIPT"].includes(node.parentNode.nodeName);
"""
TEXT = 'return all.filter(isRead).map((node) => node.textContent).join(" ")'
PLACE = """
const box = all.find((node) => node.nodeName === %s).getBoundingClientRect();
return [box.x + box.width / 2, box.y + box.height / 2];
"""
HIDE_BROKEN_IMAGES = """
all.filter((node) => node.nodeName === "IMG" && !node.naturalWidth).forEach((node) => node.style.visibility = "hidden");
"""


class Browser:
    """One page of it."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder / "chromium"
        self._process = Process(folder / "chromium.log", [
            "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            "--remote-debugging-port=0", f"--user-data-dir={self._folder}", "about:blank",
        ])
        self._http: aiohttp.ClientSession | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._numbers = itertools.count(1)

    async def begin(self) -> None:
        """Starts it and connects to its page."""
        self._process.start()
        port_file = self._folder / "DevToolsActivePort"

        async def port() -> str:
            require(self._process.runs, f"Chromium ended, see {self._process.log}")
            return port_file.read_text().split("\n")[0] if port_file.exists() else ""

        address = f"http://127.0.0.1:{await until('Chromium listens', port)}"
        self._http = aiohttp.ClientSession()
        async with self._http.get(f"{address}/json/list") as response:
            page = next(target for target in await response.json() if target["type"] == "page")
        self._socket = await self._http.ws_connect(page["webSocketDebuggerUrl"], max_msg_size=0)

    async def end(self) -> None:
        """Ends it."""
        if self._http:
            await self._http.close()
        await self._process.stop()

    async def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol, and its result."""
        if self._socket is None:
            raise Failure("there is no connection to Chromium")
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        while True:
            answer = json.loads((await self._socket.receive()).data)
            if answer.get("id") == number:
                require("error" not in answer, f"{method}: {answer.get('error')}")
                return answer["result"]

    async def remember(self, items: dict[str, Any]) -> None:
        """Puts values into the local storage of every page before it begins."""
        lines = [f"localStorage.setItem({json.dumps(key)}, {json.dumps(json.dumps(items[key]))});" for key in items]
        await self.ask("Page.enable")
        await self.ask("Page.addScriptToEvaluateOnNewDocument", source="\n".join(lines))

    async def show(self, url: str, width: int, height: int, *texts: str) -> None:
        """Goes to an address with a window of a size, and waits until these texts can be read there."""
        await self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        await self.ask("Page.navigate", url=url)

        async def is_shown() -> bool:
            text = await self._text()
            return all(part in text for part in texts)

        await until(f"{url} shows {texts}", is_shown, 90)

    async def has(self, name: str) -> bool:
        """Whether an element with a name exists."""
        return bool(await self._run(f"return all.some((node) => node.nodeName === {json.dumps(name.upper())})"))

    async def click(self, name: str) -> None:
        """Clicks on the middle of the first element with a name, once there is one."""
        x, y = await until(f"the page has a {name}", lambda: self._run(PLACE % json.dumps(name.upper())))
        for kind in ("mousePressed", "mouseReleased"):
            await self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def come_to_rest(self) -> None:
        """Waits until the page has not changed for two seconds, but for numbers such as those of "3 seconds ago"."""
        seen: list[str] = []

        async def is_at_rest() -> bool:
            await asyncio.sleep(0.5)
            seen.append(re.sub(r"\d+ seconds?|now", "", await self._text()))
            return len(seen) > 4 and len(set(seen[-5:])) == 1

        await until("the page has come to rest", is_at_rest, 90)

    async def picture(self, path: pathlib.Path) -> None:
        """Writes a picture of the window, without images of the internet that could not be had."""
        await self._run(HIDE_BROKEN_IMAGES)
        shot = await self.ask("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(shot["data"]))

    async def _text(self) -> str:
        return await self._run(TEXT) or ""

    async def _run(self, script: str) -> Any:
        expression = f"(() => {{ {NODES} {script} }})()"
        found = await self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        return found["result"].get("value")
