"""Home Assistant's ingress: a stand-in for its proxies, in a network of this process.

Source: home-assistant/core, homeassistant/components/hassio/ingress.py, and home-assistant/supervisor, supervisor/api/ingress.py.
"""

from __future__ import annotations

import ctypes
import fcntl
import http.client
import http.server
import os
import socket
import struct
import threading

SUPERVISOR = "172.30.32.2"
"""The supervisor's address in the network of its containers."""
CLONE_NEWNET = 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8913, 0x8914, 0x8916, 1


def enter_network() -> str | None:
    """Moves this process into a network of its own, which has a loopback interface and the supervisor's address. Call it before the
    first thread and the first socket.

    Returns why that is not possible, or None.
    """
    if os.geteuid() != 0:
        return "only root can make a network"
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        return f"no network can be made: {os.strerror(ctypes.get_errno())}"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        address = struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(SUPERVISOR))
        flags = struct.unpack("16sH14x", fcntl.ioctl(control, SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0)))[1]
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))
        fcntl.ioctl(control, SIOCSIFADDR, address)
    return None


class Ingress:
    """Serves an add-on below a path with a token, as Home Assistant and its supervisor do together."""

    DROPPED = {"content-length", "transfer-encoding", "content-encoding", "connection"}

    def __init__(self, add_on: int, token: str = "Y2xhc3M-_x1") -> None:
        """add_on: the port that the add-on names as ingress_port."""
        self.path = f"/api/hassio_ingress/{token}"
        ingress = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if not self.path.startswith(f"{ingress.path}/"):
                    return self.send_error(404)
                ingress.forward(self, add_on)

            do_POST = do_HEAD = do_DELETE = do_GET

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        self.address = f"http://127.0.0.1:{self.port}{self.path}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def forward(self, request: http.server.BaseHTTPRequestHandler, add_on: int) -> None:
        """Sends a request to the add-on, from the supervisor's address, and its response back as it comes."""
        headers = {name: value for name, value in request.headers.items() if name.lower() not in self.DROPPED}
        headers.update({
            "X-Ingress-Path": self.path, "X-Forwarded-For": f"{request.client_address[0]}, 172.30.32.1",
            "X-Forwarded-Host": request.headers["Host"], "X-Forwarded-Proto": "http"})
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        connection = http.client.HTTPConnection("127.0.0.1", add_on, timeout=60, source_address=(SUPERVISOR, 0))
        try:
            connection.request(request.command, request.path.removeprefix(self.path), body or None, headers)
            response = connection.getresponse()
        except OSError:
            return request.send_error(502)
        request.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in self.DROPPED:
                request.send_header(name, value)
        request.send_header("Connection", "close")
        request.end_headers()
        request.close_connection = True
        try:
            while part := response.read1(65536):
                request.wfile.write(part)
                request.wfile.flush()
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()

    def stop(self) -> None:
        """Ends the proxy."""
        self.server.shutdown()
        self.server.server_close()
