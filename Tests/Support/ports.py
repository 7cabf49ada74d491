"""Ports of the loopback interface for the programs that a rig starts."""

from __future__ import annotations

import socket

_taken: list[socket.socket] = []


def take_port() -> int:
    """A port that is this process's own from now on.

    A socket stays bound to it and does not listen, so that nobody else is given it, not even while a server that is to
    come back there is away. Servers that ask for SO_REUSEADDR listen there all the same, and all of ours do.
    """
    place = socket.socket()
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    place.bind(("127.0.0.1", 0))
    _taken.append(place)
    return place.getsockname()[1]


def listens(port: int) -> bool:
    """Whether somebody listens to a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
