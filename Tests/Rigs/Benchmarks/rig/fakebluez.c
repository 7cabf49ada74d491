/* fakebluez: a small stand-in for org.bluez on a private bus, and the event
 * generator of the benchmark. Exports ObjectManager, Adapter1, Device1,
 * GattService1 and GattCharacteristic1; takes one-line commands on stdin and
 * answers with one-line JSON on stdout (see bench/scenario.py). The devices are
 * Jacquard tags.
 * usage: fakebluez TAGS acquire|signal; the bus is DBUS_SYSTEM_BUS_ADDRESS */
#define _GNU_SOURCE
#include <dbus/dbus.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "rig.h"
#include "tag.h"

#define MAXDEV 512
#define I_PROPS "org.freedesktop.DBus.Properties"
#define I_INTRO "org.freedesktop.DBus.Introspectable"
#define I_ADAPTER "org.bluez.Adapter1"
#define I_DEVICE "org.bluez.Device1"
#define I_SERVICE "org.bluez.GattService1"
#define I_CHAR "org.bluez.GattCharacteristic1"
#define I_AGENT "org.bluez.AgentManager1"

struct chr {
    char path[112];
    bool writes, notifies, notifying;
    int fd; /* our end of an AcquireNotify socket pair, or -1 */
    int write_fd; /* the same of AcquireWrite */
};
struct dev {
    char addr[18], path[64], svc[96], name[24];
    struct chr chr[JQ_CHANNELS];
    bool connected, resolved, seen; /* seen: has advertised, so that ManufacturerData and RSSI are known */
    int16_t rssi;
    unsigned char mfg[8];
    int mfg_len;
    struct tag tag;
};
struct stamp { /* in dump files */
    uint64_t t, dev;
};
static struct dev devs[MAXDEV];
static int ndev;
static const uint16_t mtu = 247;
static const char *const adapter = "/org/bluez/hci0", *const service = JQ_SERVICE;
static bool discovering, acquire; /* without acquire, AcquireNotify and AcquireWrite are refused */
static uint64_t next_adv;
static DBusConnection *conn;
static uint64_t *sent_at;
static size_t sent_n, sent_cap, dropped;
static int writing; /* epoll descriptor of all write_fd */
static struct stamp *leds; /* LED requests that arrived, since the last dump */
static size_t led_n, led_cap;

/* ---- property encoding ---- */
static void var_basic(DBusMessageIter *d, const char *k, int type, const void *v) {
    char sig[2] = {(char)type, 0};
    DBusMessageIter e, var;
    dbus_message_iter_open_container(d, DBUS_TYPE_DICT_ENTRY, NULL, &e);
    dbus_message_iter_append_basic(&e, DBUS_TYPE_STRING, &k);
    dbus_message_iter_open_container(&e, DBUS_TYPE_VARIANT, sig, &var);
    dbus_message_iter_append_basic(&var, type, v);
    dbus_message_iter_close_container(&e, &var);
    dbus_message_iter_close_container(d, &e);
}
static void p_str(DBusMessageIter *d, const char *k, const char *v) { var_basic(d, k, DBUS_TYPE_STRING, &v); }
static void p_path(DBusMessageIter *d, const char *k, const char *v) { var_basic(d, k, DBUS_TYPE_OBJECT_PATH, &v); }
static void p_bool(DBusMessageIter *d, const char *k, bool v) {
    dbus_bool_t b = v;
    var_basic(d, k, DBUS_TYPE_BOOLEAN, &b);
}
static void p_strs(DBusMessageIter *d, const char *k, const char *const *v, int n) {
    DBusMessageIter e, var, a;
    dbus_message_iter_open_container(d, DBUS_TYPE_DICT_ENTRY, NULL, &e);
    dbus_message_iter_append_basic(&e, DBUS_TYPE_STRING, &k);
    dbus_message_iter_open_container(&e, DBUS_TYPE_VARIANT, "as", &var);
    dbus_message_iter_open_container(&var, DBUS_TYPE_ARRAY, "s", &a);
    for (int i = 0; i < n; i++) dbus_message_iter_append_basic(&a, DBUS_TYPE_STRING, &v[i]);
    dbus_message_iter_close_container(&var, &a);
    dbus_message_iter_close_container(&e, &var);
    dbus_message_iter_close_container(d, &e);
}
static void p_bytes(DBusMessageIter *d, const char *k, const unsigned char *v, int n) {
    DBusMessageIter e, var, a;
    dbus_message_iter_open_container(d, DBUS_TYPE_DICT_ENTRY, NULL, &e);
    dbus_message_iter_append_basic(&e, DBUS_TYPE_STRING, &k);
    dbus_message_iter_open_container(&e, DBUS_TYPE_VARIANT, "ay", &var);
    dbus_message_iter_open_container(&var, DBUS_TYPE_ARRAY, "y", &a);
    dbus_message_iter_append_fixed_array(&a, DBUS_TYPE_BYTE, &v, n);
    dbus_message_iter_close_container(&var, &a);
    dbus_message_iter_close_container(&e, &var);
    dbus_message_iter_close_container(d, &e);
}
static void p_mfg(DBusMessageIter *d, const struct dev *v) {
    const char *k = "ManufacturerData";
    const unsigned char *bytes = v->mfg;
    uint16_t id = JQ_COMPANY;
    DBusMessageIter e, var, a, me, mv, b;
    dbus_message_iter_open_container(d, DBUS_TYPE_DICT_ENTRY, NULL, &e);
    dbus_message_iter_append_basic(&e, DBUS_TYPE_STRING, &k);
    dbus_message_iter_open_container(&e, DBUS_TYPE_VARIANT, "a{qv}", &var);
    dbus_message_iter_open_container(&var, DBUS_TYPE_ARRAY, "{qv}", &a);
    dbus_message_iter_open_container(&a, DBUS_TYPE_DICT_ENTRY, NULL, &me);
    dbus_message_iter_append_basic(&me, DBUS_TYPE_UINT16, &id);
    dbus_message_iter_open_container(&me, DBUS_TYPE_VARIANT, "ay", &mv);
    dbus_message_iter_open_container(&mv, DBUS_TYPE_ARRAY, "y", &b);
    dbus_message_iter_append_fixed_array(&b, DBUS_TYPE_BYTE, &bytes, v->mfg_len);
    dbus_message_iter_close_container(&mv, &b);
    dbus_message_iter_close_container(&me, &mv);
    dbus_message_iter_close_container(&a, &me);
    dbus_message_iter_close_container(&var, &a);
    dbus_message_iter_close_container(&e, &var);
    dbus_message_iter_close_container(d, &e);
}
static void props_of(DBusMessageIter *d, const char *iface, struct dev *v, struct chr *c) {
    static const char *const roles[] = {"central", "peripheral"};
    if (!strcmp(iface, I_ADAPTER)) {
        p_str(d, "Address", "00:00:00:00:5E:01");
        p_str(d, "AddressType", "public");
        p_str(d, "Name", "rig");
        p_str(d, "Alias", "rig");
        p_bool(d, "Powered", true);
        p_bool(d, "Discoverable", false);
        p_bool(d, "Pairable", true);
        p_bool(d, "Discovering", discovering);
        p_strs(d, "Roles", roles, 2);
    } else if (!strcmp(iface, I_DEVICE)) {
        p_str(d, "Address", v->addr);
        p_str(d, "AddressType", "random");
        p_str(d, "Name", v->name);
        p_str(d, "Alias", v->name);
        p_bool(d, "Paired", true);
        p_bool(d, "Bonded", true);
        p_bool(d, "Trusted", true);
        p_bool(d, "Blocked", false);
        p_bool(d, "LegacyPairing", false);
        p_bool(d, "Connected", v->connected);
        p_bool(d, "ServicesResolved", v->resolved);
        p_path(d, "Adapter", adapter);
        p_strs(d, "UUIDs", &service, 1);
        if (v->seen) {
            var_basic(d, "RSSI", DBUS_TYPE_INT16, &v->rssi);
            p_mfg(d, v);
        }
    } else if (!strcmp(iface, I_SERVICE)) {
        p_str(d, "UUID", service);
        p_path(d, "Device", v->path);
        p_bool(d, "Primary", true);
    } else if (!strcmp(iface, I_CHAR)) {
        const char *flags[4];
        int n = 0;
        if (c->writes) flags[n++] = "write", flags[n++] = "write-without-response";
        if (c->notifies) flags[n++] = "notify";
        p_str(d, "UUID", jq_uuid[c - v->chr]);
        p_path(d, "Service", v->svc);
        p_strs(d, "Flags", flags, n);
        p_bytes(d, "Value", (const unsigned char *)"", 0);
        if (c->notifies) p_bool(d, "Notifying", c->notifying);
        if (c->notifies && acquire) p_bool(d, "NotifyAcquired", c->fd >= 0);
        if (c->writes && acquire) p_bool(d, "WriteAcquired", c->write_fd >= 0);
        var_basic(d, "MTU", DBUS_TYPE_UINT16, &mtu);
    }
}
static void object(DBusMessageIter *arr, const char *path, const char *iface, struct dev *v, struct chr *c) {
    static const char *extra[] = {I_PROPS, I_INTRO};
    DBusMessageIter e, ifs, ie, pr;
    dbus_message_iter_open_container(arr, DBUS_TYPE_DICT_ENTRY, NULL, &e);
    dbus_message_iter_append_basic(&e, DBUS_TYPE_OBJECT_PATH, &path);
    dbus_message_iter_open_container(&e, DBUS_TYPE_ARRAY, "{sa{sv}}", &ifs);
    for (int i = 0; i < 3; i++) {
        const char *n = i == 2 ? iface : extra[i];
        dbus_message_iter_open_container(&ifs, DBUS_TYPE_DICT_ENTRY, NULL, &ie);
        dbus_message_iter_append_basic(&ie, DBUS_TYPE_STRING, &n);
        dbus_message_iter_open_container(&ie, DBUS_TYPE_ARRAY, "{sv}", &pr);
        if (i == 2) props_of(&pr, iface, v, c);
        dbus_message_iter_close_container(&ie, &pr);
        dbus_message_iter_close_container(&ifs, &ie);
    }
    dbus_message_iter_close_container(&e, &ifs);
    dbus_message_iter_close_container(arr, &e);
}

/* ---- signals ---- */
static DBusMessage *changed_begin(const char *path, const char *iface, DBusMessageIter *it, DBusMessageIter *d) {
    DBusMessage *m = dbus_message_new_signal(path, I_PROPS, "PropertiesChanged");
    dbus_message_iter_init_append(m, it);
    dbus_message_iter_append_basic(it, DBUS_TYPE_STRING, &iface);
    dbus_message_iter_open_container(it, DBUS_TYPE_ARRAY, "{sv}", d);
    return m;
}
static void changed_end(DBusMessage *m, DBusMessageIter *it, DBusMessageIter *d) {
    DBusMessageIter inv;
    dbus_message_iter_close_container(it, d);
    dbus_message_iter_open_container(it, DBUS_TYPE_ARRAY, "s", &inv);
    dbus_message_iter_close_container(it, &inv);
    dbus_connection_send(conn, m, NULL);
    dbus_message_unref(m);
}
static void changed_bool(const char *path, const char *iface, const char *k, bool v) {
    DBusMessageIter it, d;
    DBusMessage *m = changed_begin(path, iface, &it, &d);
    p_bool(&d, k, v);
    changed_end(m, &it, &d);
}
static void say(const char *event) {
    printf("{\"event\":\"%s\",\"t_ns\":%llu}\n", event, (unsigned long long)rig_now());
    fflush(stdout);
}

static void advertise(void) { /* as BlueZ does, again and again, for devices in range */
    if (!discovering || rig_now() < next_adv) return;
    next_adv = rig_now() + 100000000;
    for (int i = 0; i < ndev; i++) {
        if (devs[i].connected) continue;
        DBusMessageIter it, d;
        devs[i].rssi ^= 1;
        devs[i].seen = true;
        DBusMessage *s = changed_begin(devs[i].path, I_DEVICE, &it, &d);
        var_basic(&d, "RSSI", DBUS_TYPE_INT16, &devs[i].rssi);
        p_mfg(&d, &devs[i]);
        changed_end(s, &it, &d);
    }
}

/* ---- method calls ---- */
static void empty_reply(DBusMessage *m) {
    if (dbus_message_get_no_reply(m)) return;
    DBusMessage *r = dbus_message_new_method_return(m);
    dbus_connection_send(conn, r, NULL);
    dbus_message_unref(r);
}
static void error_reply(DBusMessage *m, const char *name, const char *text) {
    DBusMessage *r = dbus_message_new_error(m, name, text);
    dbus_connection_send(conn, r, NULL);
    dbus_message_unref(r);
}
static void find(const char *path, struct dev **v, struct chr **c) { /* the device, and what of it a path means */
    size_t len = strlen(devs[0].path); /* the same for all */
    for (int i = 0; i < ndev; i++) {
        if (strncmp(path, devs[i].path, len)) continue;
        *v = &devs[i];
        for (int k = 0; k < JQ_CHANNELS; k++)
            if (!strcmp(path, devs[i].chr[k].path)) *c = &devs[i].chr[k];
        return;
    }
}
static void unsubscribe(struct chr *c) {
    if (c->fd >= 0) close(c->fd), c->fd = -1;
    c->notifying = false;
}
static void end_writing(struct chr *c) {
    if (c->write_fd >= 0) close(c->write_fd), c->write_fd = -1; /* closing ends its registration with epoll */
}
static void link_down(struct dev *v) {
    v->connected = v->resolved = v->tag.configured = false;
    v->tag.rx.want = 0;
    for (int i = 0; i < JQ_CHANNELS; i++) unsubscribe(&v->chr[i]), end_writing(&v->chr[i]);
}

/* ---- values out, to the descriptor or as a signal ---- */
static void packets_in(struct chr *c);
static void pump(void) { /* run the bus connection once, and read what was written to descriptors */
    struct epoll_event got[16];
    dbus_connection_read_write(conn, 0);
    while (dbus_connection_dispatch(conn) == DBUS_DISPATCH_DATA_REMAINS) {}
    for (int i = epoll_wait(writing, got, 16, 0); i-- > 0;) packets_in(got[i].data.ptr);
}
static void value_out(struct chr *c, const unsigned char *val, int n) {
    uint64_t give_up = 0;
    while (c->fd >= 0) { /* a full socket makes us wait; a real daemon would drop the value */
        if (send(c->fd, val, (size_t)n, MSG_NOSIGNAL) >= 0) return;
        if (errno != EAGAIN && errno != EINTR) {
            unsubscribe(c);
            return;
        }
        uint64_t now = rig_now();
        if (!give_up) give_up = now + 10000000000ull;
        if (now > give_up) {
            dropped++;
            return;
        }
        struct pollfd p = {c->fd, POLLOUT, 0};
        poll(&p, 1, 100);
        if (!p.revents) dbus_connection_read_write(conn, 0); /* dispatched later: calls must not run in here */
    }
    if (!c->notifying) {
        dropped++;
        return;
    }
    DBusMessageIter it, d;
    DBusMessage *m = changed_begin(c->path, I_CHAR, &it, &d);
    p_bytes(&d, "Value", val, n);
    changed_end(m, &it, &d);
}
static void packet_out(void *context, int channel, const uint8_t *packet, int n) {
    struct dev *v = context;
    uint8_t fragment[JQ_FRAGMENT];
    for (int at = 0, counter = 0, k; (k = jq_fragment(packet, n, &at, &counter, fragment));)
        value_out(&v->chr[channel], fragment, k);
}
static void value_in(struct dev *v, struct chr *c, const unsigned char *p, int n) {
    uint64_t now = rig_now();
    if (c != &v->chr[JQ_COMMAND] || !(p = jq_feed(&v->tag.rx, p, n, &n))) return;
    if (!tag_request(&v->tag, p, n, packet_out, v)) return;
    if (led_n == led_cap) leds = realloc(leds, (led_cap = led_cap ? 2 * led_cap : 1024) * sizeof *leds);
    leds[led_n++] = (struct stamp){now, (uint64_t)(v - devs)};
}

static void message_in(struct dev *v, struct chr *c, DBusMessage *m) { /* WriteValue(ay, a{sv}) */
    DBusMessageIter it, a;
    const unsigned char *p = NULL;
    int n = 0;
    if (!dbus_message_iter_init(m, &it) || dbus_message_iter_get_arg_type(&it) != DBUS_TYPE_ARRAY) return;
    dbus_message_iter_recurse(&it, &a);
    dbus_message_iter_get_fixed_array(&a, &p, &n);
    value_in(v, c, p, n);
}
static void packets_in(struct chr *c) { /* from the descriptor of AcquireWrite */
    struct dev *v = &devs[((char *)c - (char *)devs) / (ptrdiff_t)sizeof *devs];
    unsigned char b[512];
    ssize_t n;
    while (c->write_fd >= 0 && (n = recv(c->write_fd, b, sizeof b, MSG_DONTWAIT)) >= 0)
        if (n == 0) end_writing(c);
        else value_in(v, c, b, (int)n);
}
/* Hands out a socket as the answer to AcquireNotify or AcquireWrite; *fd is our end. */
static bool hand_out(DBusMessage *m, int *fd) {
    int sv[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sv)) {
        error_reply(m, "org.bluez.Error.Failed", strerror(errno));
        return false;
    }
    DBusMessage *r = dbus_message_new_method_return(m);
    dbus_message_append_args(r, DBUS_TYPE_UNIX_FD, &sv[1], DBUS_TYPE_UINT16, &mtu, DBUS_TYPE_INVALID);
    dbus_connection_send(conn, r, NULL);
    dbus_message_unref(r);
    close(sv[1]);
    *fd = sv[0];
    return true;
}

/* ---- method calls on us ---- */
static DBusHandlerResult on_call(DBusConnection *c, DBusMessage *m, void *u) {
    (void)c, (void)u;
    if (dbus_message_get_type(m) != DBUS_MESSAGE_TYPE_METHOD_CALL) return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    const char *path = dbus_message_get_path(m), *mem = dbus_message_get_member(m);
    struct dev *v = NULL;
    struct chr *ch = NULL;
    find(path, &v, &ch);
    if (!strcmp(mem, "GetManagedObjects")) {
        DBusMessage *r = dbus_message_new_method_return(m);
        DBusMessageIter it, a;
        dbus_message_iter_init_append(r, &it);
        dbus_message_iter_open_container(&it, DBUS_TYPE_ARRAY, "{oa{sa{sv}}}", &a);
        object(&a, "/org/bluez", I_AGENT, NULL, NULL);
        object(&a, adapter, I_ADAPTER, NULL, NULL);
        for (int i = 0; i < ndev; i++) {
            object(&a, devs[i].path, I_DEVICE, &devs[i], NULL);
            object(&a, devs[i].svc, I_SERVICE, &devs[i], NULL);
            for (int k = 0; k < JQ_CHANNELS; k++) object(&a, devs[i].chr[k].path, I_CHAR, &devs[i], &devs[i].chr[k]);
        }
        dbus_message_iter_close_container(&it, &a);
        dbus_connection_send(conn, r, NULL);
        dbus_message_unref(r);
    } else if (!strcmp(mem, "StartDiscovery") || !strcmp(mem, "StopDiscovery")) {
        discovering = mem[2] == 'a';
        empty_reply(m);
        changed_bool(adapter, I_ADAPTER, "Discovering", discovering);
        next_adv = rig_now(); /* tags are heard at once: what is measured is the bridge */
    } else if (!strcmp(mem, "Connect") && v) {
        if (!v->connected) {
            v->connected = v->resolved = true;
            changed_bool(v->path, I_DEVICE, "Connected", true);
            changed_bool(v->path, I_DEVICE, "ServicesResolved", true);
        }
        empty_reply(m);
    } else if (!strcmp(mem, "Disconnect") && v) {
        link_down(v);
        changed_bool(v->path, I_DEVICE, "ServicesResolved", false);
        changed_bool(v->path, I_DEVICE, "Connected", false);
        empty_reply(m);
    } else if (!strcmp(mem, "StartNotify") && ch) {
        if (!ch->notifying) {
            ch->notifying = true;
            changed_bool(ch->path, I_CHAR, "Notifying", true);
        }
        empty_reply(m);
        say("notify-on");
    } else if (!strcmp(mem, "StopNotify") && ch) {
        ch->notifying = false;
        changed_bool(ch->path, I_CHAR, "Notifying", false);
        empty_reply(m);
    } else if (!strcmp(mem, "AcquireNotify") && ch) {
        if (!acquire || !ch->notifies) {
            error_reply(m, "org.bluez.Error.NotSupported", "Operation is not supported");
        } else if (ch->fd >= 0) {
            error_reply(m, "org.bluez.Error.NotPermitted", "Notify acquired");
        } else if (hand_out(m, &ch->fd)) {
            say("acquired");
        }
    } else if (!strcmp(mem, "AcquireWrite") && ch) {
        if (!acquire || !ch->writes) error_reply(m, "org.bluez.Error.NotSupported", "Operation is not supported");
        else if (ch->write_fd >= 0) error_reply(m, "org.bluez.Error.NotPermitted", "Write acquired");
        else if (hand_out(m, &ch->write_fd)) {
            struct epoll_event ev = {EPOLLIN, {.ptr = ch}};
            epoll_ctl(writing, EPOLL_CTL_ADD, ch->write_fd, &ev);
        }
    } else if (!strcmp(mem, "WriteValue") && ch) {
        if (!v->connected) {
            error_reply(m, "org.bluez.Error.Failed", "Not connected");
        } else if (ch->write_fd >= 0) {
            error_reply(m, "org.bluez.Error.NotPermitted", "Write acquired");
        } else {
            empty_reply(m);
            message_in(v, ch, m);
        }
    } else if (!strcmp(mem, "SetDiscoveryFilter") || !strcmp(mem, "RegisterAgent")) {
        empty_reply(m);
    } else {
        error_reply(m, DBUS_ERROR_UNKNOWN_METHOD, mem);
    }
    return DBUS_HANDLER_RESULT_HANDLED;
}

/* ---- the generator ---- */
static void emit(struct dev *v, uint64_t nth) { /* nth: the device's own count */
    unsigned char packet[64];
    if (sent_n < sent_cap) sent_at[sent_n++] = rig_now();
    packet_out(v, JQ_NOTIFY, packet, tag_gesture(&v->tag, tag_gestures[nth % TAG_GESTURES], packet));
}
static void generate(double rate, long count) { /* rate 0: as fast as possible */
    uint64_t start = rig_now(), seq = 0;
    sent_n = dropped = 0;
    free(sent_at);
    sent_cap = (size_t)count;
    sent_at = malloc(sent_cap * sizeof *sent_at);
    while ((long)seq < count) {
        if (rate > 0) {
            uint64_t due = start + (uint64_t)((double)seq * 1e9 / rate), now = rig_now();
            if (due > now) {
                if (due - now > 2000000) {
                    struct pollfd p[2] = {{writing, POLLIN, 0}, {-1, POLLIN, 0}};
                    dbus_connection_get_unix_fd(conn, &p[1].fd);
                    poll(p, 2, (int)((due - now) / 1000000 - 1));
                    pump();
                } else {
                    struct timespec ts = {(time_t)(due / 1000000000ull), (long)(due % 1000000000ull)};
                    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
                }
                continue;
            }
        }
        emit(&devs[seq % (unsigned)ndev], seq / (unsigned)ndev);
        seq++;
        if (rate > 0 || seq % 32 == 0) dbus_connection_flush(conn);
        if (seq % 256 == 0) pump();
    }
    dbus_connection_flush(conn);
    printf("{\"event\":\"generated\",\"dropped\":%zu,\"start_ns\":%llu}\n", dropped, (unsigned long long)start);
    fflush(stdout);
}
static void dump(const char *file, const void *data, size_t size, size_t n) {
    FILE *f = fopen(file, "wb");
    if (f && n) fwrite(data, size, n, f);
    if (f) fclose(f);
    say("dumped");
}
static void command(char *line) {
    char what[16] = "", a[256] = "", b[16] = "";
    int n = sscanf(line, "%15s %255s %15s", what, a, b);
    if (n == 3 && !strcmp(what, "gen")) { /* gen RATE COUNT: gestures, of the tags in turn */
        generate(atof(a), atol(b));
    } else if (n == 2 && !strcmp(what, "dump")) { /* dump FILE: u64 send times of the last gen */
        dump(a, sent_at, sizeof *sent_at, sent_n);
    } else if (n == 2 && !strcmp(what, "dump-led")) { /* dump-led FILE: arrivals of LED requests, as struct stamp */
        dump(a, leds, sizeof *leds, led_n);
        led_n = 0;
    }
}
int main(int argc, char **argv) {
    const char *bus = getenv("DBUS_SYSTEM_BUS_ADDRESS");
    if (argc == 3) ndev = atoi(argv[1]), acquire = !strcmp(argv[2], "acquire");
    if (ndev < 1 || ndev > MAXDEV || !bus) return fprintf(stderr, "usage: fakebluez TAGS acquire|signal\n"), 2;
    for (int i = 0; i < ndev; i++) {
        struct dev *v = &devs[i];
        unsigned low = (unsigned)i + 1;
        snprintf(v->addr, sizeof v->addr, "C0:FF:EE:00:%02X:%02X", low >> 8 & 255, low & 255);
        snprintf(v->path, sizeof v->path, "%s/dev_%.17s", adapter, v->addr);
        for (char *p = v->path + strlen(adapter); *p; p++)
            if (*p == ':') *p = '_';
        snprintf(v->svc, sizeof v->svc, "%s/service000a", v->path);
        for (int k = 0; k < JQ_CHANNELS; k++) {
            struct chr *c = &v->chr[k];
            snprintf(c->path, sizeof c->path, "%s/char%04x", v->svc, 0xb + 3 * k);
            c->writes = k == JQ_COMMAND || k == JQ_RAW;
            c->notifies = k != JQ_COMMAND;
            c->fd = c->write_fd = -1;
        }
        v->rssi = -60;
        snprintf(v->tag.serial, sizeof v->tag.serial, "%04d", (i + 1) % 10000);
        snprintf(v->name, sizeof v->name, "Jacquard-%s", v->tag.serial);
        v->mfg_len = jq_serial_encode(v->tag.serial, v->mfg);
    }
    writing = epoll_create1(EPOLL_CLOEXEC);
    DBusError err = DBUS_ERROR_INIT;
    conn = dbus_connection_open_private(bus, &err);
    if (!conn || !dbus_bus_register(conn, &err)) return fprintf(stderr, "fakebluez: %s\n", err.message), 1;
    dbus_connection_add_filter(conn, on_call, NULL, NULL);
    if (dbus_bus_request_name(conn, "org.bluez", 0, &err) != DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER)
        return fprintf(stderr, "fakebluez: org.bluez not obtained: %s\n", err.message ? err.message : "taken"), 1;
    say("ready");
    char in[512];
    size_t fill = 0;
    for (;;) {
        struct pollfd p[3] = {{0, POLLIN, 0}, {-1, POLLIN, 0}, {writing, POLLIN, 0}};
        dbus_connection_get_unix_fd(conn, &p[1].fd);
        if (dbus_connection_has_messages_to_send(conn)) p[1].events |= POLLOUT;
        if (dbus_connection_get_dispatch_status(conn) == DBUS_DISPATCH_COMPLETE) poll(p, 3, discovering ? 20 : -1);
        if (p[0].revents && !rig_commands(in, sizeof in, &fill, command)) return 0;
        pump();
        advertise();
        if (!dbus_connection_get_is_connected(conn)) return 0;
    }
}
