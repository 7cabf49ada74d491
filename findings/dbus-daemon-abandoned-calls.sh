#!/usr/bin/env bash
# dbus-daemon: calls that a client has given up still count against the client's limit of pending replies.
#
# dbus-daemon 1.16.2-2 (Debian 13), dbus-fast 5.2.0 (PyPI)
#
# A service owes replies that it never sends, and the client stops to wait for each after 0.2 s. dbus-daemon has no timeout for replies
# in its standard configurations, so each call keeps its slot of max_replies_per_connection (lowered to 4 here). When all are taken,
# every further call of this client fails at once, also to services that answer at once. Only calls to the bus itself still work. The
# slots are free again when the silent service leaves the bus, or the client.
#
# Seen:
#   call 1 to the silent service: no reply within 0.2 s
#   call 2 to the silent service: no reply within 0.2 s
#   call 3 to the silent service: no reply within 0.2 s
#   call 4 to the silent service: no reply within 0.2 s
#   call to another service: org.freedesktop.DBus.Error.LimitsExceeded
#   call to the bus itself: reply
#   the same client, after the silent service has left: reply
#   another client, meanwhile: reply
set -euo pipefail

folder=$(mktemp -d)
bus=
trap '[ -z "$bus" ] || kill "$bus" 2>/dev/null || :; rm -rf "$folder"' EXIT
here=$(dirname "${BASH_SOURCE[0]}")

"$here/unpack" "$folder/debian" trixie dbus-daemon=1.16.2-2
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install dbus-fast==5.2.0 || exit 77

cat >"$folder/bus.conf" <<END
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=$folder/bus</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
  <limit name="max_replies_per_connection">4</limit>
</busconfig>
END
"$folder/debian/run" usr/bin/dbus-daemon --config-file="$folder/bus.conf" --nofork --nopidfile --nosyslog 2>"$folder/log" &
bus=$!

cat >"$folder/calls.py" <<'END'
import asyncio
import os
import sys

from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus

PATIENCE = 0.2


async def connect(name=None, answers=True):
    """A connection to the bus; with a name, a service."""
    bus = await MessageBus(bus_address=f"unix:path={sys.argv[1]}").connect()
    if name:
        await bus.request_name(name)

        def handle(message):
            if message.message_type is MessageType.METHOD_CALL and message.member == "Work":
                return Message.new_method_return(message) if answers else True

        bus.add_message_handler(handle)
    return bus


async def call(client, name, interface="org.example.Work", member="Work"):
    message = Message(destination=name, path="/", interface=interface, member=member)
    try:
        reply = await asyncio.wait_for(client.call(message), PATIENCE)
    except TimeoutError:
        return f"no reply within {PATIENCE} s"
    return reply.error_name or "reply"


async def main():
    for _ in range(100):
        if os.path.exists(sys.argv[1]):
            break
        await asyncio.sleep(0.1)
    silent = await connect("org.example.Silent", answers=False)
    await connect("org.example.Prompt")
    client, other = await connect(), await connect()
    for number in range(1, 5):
        print(f"call {number} to the silent service:", await call(client, "org.example.Silent"))
    print("call to another service:", await call(client, "org.example.Prompt"))
    bus = "org.freedesktop.DBus"
    print("call to the bus itself:", await call(client, bus, bus, "GetId"))
    meanwhile = await call(other, "org.example.Prompt")
    silent.disconnect()
    await asyncio.sleep(0.5)
    print("the same client, after the silent service has left:", await call(client, "org.example.Prompt"))
    print("another client, meanwhile:", meanwhile)


asyncio.run(asyncio.wait_for(main(), 30))
END
"$folder/venv/bin/python" "$folder/calls.py" "$folder/bus" | tee "$folder/output"

sed -n 's/^#   //p' "${BASH_SOURCE[0]}" | diff - "$folder/output" >&2 && exit
echo "changed" >&2
exit 1
