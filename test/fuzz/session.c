/* session.c
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "session.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DCERPC_REQUEST 0
#define DCERPC_RESPONSE 2
#define DCERPC_FAULT 3
#define DCERPC_BIND 11
#define DCERPC_BIND_ACK 12
#define MAX_STUB 60000
#define MAX_PDU (MAX_STUB + 64)
#define NUM_CONNECTIONS 16

static const uint8_t perflibv2[20] = {0xc5, 0x86, 0x5a, 0xda, 0xc2, 0x12, 0x43, 0x49, 0xab, 0x30,
                                      0x7f, 0x74, 0xa8, 0x13, 0xd8, 0x53, 1,    0,    0,    0};
static const uint8_t winreg[20] = {0x01, 0xd0, 0x8c, 0x33, 0x44, 0x22, 0xf1, 0x31, 0xaa, 0xaa,
                                   0x90, 0x00, 0x38, 0x00, 0x10, 0x03, 1,    0,    0,    0};
static const uint8_t ndr32[20] = {0x04, 0x5d, 0x88, 0x8a, 0xeb, 0x1c, 0xc9, 0x11, 0x9f, 0xe8,
                                  0x08, 0x00, 0x2b, 0x10, 0x48, 0x60, 2,    0,    0,    0};
static const uint8_t ndr64[20] = {0x33, 0x05, 0x71, 0x71, 0xba, 0xbe, 0x37, 0x49, 0x83, 0x19,
                                  0xb5, 0xdb, 0xef, 0x9c, 0xcc, 0x36, 1,    0,    0,    0};

typedef struct {
    bool bound;
    uint32_t calls;
} connection;

typedef struct {
    uint8_t bytes[MAX_PDU];
    size_t size;
    bool big_endian;
} writer;

static void put(writer *w, const void *bytes, size_t size)
{
    memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
}

static void put_number(writer *w, uint32_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        w->bytes[w->size++] = (uint8_t)(value >> 8 * (w->big_endian ? size - 1 - i : i));
    }
}

static void begin_pdu(writer *w, uint8_t type, bool big_endian, uint32_t call)
{
    const uint8_t head[8] = {5, 0, type, 3, big_endian ? 0 : 0x10, 0, 0, 0};

    w->size = 0;
    w->big_endian = big_endian;
    put(w, head, sizeof head);
    put_number(w, 0, 4);
    put_number(w, call, 4);
}

static void end_pdu(writer *w)
{
    size_t size = w->size;

    w->size = 8;
    put_number(w, (uint32_t)size, 2);
    w->size = size;
}

static void add_frame(session *s, const writer *w, uint8_t server, bool response, bool same)
{
    session_frame *frame = s->num_frames > 0 ? &s->frames[s->num_frames - 1] : NULL;

    if (same && frame && !frame->bind && frame->server == server && frame->response == response) {
        frame->bytes = realloc(frame->bytes, frame->size + w->size);
    } else if (s->num_frames == MAX_FRAMES) {
        return;
    } else {
        frame = &s->frames[s->num_frames++];
        *frame = (session_frame){.server = server, .response = response, .size = FRAME_HEADER_SIZE};
        frame->bind = w->bytes[2] >= DCERPC_BIND;
        frame->bytes = malloc(FRAME_HEADER_SIZE + w->size);
        frame->bytes[0] = server;
        frame->bytes[1] = response;
    }
    memcpy(frame->bytes + frame->size, w->bytes, w->size);
    frame->size += w->size;
}

/* One offered context in a little-endian bind, and its acceptance. */
static void add_bind(session *s, writer *w, uint8_t kind, uint8_t server)
{
    const uint8_t *syntax = kind & PDU_NDR64 ? ndr64 : ndr32;

    begin_pdu(w, DCERPC_BIND, false, 1);
    put_number(w, 0xFFFF, 2);
    put_number(w, 0xFFFF, 2);
    put_number(w, 0, 4);
    put_number(w, 1, 4);
    put_number(w, 1 << 16, 4); /* context 0, one transfer syntax */
    put(w, kind & PDU_WINREG ? winreg : perflibv2, 20);
    put(w, syntax, 20);
    end_pdu(w);
    add_frame(s, w, server, false, false);

    begin_pdu(w, DCERPC_BIND_ACK, false, 1);
    put_number(w, 0xFFFF, 2);
    put_number(w, 0xFFFF, 2);
    put_number(w, 0x1234, 4);
    put_number(w, 1, 2); /* no secondary address, and padding */
    put_number(w, 0, 2);
    put_number(w, 1, 4);
    put_number(w, 0, 4);
    put(w, syntax, 20);
    end_pdu(w);
    add_frame(s, w, server, true, false);
}

static void add_pdu(session *s, writer *w, connection *c, const uint8_t *record, const uint8_t *stub, size_t size)
{
    uint8_t kind = record[0], server = record[0] & (0x3 << PDU_SERVER_SHIFT);
    bool response = kind & (PDU_RESPONSE | PDU_IS_FAULT);
    uint32_t call = response ? 2 + c->calls - (record[1] < c->calls ? 1U + record[1] : 0U) : 2 + c->calls++;

    /* what the frame says of its connection: server, interface and transfer syntax */
    server |= kind & (PDU_WINREG | PDU_NDR64);
    if (!c->bound) {
        c->bound = true;
        add_bind(s, w, kind, server);
    }
    begin_pdu(w,
              kind & PDU_IS_FAULT ? DCERPC_FAULT
              : response          ? DCERPC_RESPONSE
                                  : DCERPC_REQUEST,
              kind & PDU_BIG_ENDIAN, call);
    put_number(w, (uint32_t)size, 4);
    put_number(w, 0, 2);
    put_number(w, response ? 0 : record[1], 2);
    if (kind & PDU_IS_FAULT) {
        put_number(w, 0x1C00001A, 4);
        put_number(w, 0, 4);
    } else {
        put(w, stub, size);
    }
    end_pdu(w);
    add_frame(s, w, server, response, kind & PDU_SAME_FRAME);
}

void session_read(session *s, const uint8_t *data, size_t size)
{
    static writer w;
    connection connections[NUM_CONNECTIONS] = {{false, 0}};
    size_t at = 1;

    s->num_frames = 0;
    s->how = size > 0 ? data[0] : 0;
    while (at + 4 <= size && s->num_frames < MAX_FRAMES) {
        const uint8_t *record = data + at;
        size_t length = record[2] | (size_t)record[3] << 8;
        size_t left = size - at - 4;

        length = length > left ? left : length;
        length = length > MAX_STUB ? MAX_STUB : length;
        unsigned number = (record[0] >> PDU_SERVER_SHIFT & 3) << 2 | (record[0] & PDU_WINREG) << 1 |
                          (record[0] & PDU_NDR64 ? 1U : 0U);
        add_pdu(s, &w, &connections[number], record, record + 4, length);
        at += 4 + length;
    }
}

void session_free(session *s)
{
    for (unsigned i = 0; i < s->num_frames; i++) {
        free(s->frames[i].bytes);
    }
    s->num_frames = 0;
}
