/* pcq-buffers.h
 * Dissects lpData but for counter data: registration information, string tables, instances and identifiers ([MS-PCQ] 2.2.4).
 *
 * A buffer dissector takes a cursor on the bytes and a context, and knows nothing of DCE/RPC. It reports faults, and collects in the
 * context what the buffer teaches; packet-pcq.c decides whether that is learned.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tree/cursor.h"
#include "state/metadata.h"
#include "state/queries.h"

/* A name or type in a buffer, which is learned if the whole call is well-formed. */
typedef struct {
    metadata_key key;
    metadata_kind kind;
    metadata_entry entry;
} pcq_collected_entry;

/* Parameters of a request about a counterset, zeros as long as they were not read. */
typedef struct {
    uint8_t guid[16]; /* CounterSetGuid */
    uint32_t code;    /* RequestCode */
    uint32_t lcid;    /* RequestLCID */
} pcq_request;

/* A string table (2.2.4.3, 2.2.4.4) while it is read. Offsets count from the buffer's first byte. */
typedef struct {
    uint32_t headers_end; /* of the first byte behind the headers, where strings begin */
    uint32_t base;        /* of the byte that the strings' own offsets count from: 0 or headers_end */
    uint64_t readable;    /* bytes of strings that may still be read */
} pcq_string_table;

/* A buffer while it is dissected: filled by packet-pcq.c; ends with the packet. */
typedef struct {
    state_server *server;
    pcq_request request; /* zeros if it was not read to its end */
    const char *machine; /* what paths call the server: without backslashes, or its address */
    bool is_response;    /* to ValidateCounters: identifiers have the server's verdict */
    pcq_string_table strings;

    /* collected */
    wmem_array_t *collected;   /* pcq_collected_entry */
    wmem_array_t *identifiers; /* perf_identifier, in the packet's pool */
    uint32_t count;            /* GUIDs, counters, strings, instances or identifiers that were read */
    uint32_t refused;          /* identifiers with a status other than 0 */
    const char *text;          /* of a buffer with one string or GUID; NULL: none was read */
} pcq_context;

/* Registers the fields of lpData but for counter data and pcq-data.h's shared ones. Needs: text_value_strings_init(). */
void pcq_buffers_register(int proto);

/* True if a RequestCode asks for strings in the language of RequestLCID. */
static inline bool pcq_has_locale(uint32_t request_code)
{
    return request_code >= PERF_REG_COUNTERSET_NAME_STRING && request_code <= PERF_REG_COUNTER_HELP_STRINGS;
}

/* Dissect lpData of opnum 0; 1, by the request's code; 2; 5, with its indexes; 7: show it, report its
 * faults, and collect in `context`. Need: its arrays, still empty. A buffer that ends too early throws. */
void pcq_dissect_counterset_list(buffer_cursor *cursor, pcq_context *context);
void pcq_dissect_registration(buffer_cursor *cursor, pcq_context *context);
void pcq_dissect_instances(buffer_cursor *cursor, pcq_context *context);
void pcq_dissect_query(buffer_cursor *cursor, pcq_context *context);
void pcq_dissect_identifiers(buffer_cursor *cursor, pcq_context *context);
