/* Bytes of a Jacquard tag, as far as the rig needs them: UUIDs, the six-bit
 * serial, fragment framing, and reading and writing protobuf fields. Used by the
 * simulated tag (tag.c) and by the floor (floor.c). */
#ifndef JACQUARD_H
#define JACQUARD_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define JQ_COMPANY 0x00E0
#define JQ_SERVICE "d2f2bf0d-d165-445c-b0e1-2d6b642ec57b"
#define JQ_FRAGMENT 61 /* MTU 64 less opcode and handle */
#define JQ_PACKET 1024
enum { JQ_COMMAND, JQ_RESPONSE, JQ_NOTIFY, JQ_RAW, JQ_CHANNELS };
static const char *const jq_uuid[JQ_CHANNELS] = {
    "d2f2eabb-d165-445c-b0e1-2d6b642ec57b",
    "d2f2b8d0-d165-445c-b0e1-2d6b642ec57b",
    "d2f2b8d1-d165-445c-b0e1-2d6b642ec57b",
    "d2f2b8d2-d165-445c-b0e1-2d6b642ec57b",
};

/* ---- serial: six bits a character, lowest bits first, 63 ends it ---- */
static const char jq_alphabet[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-";
static inline int jq_serial_encode(const char *serial, uint8_t *out) {
    int bit = 0, n = (int)strlen(serial);
    memset(out, 0, (size_t)(n + 1) * 6 / 8 + 1);
    for (int i = 0; i <= n; i++, bit += 6) {
        const char *at = i < n ? strchr(jq_alphabet, serial[i]) : NULL;
        unsigned code = at ? (unsigned)(at - jq_alphabet) : 63, wide = code << (bit & 7);
        out[bit / 8] |= (uint8_t)wide;
        if (wide >> 8) out[bit / 8 + 1] |= (uint8_t)(wide >> 8);
    }
    return (bit + 7) / 8;
}
static inline void jq_serial_decode(const uint8_t *p, int n, char *out, int cap) {
    int k = 0;
    for (int bit = 0; bit + 6 <= 8 * n && k + 1 < cap; bit += 6) {
        unsigned wide = p[bit / 8] | (bit / 8 + 1 < n ? (unsigned)p[bit / 8 + 1] << 8 : 0), code = wide >> (bit & 7) & 63;
        if (code == 63) break;
        out[k++] = jq_alphabet[code];
    }
    out[k] = 0;
}

/* ---- protobuf ---- */
static inline int jq_put(uint8_t *p, uint64_t v) {
    int n = 0;
    for (; v > 127; v >>= 7) p[n++] = (uint8_t)(v | 0x80);
    p[n++] = (uint8_t)v;
    return n;
}
static inline const uint8_t *jq_get(const uint8_t *p, const uint8_t *end, uint64_t *v) {
    *v = 0;
    for (int shift = 0; p < end && shift < 64; shift += 7) {
        *v |= (uint64_t)(*p & 0x7f) << shift;
        if (!(*p++ & 0x80)) return p;
    }
    return NULL;
}
struct jq_field {
    uint32_t number;
    uint64_t value;       /* varint fields */
    const uint8_t *bytes; /* length-delimited fields, else NULL */
    int n;
};
/* Reads one field: where the next one begins, or NULL when the bytes make no sense. */
static inline const uint8_t *jq_next(const uint8_t *p, const uint8_t *end, struct jq_field *f) {
    uint64_t key, len = 0;
    if (!(p = jq_get(p, end, &key))) return NULL;
    f->number = (uint32_t)(key >> 3), f->value = 0, f->bytes = NULL, f->n = 0;
    switch (key & 7) {
    case 0: return jq_get(p, end, &f->value);
    case 1: len = 8; break;
    case 2:
        if (!(p = jq_get(p, end, &len))) return NULL;
        f->bytes = p;
        break;
    case 5: len = 4; break;
    default: return NULL;
    }
    if (len > (uint64_t)(end - p)) return NULL;
    f->n = (int)len;
    return p + len;
}

/* ---- framing ---- */
/* Writes the next fragment of a packet (*at and *counter start at 0): its length, 0 after the last. */
static inline int jq_fragment(const uint8_t *packet, int n, int *at, int *counter, uint8_t out[JQ_FRAGMENT]) {
    if (*at >= n) return 0;
    int k = 1;
    out[0] = (uint8_t)(*counter)++;
    if (*at == 0) out[0] |= 0x80, k += jq_put(out + 1, (uint64_t)n);
    int take = n - *at < JQ_FRAGMENT - k ? n - *at : JQ_FRAGMENT - k;
    memcpy(out + k, packet + *at, (size_t)take);
    *at += take;
    if (*at == n) out[0] |= 0x40;
    return k + take;
}
struct jq_rx { /* one direction of one characteristic; all zero is idle */
    int want, have, next;
    uint8_t packet[JQ_PACKET];
};
/* Takes one fragment: the packet it completes and its length, or NULL. The packet
 * of a single fragment is not copied: it is good until the value is gone. */
static inline const uint8_t *jq_feed(struct jq_rx *r, const uint8_t *v, int n, int *len) {
    if (n < 2) return NULL;
    const uint8_t *p = v + 1, *end = v + n;
    bool last = v[0] & 0x40;
    int counter = v[0] & 0x3f, want = r->want;
    r->want = 0; /* whatever goes wrong below leaves us idle */
    if (v[0] & 0x80) {
        uint64_t declared;
        if (!(p = jq_get(p, end, &declared)) || declared == 0 || declared > JQ_PACKET) return NULL;
        *len = (int)(end - p);
        if (last) return (uint64_t)*len == declared ? p : NULL;
        want = (int)declared, r->have = 0;
    } else if (!want || counter != r->next) {
        return NULL;
    }
    if (end - p > want - r->have) return NULL;
    memcpy(r->packet + r->have, p, (size_t)(end - p));
    r->have += (int)(end - p);
    r->next = counter + 1;
    if (!last) return r->want = want, NULL;
    *len = r->have;
    return r->have == want ? r->packet : NULL;
}
#endif
