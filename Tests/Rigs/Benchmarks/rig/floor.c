/* floor: the practical floor of a bridge for Jacquard tags. One thread,
 * libdbus + libmosquitto + epoll; finds the tags by serial, connects them, carries
 * out the handshake, publishes facts and gestures, and obeys LED commands, one
 * request in flight per tag. The same work as a real bridge on the measured paths,
 * without what those paths do not need: no reconnecting, no time limits, no
 * configuration, no touch data.
 * usage: floor BUS PORT BASE-TOPIC INSTANCE SERIAL,SERIAL,... signal|acquire */
#define _GNU_SOURCE
#include <dbus/dbus.h>
#include <errno.h>
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "jacquard.h"
#include "rig.h"

#define I_CHAR "org.bluez.GattCharacteristic1"
#define I_DEVICE "org.bluez.Device1"
#define ID_AT 5 /* where a request's id is: after domain and opcode, all below 128 */

enum about { HELLO, BEGIN, INFO, CONFIGURATION, MODE, DEPTH, GEAR_INFO, LED };
struct request {
    struct request *next;
    enum about about;
    int n;
    uint64_t begun;
    uint8_t packet[];
};
struct tag {
    char serial[12], *device, *chr[JQ_CHANNELS];
    bool connecting, dirty;
    int fd[JQ_CHANNELS], subscribed;
    uint8_t id, gear;
    struct jq_rx rx[JQ_CHANNELS];
    struct request *first, *last;
    uint64_t seq, kinds[16];
};
struct path { /* characteristics and devices by object path, sorted */
    const char *path;
    struct tag *tag;
    int channel; /* or -1: the device */
    bool acquiring;
};
static DBusConnection *bus;
static struct mosquitto *mq;
static mosquitto_property *expiry;
static const char *base, *instance;
static char boot[16];
static struct tag *tags;
static int tag_n, missing, ep;
static struct path *paths;
static size_t path_n;
static bool signals, discovering, reflex; /* reflex: an LED command for each gesture, also without a broker */
static uint64_t stats_due;

/* ---- MQTT out ---- */
static char *now_text(char out[32]) {
    struct timespec ts;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &ts);
    gmtime_r(&ts.tv_sec, &tm);
    size_t k = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + k, 32 - k, ".%03dZ", (int)(ts.tv_nsec / 1000000));
    return out;
}
static void publish(const struct tag *t, const char *name, int qos, bool retain, const mosquitto_property *p, const char *text, int n) {
    char topic[128];
    snprintf(topic, sizeof topic, "%s/tag/%s/%s", base, t->serial, name);
    mosquitto_publish_v5(mq, NULL, topic, n, text, qos, retain, p);
}
#define FACT(t, name, ...) publish(t, name, 1, true, NULL, text, snprintf(text, sizeof text, __VA_ARGS__))

static void ask_led(struct tag *t, const char *json);
static void gesture(struct tag *t, unsigned event) {
    static const char *const names[16] = {[1] = "double_tap", [2] = "brush_in", [3] = "brush_out", [7] = "cover", [13] = "brush_up", [14] = "brush_down"};
    char text[256], at[32];
    const char *name = event < 16 && names[event] ? names[event] : "unknown";
    t->kinds[event & 15]++;
    if (reflex) ask_led(t, "{\"color\":\"#ff0000\",\"pattern\":\"breathing\",\"duration_ms\":2000}");
    int n = snprintf(text, sizeof text, "{\"boot\":\"%s\",\"bridge\":\"%s\",\"event_type\":\"%s\",\"gesture\":%u,\"seq\":%llu,\"time\":\"%s\"}",
                     boot, instance, name, event, (unsigned long long)++t->seq, now_text(at));
    publish(t, "gesture", 1, false, expiry, text, n);
    t->dirty = true;
    if (!stats_due) stats_due = rig_now() + 1000000000;
}
static void stats(void) { /* once a second at most, of the tags that had a gesture */
    char text[512], at[32];
    stats_due = 0;
    now_text(at);
    for (struct tag *t = tags; t < tags + tag_n; t++) {
        if (!t->dirty) continue;
        t->dirty = false;
        const uint64_t *k = t->kinds;
        FACT(t, "stats", "{\"boot\":\"%s\",\"gestures\":{\"brush_down\":%llu,\"brush_in\":%llu,\"brush_out\":%llu,\"brush_up\":%llu,\"cover\":%llu,"
             "\"double_tap\":%llu},\"last_seq\":%llu,\"time\":\"%s\"}", boot, (unsigned long long)k[14], (unsigned long long)k[2], (unsigned long long)k[3],
             (unsigned long long)k[13], (unsigned long long)k[7], (unsigned long long)k[1], (unsigned long long)t->seq, at);
    }
}

/* ---- requests to the tag ---- */
static DBusMessage *method(const char *path, const char *interface, const char *name) {
    return dbus_message_new_method_call("org.bluez", path, interface, name);
}
static void write_value(struct tag *t, const uint8_t *p, int n, const char *type) {
    static const char *const key = "type";
    DBusMessageIter it, a, e, v;
    DBusMessage *m = method(t->chr[JQ_COMMAND], I_CHAR, "WriteValue");
    dbus_message_iter_init_append(m, &it);
    dbus_message_iter_open_container(&it, DBUS_TYPE_ARRAY, "y", &a);
    dbus_message_iter_append_fixed_array(&a, DBUS_TYPE_BYTE, &p, n);
    dbus_message_iter_close_container(&it, &a);
    dbus_message_iter_open_container(&it, DBUS_TYPE_ARRAY, "{sv}", &a);
    dbus_message_iter_open_container(&a, DBUS_TYPE_DICT_ENTRY, NULL, &e);
    dbus_message_iter_append_basic(&e, DBUS_TYPE_STRING, &key);
    dbus_message_iter_open_container(&e, DBUS_TYPE_VARIANT, "s", &v);
    dbus_message_iter_append_basic(&v, DBUS_TYPE_STRING, &type);
    dbus_message_iter_close_container(&e, &v);
    dbus_message_iter_close_container(&a, &e);
    dbus_message_iter_close_container(&it, &a);
    dbus_message_set_no_reply(m, true);
    dbus_connection_send(bus, m, NULL);
    dbus_message_unref(m);
}
static void acquire_write(struct tag *t);
static void transmit(struct tag *t) {
    struct request *r = t->first;
    uint8_t fragment[JQ_FRAGMENT];
    if (!r) return;
    bool command = r->about > INFO; /* without response, by descriptor if there is one */
    int *fd = &t->fd[JQ_COMMAND];
    if (command && !signals && !*fd) {
        acquire_write(t);
        return;
    }
    r->packet[ID_AT] = t->id = t->id % 127 + 1;
    for (int at = 0, counter = 0, k; (k = jq_fragment(r->packet, r->n, &at, &counter, fragment));)
        if (!command || *fd <= 0) write_value(t, fragment, k, command ? "command" : "request");
        else if (send(*fd, fragment, (size_t)k, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) fprintf(stderr, "%s: %s\n", t->serial, strerror(errno)), exit(1);
}
static void ask(struct tag *t, enum about about, const uint8_t *packet, int n) {
    struct request *r = malloc(sizeof *r + (size_t)n);
    *r = (struct request){.about = about, .n = n, .begun = rig_now()};
    memcpy(r->packet, packet, (size_t)n);
    if (t->first) t->last = t->last->next = r;
    else t->first = t->last = r, transmit(t);
}
#define ASK(t, about, ...) ask(t, about, (const uint8_t[]){__VA_ARGS__}, (int)sizeof((const uint8_t[]){__VA_ARGS__}))
static void ask_depth(struct tag *t, enum about about) {
    ASK(t, about, 0x08, 0, 0x10, 11, 0x18, 0, 0xEA, 0x44, 0x04, 0x12, 0x02, 0x50, 14);
}
static void ask_gestures(struct tag *t) {
    ASK(t, MODE, 0x08, 8, 0x10, 7, 0x18, 0, 0x20, t->gear, 0xDA, 0x38, 0x04, 0x08, 1, 0x10, 0);
    ask_depth(t, DEPTH);
}
static void ask_led(struct tag *t, const char *json) { /* {"color":"#rrggbb","pattern":...,"duration_ms":n,...} */
    uint8_t b[64] = {0x08, 0, 0x10, 17, 0x18, 0, 0x20, 0, 0xB2, 0x07, 0}, frame[24], color[12] = {0x08};
    const char *p = strstr(json, "\"#"), *d = strstr(json, "\"duration_ms\":");
    unsigned rgb = p ? (unsigned)strtoul(p + 2, NULL, 16) : 0xffffff, ms = d ? (unsigned)atoi(d + 14) : 1000;
    int k = 11, c = 0, f = 0;
    for (int i = 0; i < 3; i++) color[c++] = (uint8_t)(0x08 + 8 * i), c += jq_put(color + c, rgb >> (16 - 8 * i) & 255);
    frame[f++] = 0x0A, frame[f++] = (uint8_t)c, memcpy(frame + f, color, (size_t)c), f += c;
    frame[f++] = 0x10, f += jq_put(frame + f, ms);
    b[k++] = 0x10, b[k++] = strstr(json, "breathing") ? 2 : 1;
    b[k++] = 0x1A, b[k++] = (uint8_t)f, memcpy(b + k, frame, (size_t)f), k += f;
    b[k++] = 0x28, k += jq_put(b + k, ms);
    static const uint8_t tail[] = {0x30, 100, 0x40, 0, 0x48, 0, 0x50, 0};
    memcpy(b + k, tail, sizeof tail), k += (int)sizeof tail;
    b[10] = (uint8_t)(k - 11);
    ask(t, LED, b, k);
}
static void on_answer(struct tag *t, const uint8_t *p, int n) {
    const uint8_t *end = p + n;
    uint64_t id = 0, status = 255;
    struct jq_field f, body = {0};
    while (p < end && (p = jq_next(p, end, &f)))
        if (f.number == 1) id = f.value;
        else if (f.number == 2) status = f.value;
        else if (f.bytes) body = f;
    struct request *r = t->first;
    if (!p || !r || id != r->packet[ID_AT]) return;
    char text[512], at[32];
    bool good = status == 0;
    switch (r->about) {
    case HELLO: good = good && body.number == 100; break;
    case BEGIN: good = good && body.number == 101; break;
    case INFO: {
        uint64_t v[16] = {0};
        const uint8_t *uuid = NULL;
        int uuid_n = 0;
        good = good && body.number == 103;
        for (p = body.bytes, end = p + body.n; p && p < end && (p = jq_next(p, end, &f));) {
            if (f.number < 16) v[f.number] = f.value;
            if (f.number == 4) uuid = f.bytes, uuid_n = f.n;
        }
        char address[18];
        snprintf(address, sizeof address, "%.17s", strrchr(t->device, '/') + strlen("/dev_"));
        for (char *c = address; *c; c++)
            if (*c == '_') *c = ':';
        FACT(t, "info", "{\"address\":\"%s\",\"bridge\":\"%s\",\"firmware\":\"%u.%u.%u\",\"id\":\"%s\",\"product_id\":%u,\"serial\":\"%s\","
             "\"uuid\":\"%.*s\",\"vendor_id\":%u}", address, instance, (unsigned)v[5], (unsigned)v[6], (unsigned)v[7], t->serial,
             (unsigned)v[12], t->serial, uuid_n, uuid ? (const char *)uuid : "", (unsigned)v[11]);
        break;
    }
    case CONFIGURATION:
        if (good) {
            FACT(t, "connection", "{\"state\":\"connected\",\"since\":\"%s\",\"error\":null}", now_text(at));
            FACT(t, "availability", "online");
        }
        break;
    case MODE: FACT(t, "touch_mode", "gesture"); break;
    case DEPTH:
    case GEAR_INFO: break;
    case LED: {
        int k = snprintf(text, sizeof text, "{\"bridge\":\"%s\",\"data\":{},\"error\":%s,\"final\":true,\"id\":null,\"status\":\"%s\",\"time\":\"%s\",\"took_ms\":%u}",
                         instance, good ? "null" : "{\"code\":\"tag_error\"}", good ? "ok" : "error", now_text(at), (unsigned)((rig_now() - r->begun) / 1000000));
        publish(t, "led/result", 1, false, NULL, text, k);
    }
    }
    if (!good && r->about <= CONFIGURATION) fprintf(stderr, "%s: handshake refused\n", t->serial), exit(1);
    t->first = r->next;
    free(r);
    transmit(t);
}
static void on_notification(struct tag *t, const uint8_t *p, int n) {
    const uint8_t *end = p + n;
    struct jq_field f, body = {0}, inner = {0};
    while (p < end && (p = jq_next(p, end, &f)))
        if (f.bytes) body = f;
    if (!p || !body.bytes) return;
    uint64_t v[8] = {0};
    for (p = body.bytes, end = p + body.n; p < end && (p = jq_next(p, end, &f));)
        if (f.bytes) inner = f;
        else if (f.number < 8) v[f.number] = f.value;
    if (!p) return;
    char text[256], at[32];
    if (body.number == 917) {
        uint64_t event = 0;
        for (p = inner.bytes, end = p + inner.n; p && p < end && (p = jq_next(p, end, &f));)
            if (f.number == 1) event = f.value;
        if (p && inner.number == 1) gesture(t, (unsigned)event);
    } else if (body.number == 121) {
        FACT(t, "battery", "{\"charging\":%s,\"level\":%u,\"time\":\"%s\"}", v[2] == 1 ? "true" : "false", (unsigned)v[1], now_text(at));
        FACT(t, "battery/level", "%u", (unsigned)v[1]);
    } else if (body.number == 109) {
        FACT(t, "gear", "{\"attached\":%s,\"product_id\":%u,\"time\":\"%s\",\"vendor_id\":%u}", v[1] ? "true" : "false", (unsigned)v[3], now_text(at), (unsigned)v[2]);
        if (!v[1]) return;
        t->gear = (uint8_t)v[4] & 127;
        ask_gestures(t);
        ASK(t, GEAR_INFO, 0x08, 8, 0x10, 4, 0x18, 0, 0x20, t->gear, 0xBA, 0x06, 0x02, 0x08, t->gear);
    }
}
static void on_value(struct tag *t, int channel, const uint8_t *v, int n) {
    const uint8_t *p = jq_feed(&t->rx[channel], v, n, &n);
    if (p && channel == JQ_RESPONSE) on_answer(t, p, n);
    else if (p && channel == JQ_NOTIFY) on_notification(t, p, n);
}

/* ---- BlueZ ---- */
static void later(DBusMessage *m, DBusPendingCallNotifyFunction then, void *context) {
    DBusPendingCall *call;
    dbus_connection_send_with_reply(bus, m, &call, 60000);
    dbus_pending_call_set_notify(call, then, context, NULL);
    dbus_pending_call_unref(call);
    dbus_message_unref(m);
}
static void empty_options(DBusMessage *m) {
    DBusMessageIter it, d;
    dbus_message_iter_init_append(m, &it);
    dbus_message_iter_open_container(&it, DBUS_TYPE_ARRAY, "{sv}", &d);
    dbus_message_iter_close_container(&it, &d);
}
static void on_write_acquired(DBusPendingCall *call, void *context) {
    struct tag *t = context;
    DBusMessage *r = dbus_pending_call_steal_reply(call);
    uint16_t mtu;
    if (!dbus_message_get_args(r, NULL, DBUS_TYPE_UNIX_FD, &t->fd[JQ_COMMAND], DBUS_TYPE_UINT16, &mtu, DBUS_TYPE_INVALID)) t->fd[JQ_COMMAND] = -1;
    dbus_message_unref(r);
    transmit(t);
}
static void acquire_write(struct tag *t) {
    DBusMessage *m = method(t->chr[JQ_COMMAND], I_CHAR, "AcquireWrite");
    empty_options(m);
    later(m, on_write_acquired, t);
}
static void subscribe(struct tag *t, int channel);
static void on_subscribed(DBusPendingCall *call, void *context) {
    struct path *which = context;
    struct tag *t = which->tag;
    DBusMessage *r = dbus_pending_call_steal_reply(call);
    uint16_t mtu;
    if (dbus_message_get_type(r) == DBUS_MESSAGE_TYPE_ERROR) {
        if (!which->acquiring) fprintf(stderr, "%s: %s\n", which->path, dbus_message_get_error_name(r)), exit(1);
        signals = true; /* no descriptors to be had: signals then */
        subscribe(t, which->channel);
    } else {
        int *fd = &t->fd[which->channel];
        if (dbus_message_get_args(r, NULL, DBUS_TYPE_UNIX_FD, fd, DBUS_TYPE_UINT16, &mtu, DBUS_TYPE_INVALID)) {
            struct epoll_event ev = {EPOLLIN, {.ptr = which}};
            epoll_ctl(ep, EPOLL_CTL_ADD, *fd, &ev);
        }
        if (++t->subscribed == 3) {
            ASK(t, HELLO, 0x08, 0, 0x10, 1, 0x18, 0);
            ASK(t, BEGIN, 0x08, 0, 0x10, 2, 0x18, 0, 0xAA, 0x06, 0x02, 0x08, 2);
            ASK(t, INFO, 0x08, 0, 0x10, 4, 0x18, 0, 0x20, 0, 0xBA, 0x06, 0x02, 0x08, 0);
            ask_depth(t, CONFIGURATION);
        }
    }
    dbus_message_unref(r);
}
static int by_path(const void *a, const void *b) { return strcmp(((const struct path *)a)->path, ((const struct path *)b)->path); }
static struct path *find(const char *path) {
    struct path key = {.path = path};
    return bsearch(&key, paths, path_n, sizeof *paths, by_path);
}
static void subscribe(struct tag *t, int channel) {
    struct path *which = find(t->chr[channel]);
    DBusMessage *m = method(which->path, I_CHAR, signals ? "StartNotify" : "AcquireNotify");
    if ((which->acquiring = !signals)) empty_options(m);
    later(m, on_subscribed, which);
}
static void on_connected(DBusPendingCall *call, void *context) {
    struct tag *t = context;
    DBusMessage *r = dbus_pending_call_steal_reply(call);
    if (dbus_message_get_type(r) == DBUS_MESSAGE_TYPE_ERROR) fprintf(stderr, "%s: %s\n", t->serial, dbus_message_get_error_name(r)), exit(1);
    dbus_message_unref(r);
    for (int k = JQ_RESPONSE; k < JQ_CHANNELS; k++) subscribe(t, k);
}
static void on_advertisement(struct path *device, const uint8_t *p, int n) {
    char serial[12], text[256], at[32];
    struct tag *t = NULL;
    jq_serial_decode(p, n, serial, sizeof serial);
    for (int i = 0; i < tag_n && !t; i++)
        if (!strcmp(tags[i].serial, serial)) t = &tags[i];
    if (!t || t->connecting) return;
    t->connecting = true;
    t->device = (char *)device->path;
    device->tag = t;
    size_t len = strlen(t->device);
    for (size_t i = 0; i < path_n; i++) /* its characteristics */
        if (paths[i].channel >= 0 && !strncmp(paths[i].path, t->device, len)) paths[i].tag = t, t->chr[paths[i].channel] = (char *)paths[i].path;
    FACT(t, "connection", "{\"state\":\"connecting\",\"since\":\"%s\",\"error\":null}", now_text(at));
    later(method(t->device, I_DEVICE, "Connect"), on_connected, t);
    if (--missing == 0 && discovering) {
        DBusMessage *m = method("/org/bluez/hci0", "org.bluez.Adapter1", "StopDiscovery");
        dbus_message_set_no_reply(m, true);
        dbus_connection_send(bus, m, NULL);
        dbus_message_unref(m);
        discovering = false;
    }
}
/* Walks a dictionary of properties; what is wanted of them goes to the functions above. */
static void properties(struct path *who, DBusMessageIter d) {
    for (; dbus_message_iter_get_arg_type(&d) == DBUS_TYPE_DICT_ENTRY; dbus_message_iter_next(&d)) {
        DBusMessageIter e, v, a, me, mv, b;
        const char *key;
        const unsigned char *p = NULL;
        int n = 0;
        dbus_message_iter_recurse(&d, &e);
        dbus_message_iter_get_basic(&e, &key);
        dbus_message_iter_next(&e);
        dbus_message_iter_recurse(&e, &v);
        if (who->channel >= 0 && who->tag && !strcmp(key, "Value")) {
            dbus_message_iter_recurse(&v, &a);
            dbus_message_iter_get_fixed_array(&a, &p, &n);
            on_value(who->tag, who->channel, p, n);
        } else if (who->channel < 0 && !strcmp(key, "ManufacturerData")) {
            for (dbus_message_iter_recurse(&v, &a); dbus_message_iter_get_arg_type(&a) == DBUS_TYPE_DICT_ENTRY; dbus_message_iter_next(&a)) {
                uint16_t company;
                dbus_message_iter_recurse(&a, &me);
                dbus_message_iter_get_basic(&me, &company);
                if (company != JQ_COMPANY) continue;
                dbus_message_iter_next(&me);
                dbus_message_iter_recurse(&me, &mv);
                dbus_message_iter_recurse(&mv, &b);
                dbus_message_iter_get_fixed_array(&b, &p, &n);
                on_advertisement(who, p, n);
            }
        }
    }
}
static DBusHandlerResult on_signal(DBusConnection *c, DBusMessage *m, void *u) {
    (void)c, (void)u;
    if (!dbus_message_is_signal(m, "org.freedesktop.DBus.Properties", "PropertiesChanged")) return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    struct path *who = find(dbus_message_get_path(m));
    DBusMessageIter it, d;
    if (!who || !dbus_message_iter_init(m, &it) || !dbus_message_iter_next(&it)) return DBUS_HANDLER_RESULT_HANDLED;
    dbus_message_iter_recurse(&it, &d);
    properties(who, d);
    return DBUS_HANDLER_RESULT_HANDLED;
}
static void turn_bus(void) { /* dispatches what has come, writes what is to go; writing may read more */
    do {
        while (dbus_connection_dispatch(bus) == DBUS_DISPATCH_DATA_REMAINS) {}
        if (dbus_connection_has_messages_to_send(bus)) dbus_connection_flush(bus);
    } while (dbus_connection_get_dispatch_status(bus) == DBUS_DISPATCH_DATA_REMAINS);
}
static DBusMessage *block(DBusMessage *m) {
    DBusError err = DBUS_ERROR_INIT;
    DBusMessage *r = dbus_connection_send_with_reply_and_block(bus, m, 5000, &err);
    if (!r) fprintf(stderr, "%s: %s\n", dbus_message_get_member(m), err.message), exit(1);
    dbus_message_unref(m);
    return r;
}
/* Notes the devices and the tags' characteristics of the object tree; tags that are known already connect at once. */
static void read_objects(void) {
    DBusMessage *r = block(method("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"));
    for (int pass = 0; pass < 2; pass++) { /* all paths first, then the advertisements known */
        DBusMessageIter it, o, oe, i, ie, d, e, v;
        dbus_message_iter_init(r, &it);
        for (dbus_message_iter_recurse(&it, &o); dbus_message_iter_get_arg_type(&o) == DBUS_TYPE_DICT_ENTRY; dbus_message_iter_next(&o)) {
            const char *path, *interface, *key, *text;
            dbus_message_iter_recurse(&o, &oe);
            dbus_message_iter_get_basic(&oe, &path);
            dbus_message_iter_next(&oe);
            for (dbus_message_iter_recurse(&oe, &i); dbus_message_iter_get_arg_type(&i) == DBUS_TYPE_DICT_ENTRY; dbus_message_iter_next(&i)) {
                dbus_message_iter_recurse(&i, &ie);
                dbus_message_iter_get_basic(&ie, &interface);
                dbus_message_iter_next(&ie);
                dbus_message_iter_recurse(&ie, &d);
                bool device = !strcmp(interface, I_DEVICE);
                int channel = -1;
                if (pass == 1 && device) properties(find(path), d);
                if (pass == 1 || (!device && strcmp(interface, I_CHAR))) continue;
                for (; !device && dbus_message_iter_get_arg_type(&d) == DBUS_TYPE_DICT_ENTRY; dbus_message_iter_next(&d)) {
                    dbus_message_iter_recurse(&d, &e);
                    dbus_message_iter_get_basic(&e, &key);
                    if (strcmp(key, "UUID")) continue;
                    dbus_message_iter_next(&e);
                    dbus_message_iter_recurse(&e, &v);
                    dbus_message_iter_get_basic(&v, &text);
                    for (int k = 0; k < JQ_CHANNELS; k++)
                        if (!strcmp(text, jq_uuid[k])) channel = k;
                }
                if (!device && channel < 0) continue;
                if (path_n % 64 == 0) paths = realloc(paths, (path_n + 64) * sizeof *paths);
                paths[path_n++] = (struct path){.path = strdup(path), .channel = channel};
            }
        }
        if (pass == 0) qsort(paths, path_n, sizeof *paths, by_path);
    }
    dbus_message_unref(r);
}

/* ---- MQTT in ---- */
static void on_connack(struct mosquitto *m, void *u, int rc) {
    (void)m;
    *(bool *)u = rc == 0;
}
static void on_message(struct mosquitto *m, void *u, const struct mosquitto_message *msg) {
    (void)m, (void)u;
    char text[512];
    const char *id = msg->topic + strlen(base) + strlen("/tag/"), *rest = strchr(id, '/');
    if (!rest || msg->payloadlen >= (int)sizeof text) return;
    memcpy(text, msg->payload, (size_t)msg->payloadlen);
    text[msg->payloadlen] = 0;
    for (struct tag *t = tags; t < tags + tag_n; t++) {
        if (strlen(t->serial) != (size_t)(rest - id) || strncmp(t->serial, id, (size_t)(rest - id)) || t->subscribed < 3) continue;
        if (!strcmp(rest, "/led/set")) ask_led(t, text);
    }
}

int main(int argc, char **argv) {
    if (argc != 7) return fprintf(stderr, "usage: floor BUS PORT BASE-TOPIC INSTANCE SERIAL,... signal|acquire\n"), 2;
    reflex = getenv("REFLEX") != NULL;
    base = argv[3], instance = argv[4], signals = !strcmp(argv[6], "signal");
    snprintf(boot, sizeof boot, "%04x", (unsigned)(rig_now() >> 10 & 0xffff));
    for (char *s = strtok(argv[5], ","); s; s = strtok(NULL, ",")) {
        tags = realloc(tags, (size_t)(tag_n + 1) * sizeof *tags);
        memset(&tags[tag_n], 0, sizeof *tags);
        snprintf(tags[tag_n++].serial, sizeof tags->serial, "%s", s);
    }
    missing = tag_n;
    ep = epoll_create1(EPOLL_CLOEXEC);
    mosquitto_lib_init();
    bool session = false;
    mq = mosquitto_new(NULL, true, &session);
    mosquitto_connect_callback_set(mq, on_connack);
    mosquitto_int_option(mq, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
    mosquitto_int_option(mq, MOSQ_OPT_TCP_NODELAY, 1);
    mosquitto_property_add_int32(&expiry, MQTT_PROP_MESSAGE_EXPIRY_INTERVAL, 5);
    mosquitto_message_callback_set(mq, on_message);
    char topic[128];
    snprintf(topic, sizeof topic, "%s/bridge/%s/state", base, instance);
    mosquitto_will_set(mq, topic, 7, "offline", 1, true);
    if (mosquitto_connect(mq, "127.0.0.1", atoi(argv[2]), 30)) return fprintf(stderr, "no broker\n"), 1;
    while (!session)
        if (mosquitto_loop(mq, 1000, 1)) return fprintf(stderr, "no session\n"), 1;
    mosquitto_publish(mq, NULL, topic, 6, "online", 1, true);
    snprintf(topic, sizeof topic, "%s/tag/+/led/set", base);
    mosquitto_subscribe(mq, NULL, topic, 1);
    DBusError err = DBUS_ERROR_INIT;
    bus = dbus_connection_open_private(argv[1], &err);
    if (!bus || !dbus_bus_register(bus, &err)) return fprintf(stderr, "%s\n", err.message), 1;
    dbus_connection_add_filter(bus, on_signal, NULL, NULL);
    dbus_bus_add_match(bus, "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',path_namespace='/org/bluez'", &err);
    read_objects();
    if (missing) {
        dbus_message_unref(block(method("/org/bluez/hci0", "org.bluez.Adapter1", "StartDiscovery")));
        discovering = true;
    }
    static char on_bus, on_mqtt; /* their addresses tell the sources apart; any other is a struct path */
    int fd;
    dbus_connection_get_unix_fd(bus, &fd);
    struct epoll_event ev = {EPOLLIN, {.ptr = &on_bus}};
    epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
    ev.data.ptr = &on_mqtt;
    epoll_ctl(ep, EPOLL_CTL_ADD, mosquitto_socket(mq), &ev);
    turn_bus(); /* what came with the answers above */
    bool out = false;
    for (;;) {
        struct epoll_event got[64];
        uint64_t now = stats_due ? rig_now() : 0;
        int n = epoll_wait(ep, got, 64, !stats_due ? 5000 : stats_due > now ? (int)((stats_due - now) / 1000000 + 1) : 0);
        for (int i = 0; i < n; i++) {
            if (got[i].data.ptr == &on_bus) {
                dbus_connection_read_write(bus, 0);
                turn_bus();
            } else if (got[i].data.ptr == &on_mqtt) {
                if (got[i].events & EPOLLOUT) mosquitto_loop_write(mq, 1);
                if (got[i].events & (EPOLLIN | EPOLLHUP)) mosquitto_loop_read(mq, 1);
            } else {
                struct path *which = got[i].data.ptr;
                unsigned char b[512];
                ssize_t k = -1;
                for (int j = 0; j < 16 && (k = recv(which->tag->fd[which->channel], b, sizeof b, MSG_DONTWAIT)) > 0; j++)
                    on_value(which->tag, which->channel, b, (int)k);
                if (k == 0 || (got[i].events & EPOLLHUP)) return 0;
            }
        }
        if (stats_due && rig_now() >= stats_due) stats();
        if (n == 0) mosquitto_loop_misc(mq);
        if (dbus_connection_has_messages_to_send(bus)) turn_bus();
        if (mosquitto_want_write(mq) != out) {
            out = !out;
            ev.events = EPOLLIN | (out ? EPOLLOUT : 0u);
            ev.data.ptr = &on_mqtt;
            epoll_ctl(ep, EPOLL_CTL_MOD, mosquitto_socket(mq), &ev);
        }
        if (!dbus_connection_get_is_connected(bus) || (!reflex && mosquitto_socket(mq) < 0)) return 0;
    }
}
