"""Raw requests that no browser sends: ambiguous ones, paths, methods, and old versions of TLS."""

from __future__ import annotations

import contextlib
import socket
import ssl
import warnings

HOST = b"Host: 127.0.0.1\r\n"
SECOND = b"GET /icon.svg HTTP/1.1\r\n" + HOST + b"\r\n"


def get(path, headers=HOST, version=b"HTTP/1.1"):
    return b"GET " + path + b" " + version + b"\r\n" + headers + b"\r\n"


def post(headers, body=b""):
    return b"POST /login HTTP/1.1\r\n" + HOST + headers + b"\r\n" + body


CHUNKED = b"Transfer-Encoding: chunked\r\n"

AMBIGUOUS = [
    ("`Content-Length` twice, different", post(b"Content-Length: 0\r\nContent-Length: 44\r\n")),
    ("twice, equal", post(b"Content-Length: 0\r\nContent-Length: 0\r\n")),
    ("a list", post(b"Content-Length: 0, 44\r\n")),
    ("`+0`", post(b"Content-Length: +0\r\n")),
    ("`0x0`", post(b"Content-Length: 0x0\r\n")),
    ("empty", post(b"Content-Length:\r\n")),
    ("before `Transfer-Encoding`", post(b"Content-Length: 5\r\n" + CHUNKED, b"0\r\n\r\n")),
    ("behind it", post(CHUNKED + b"Content-Length: 5\r\n", b"0\r\n\r\n")),
    ("`gzip,chunked`", post(b"Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n")),
    ("`chunkedx`", post(b"Transfer-Encoding: chunkedx\r\n", b"0\r\n\r\n")),
    ("`identity`", post(b"Transfer-Encoding: identity\r\n")),
    ("`chunked` twice", post(CHUNKED + b"Transfer-Encoding: x\r\n", b"0\r\n\r\n")),
    ("chunks in HTTP/1.0", post(CHUNKED, b"0\r\n\r\n").replace(b"HTTP/1.1", b"HTTP/1.0")),
    ("chunk of -1", post(CHUNKED, b"-1\r\n\r\n")),
    ("chunk of 2^64", post(CHUNKED, b"10000000000000000\r\n\r\n")),
    ("request behind chunks", post(CHUNKED, b"2\r\n{}\r\n0\r\n\r\n")),
    ("space before colon", post(b"Content-Length : 44\r\n")),
    ("before name", post(b" Content-Length: 44\r\n")),
    ("continued line", get(b"/", HOST + b"X: a\r\n b\r\n")),
    ("no colon", get(b"/", HOST + b"X\r\n")),
    ("LF without CR", get(b"/", HOST + b"X: a\nContent-Length: 44\r\n")),
    ("CR in value", get(b"/", HOST + b"X: a\rContent-Length: 44\r\n")),
    ("zero byte", get(b"/", HOST + b"X: a\0b\r\n")),
    ("escape character", get(b"/", HOST + b"X: \x1b[31m\r\n")),
    ("two `Host`", get(b"/", HOST + b"Host: evil.example\r\n")),
    ("equal ones", get(b"/", HOST + HOST)),
    ("empty `Host`", get(b"/", b"Host:\r\n")),
    ("with path", get(b"/", b"Host: 127.0.0.1/evil\r\n")),
    ("with user", get(b"/", b"Host: evil@127.0.0.1\r\n")),
    ("no `Host`", get(b"/", b"")),
    ("in HTTP/1.0", get(b"/", b"", b"HTTP/1.0")),
    ("HTTP/0.9", b"GET /\r\n"),
    ("HTTP/2.0", get(b"/", version=b"HTTP/2.0")),
    ("its preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ("`http://evil.example/`", get(b"http://evil.example/")),
    ("`CONNECT`", b"CONNECT evil.example:443 HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("`OPTIONS *`", b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("`style.css`", get(b"style.css")),
    ("`/style.css%00.js`", get(b"/style.css%00.js")),
    ("zero byte in path", get(b"/style.css\0.js")),
    ("`%0d%0a`", get(b"/style.css%0d%0aX:%20y")),
    ("`%zz`", get(b"/style.css%zz")),
    ("`%4`", get(b"/style.css%4")),
    ("space", get(b"/style.css .js")),
    ("tab", get(b"/style.css\t.js")),
    ("non-ASCII", get(b"/\xc3\xa9")),
    ("`#`", get(b"/#x")),
    ("`?tag=%00`", get(b"/history?tag=0001%00")),
]
"""Requests that are closed: with their end or host in doubt, what follows must not be read as a request."""

CLEAR = [
    ("`//style.css`", get(b"//style.css")),
    ("`/./style.css`", get(b"/./style.css")),
    ("`/style.css/`", get(b"/style.css/")),
    ("`/%2fstyle.css`", get(b"/%2fstyle.css")),
    ("backslashes", get(b"/..\\..\\etc\\passwd")),
    ("`/%c0%ae`", get(b"/%c0%ae%c0%ae/etc/passwd")),
    ("`/STYLE.CSS`", get(b"/STYLE.CSS")),
    ("`/style.css;x`", get(b"/style.css;x")),
    ("`/%73tyle.css`", get(b"/%73tyle.css")),
    ("500 arguments", get(b"/style.css?" + b"&".join(b"a%d=b" % n for n in range(500)))),
    ("WebSocket", get(b"/events", HOST + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                                    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n")),
    ("upgrade to HTTP/2", get(b"/style.css", HOST + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n")),
    ("`GET` with body", get(b"/style.css", HOST + b"Content-Length: 2\r\n") + b"{}"),
    ("`Range`", get(b"/style.css", HOST + b"Range: bytes=0-0,0-0,0-0\r\n")),
]
"""Requests whose connection goes on."""

CLOSING = [
    ("`PUT`", b"PUT / HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\n\r\n{}"),
    ("`TRACE`", b"TRACE / HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("`get`", get(b"/").lower().replace(b"http/1.1", b"HTTP/1.1")),
    ("a header of 20 KiB", get(b"/", HOST + b"X: " + b"a" * 20000 + b"\r\n")),
    ("300 headers", get(b"/", HOST + b"".join(b"X%d: %s\r\n" % (n, b"a" * 30) for n in range(300)))),
    ("a path of 40 KiB", get(b"/" + b"a" * 40000)),
    ("`Content-Length` of 10 GB", post(b"Content-Length: 10000000000\r\n")),
    ("of 2^64", post(b"Content-Length: 18446744073709551616\r\n")),
    ("of -1", post(b"Content-Length: -1\r\n")),
    ("20 KiB in chunks", post(CHUNKED, b"".join(b"400\r\n%s\r\n" % (b"a" * 1024) for _ in range(20)) + b"0\r\n\r\n")),
    ("TLS on the port of HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
]
"""Requests that are refused before their body is read."""


def exchange(port, data, source="127.0.0.1"):
    """Sends bytes, then a second request. Returns the status of the first answer, and "closed" if the second one was not answered."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=15, source_address=(source, 0)) as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(data + SECOND)
            while b"<svg" not in answer and (part := connection.recv(65536)):
                answer += part
    if not answer.startswith(b"HTTP/1."):
        return "closed"
    status = answer.split(b" ")[1].decode()
    return status if b"<svg" in answer else status + ", closed"


def raw_requests(port):
    """Name and answer of each request."""
    for name, data in AMBIGUOUS + CLEAR + CLOSING:
        yield name, exchange(port, data)


def tls(port):
    """Connections to a page with TLS: name and answer."""
    for name, version in (("TLS 1.0", "TLSv1"), ("TLS 1.1", "TLSv1_1"), ("TLS 1.2", "TLSv1_2"), ("TLS 1.3", "TLSv1_3")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            # The client must offer what the server refuses.
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = context.maximum_version = getattr(ssl.TLSVersion, version)
        yield name, handshake(port, context)
    yield "HTTP on that of TLS", exchange(port, get(b"/style.css"))


def handshake(port, context):
    with socket.create_connection(("127.0.0.1", port), timeout=15) as plain:
        try:
            with context.wrap_socket(plain) as connection:
                connection.sendall(get(b"/style.css"))
                return connection.recv(4096).split(b" ")[1].decode()
        except (ssl.SSLError, ConnectionResetError) as error:
            # The library closes the connection without an alert. Another error would say nothing about the server.
            return "closed" if isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError, ConnectionResetError)) else str(error)
