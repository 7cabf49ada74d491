#!/usr/bin/env bash
# libmosquitto: mosquitto_strerror has no text for a keep-alive that has run out, nor for a malformed packet.
#
# libmosquitto 2.0.11-1.2+deb12u2 and Python 3.11.2-6+deb12u8 (Debian 12)
#
# When the broker answers no ping in time, the library closes the connection and calls on_disconnect with 19, MOSQ_ERR_KEEPALIVE. It calls
# it with 21, MOSQ_ERR_MALFORMED_PACKET, when it can't read what has come. For both, mosquitto_strerror says "Unknown error.", as for a
# number that it has never heard of; the neighbours have texts. A client that shows this text hides the most frequent cause of a lost
# connection, so it needs texts of its own. In 2.0.21 (Debian 13), 19 has the text "Keepalive exceeded"; 21 still has none.
#
# Seen:
#   7 The connection was lost.
#   18 Malformed UTF-8
#   19 Unknown error.
#   21 Unknown error.
#   22 Duplicate property in property list
#   1000 Unknown error.
#   a broker that does not answer pings: on_disconnect with 19
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
here=$(dirname "${BASH_SOURCE[0]}")

"$here/unpack" "$folder" bookworm libmosquitto1=2.0.11-1.2+deb12u2 python3.11=3.11.2-6+deb12u8

cat >"$folder/errors.py" <<'END'
import ctypes
import socket
import threading

library = ctypes.CDLL("libmosquitto.so.1")
library.mosquitto_strerror.restype = ctypes.c_char_p
for number in (7, 18, 19, 21, 22, 1000):
    print(number, library.mosquitto_strerror(number).decode())


def accept(listener):
    """A broker that accepts one connection, and says nothing more."""
    connection = listener.accept()[0]
    connection.recv(1000)
    connection.sendall(bytes([0x20, 2, 0, 0]))
    while connection.recv(1000):
        pass


listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=accept, args=(listener,), daemon=True).start()
library.mosquitto_lib_init()
library.mosquitto_new.restype = ctypes.c_void_p
client = ctypes.c_void_p(library.mosquitto_new(None, True, None))
ended = []
handler = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(lambda client, data, number: ended.append(number))
library.mosquitto_disconnect_callback_set(client, handler)
# The shortest keep-alive is five seconds.
library.mosquitto_connect(client, b"127.0.0.1", listener.getsockname()[1], 5)
while not ended:
    library.mosquitto_loop(client, 100, 1)
print(f"a broker that does not answer pings: on_disconnect with {ended[0]}")
END
PYTHONHOME=$folder/root/usr "$folder/run" usr/bin/python3.11 "$folder/errors.py" | tee "$folder/output"

sed -n 's/^#   //p' "${BASH_SOURCE[0]}" | diff - "$folder/output" >&2 && exit
echo "changed" >&2
exit 1
