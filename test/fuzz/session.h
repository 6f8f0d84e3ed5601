/* session.h
 * A session as the fuzzers read it from their input: PDUs of both protocols, one after another.
 *
 *     1 byte   how it is looked at: SESSION_...
 *     records: 1 byte   PDU_...
 *              1 byte   of a request: opnum, of a response: how many calls ago it was asked
 *              2 bytes  length of the stub, little-endian
 *              stub
 *
 * The first PDU on a connection (server, interface, transfer syntax) is preceded by a bind.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_FUZZ_SESSION_H
#define PCQ_FUZZ_SESSION_H

#include <stddef.h>
#include <stdint.h>

#define SESSION_TREE_FIRST 0x01 /* a visible tree in the first pass already */
#define SESSION_LABELS 0x02     /* all labels are made, as -V, JSON and PDML ask for them */
#define SESSION_BACKWARD 0x04   /* and in the end every frame from the last to the first */
#define SESSION_STATISTICS 0x10 /* the first pass feeds statistics and exports, which are drawn */

#define PDU_WINREG 0x01
#define PDU_RESPONSE 0x02
#define PDU_NDR64 0x04
#define PDU_BIG_ENDIAN 0x08
#define PDU_SERVER_SHIFT 4 /* two bits */
#define PDU_SAME_FRAME 0x40
#define PDU_IS_FAULT 0x80

#define FRAME_HEADER_SIZE 2
#define MAX_FRAMES 200

typedef struct {
    uint8_t server;
    uint8_t response;
    uint8_t bind;
    uint8_t *bytes; /* FRAME_HEADER_SIZE bytes, then PDUs */
    size_t size;
} session_frame;

typedef struct {
    uint8_t how;
    unsigned num_frames;
    session_frame frames[MAX_FRAMES];
} session;

/* Frames are on the heap, each exactly as large as it is. */
void session_read(session *s, const uint8_t *data, size_t size);
void session_free(session *s);

#endif
