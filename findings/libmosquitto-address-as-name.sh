#!/usr/bin/env bash
# libmosquitto: a broker's certificate that has its IP address as a name is good for 2.0, and not for 2.1, which does not say that.
#
# mosquitto-clients 2.0.21-1 (Debian 13) and 2.1.2-3 (Debian sid), with the broker mosquitto 2.0.21-1
#
# In a home the broker often has no name but its address. libmosquitto 2.0 accepts the address as text, in the common name or in a DNS
# name. From 2.1 the check is that of OpenSSL: an address has to be in the certificate as an IP address. A host name in the common name
# is still accepted. So clients cease to connect at an upgrade of the library, with the certificate unchanged and valid.
# 2.0 logs "host name verification failed" for a wrong name. 2.1 logs what it logs for every certificate that it can't verify, and
# mosquitto_pub ends with "Protocol error" or "A TLS error occurred", depending on which side is faster.
#
# Seen:
#   2.0.21, host localhost, common name localhost: connected
#   2.0.21, address, common name 127.0.0.1: connected
#   2.0.21, address, DNS name 127.0.0.1: connected
#   2.0.21, address, IP address 127.0.0.1: connected
#   2.0.21, host localhost, DNS name other.lan: refused, host name verification failed
#   2.1.2, host localhost, common name localhost: connected
#   2.1.2, address, common name 127.0.0.1: refused, certificate verify failed
#   2.1.2, address, DNS name 127.0.0.1: refused, certificate verify failed
#   2.1.2, address, IP address 127.0.0.1: connected
#   2.1.2, host localhost, DNS name other.lan: refused, certificate verify failed
set -euo pipefail

folder=$(mktemp -d)
broker=
trap '[ -z "$broker" ] || kill "$broker" 2>/dev/null || :; rm -rf "$folder"' EXIT
here=$(dirname "${BASH_SOURCE[0]}")

"$here/unpack" "$folder/2.0.21" trixie mosquitto=2.0.21-1 mosquitto-clients=2.0.21-1
"$here/unpack" "$folder/2.1.2" sid mosquitto-clients=2.1.2-3

# A certificate of the authority: NAME SUBJECT [SUBJECTALTNAME]
certificate() {
    openssl req -x509 -CA "$folder/ca.pem" -CAkey "$folder/ca.key" -newkey rsa:2048 -nodes -days 2 -subj "$2" \
        ${3:+-addext "subjectAltName=$3"} -addext "basicConstraints=critical,CA:FALSE" \
        -keyout "$folder/$1.key" -out "$folder/$1.pem" 2>/dev/null
}
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout "$folder/ca.key" -out "$folder/ca.pem" 2>/dev/null
certificate cn-host /CN=localhost
certificate cn-address /CN=127.0.0.1
certificate dns-address /CN=broker DNS:127.0.0.1
certificate ip-address /CN=broker IP:127.0.0.1
certificate other /CN=localhost DNS:other.lan

names=(cn-host cn-address dns-address ip-address other)
hosts=(localhost 127.0.0.1 127.0.0.1 127.0.0.1 localhost)
titles=("host localhost, common name localhost" "address, common name 127.0.0.1" "address, DNS name 127.0.0.1"
    "address, IP address 127.0.0.1" "host localhost, DNS name other.lan")
read -ra ports < <(python3 - <<'END'
import socket

sockets = [socket.socket() for _ in range(5)]
for each in sockets:
    each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in sockets))
END
)
{
    echo "user $(id -un)"
    echo "allow_anonymous true"
    for index in "${!names[@]}"; do
        printf 'listener %s 127.0.0.1\ncertfile %s.pem\nkeyfile %s.key\n' "${ports[index]}" "$folder/${names[index]}"{,}
    done
} >"$folder/mosquitto.conf"
"$folder/2.0.21/run" usr/sbin/mosquitto -c "$folder/mosquitto.conf" >"$folder/log" 2>&1 &
broker=$!
for _ in {1..100}; do
    ! grep -q ' running$' "$folder/log" || break
    sleep 0.1
done

# One line: whether a client of a version connects to a listener, and the cause in its log. VERSION INDEX
try() {
    local output outcome=connected
    if ! output=$("$folder/$1/run" usr/bin/mosquitto_pub -d -h "${hosts[$2]}" -p "${ports[$2]}" --cafile "$folder/ca.pem" \
        -t a -m b 2>&1); then
        outcome="refused, $(grep -m 1 -oE '[a-z ]* (verification|verify) failed' <<<"$output" | sed 's/^ *//' || echo "$output")"
    fi
    echo "$1, ${titles[$2]}: $outcome"
}
for version in 2.0.21 2.1.2; do
    for index in "${!names[@]}"; do try "$version" "$index"; done
done | tee "$folder/output"

sed -n 's/^#   //p' "${BASH_SOURCE[0]}" | diff - "$folder/output" >&2 && exit
echo "changed" >&2
exit 1
