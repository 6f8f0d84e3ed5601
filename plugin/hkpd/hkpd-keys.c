/* hkpd-keys.c
 * Opening and closing the keys of the registry.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/hkpd-keys.h"

/* What an opening was asked for. */
typedef enum {
    ASKED_UNKNOWN, /* the request was not read, or the handle that it went out from is not known */
    ASKED_OURS,
    ASKED_OTHER
} asked_key;

/* The response that opens a key; `status` stands behind the handle, or further on. */
static int opened(hkpd_pdu *p, const uint8_t *bytes, uint32_t status, asked_key asked, hkpd_key_kind kind,
                  uint32_t language)
{
    perf_call_record *record = p->call.record;

    if (perf_call_may_learn(&p->call) && status == STATUS_SUCCESS && !perf_handle_is_null(bytes)) {
        if (asked == ASKED_OURS) {
            record->answering = hkpd_open_handle(p, bytes, p->call.event, p->call.pinfo->num, kind, language);
        } else if (asked == ASKED_OTHER) {
            hkpd_open_other(p, bytes);
        }
    }
    if (hkpd_is_shown(record->answering)) {
        hkpd_show_node(p);
        hkpd_show_handle(p, record->answering, hkpd_handle_offset(p));
    }
    return hkpd_end_with_stock(p);
}

static int opened_predefined(hkpd_pdu *p, asked_key asked, hkpd_key_kind kind)
{
    uint8_t bytes[PERF_HANDLE_SIZE];

    hkpd_read_handle(p, bytes);
    uint32_t status = hkpd_read_status(p);
    return opened(p, bytes, status, asked, kind, 0);
}

int hkpd_open_data_response(hkpd_pdu *p)
{
    return opened_predefined(p, ASKED_OURS, HKPD_KEY_DATA);
}

int hkpd_open_text_response(hkpd_pdu *p)
{
    return opened_predefined(p, ASKED_OURS, HKPD_KEY_TEXT);
}

int hkpd_open_nls_text_response(hkpd_pdu *p)
{
    return opened_predefined(p, ASKED_OURS, HKPD_KEY_NLS_TEXT);
}

int hkpd_open_other_response(hkpd_pdu *p)
{
    return opened_predefined(p, ASKED_OTHER, HKPD_KEY_DATA);
}

/* BaseRegOpenKey and BaseRegCreateKey ([MS-RRP] 3.1.5.15 and 3.1.5.7) begin alike. */
int hkpd_open_key_request(hkpd_pdu *p)
{
    hkpd_read_asked_handle(p);
    const char *name = hkpd_read_name(p, 0);
    if (p->call.first_time && name) {
        p->record->name = wmem_strdup(wmem_file_scope(), name);
    }
    if (hkpd_is_shown(hkpd_known_handle(p))) {
        hkpd_show_node(p);
        hkpd_show_handle(p, hkpd_known_handle(p), hkpd_handle_offset(p));
    }
    return hkpd_end_with_stock(p);
}

/* What the request asked for. An empty name opens the same key once more. */
static asked_key asked_for(const hkpd_pdu *p, hkpd_key_kind *kind, uint32_t *language)
{
    const perf_handle *from = p->call.record->handle;
    const hkpd_key *parent = hkpd_key_of(from);
    const char *name = p->record->name;

    *kind = parent ? parent->kind : HKPD_KEY_DATA;
    *language = parent ? parent->language : 0;
    if (name == NULL) {
        return ASKED_UNKNOWN;
    }
    if (*name == '\0') {
        return parent ? ASKED_OURS : from ? ASKED_OTHER : ASKED_UNKNOWN;
    }
    return hkpd_is_perflib_key(name, parent && parent->kind == HKPD_KEY_PERFLIB, kind, language) ? ASKED_OURS
                                                                                                 : ASKED_OTHER;
}

int hkpd_open_key_response(hkpd_pdu *p)
{
    hkpd_key_kind kind;
    uint32_t language;
    uint8_t bytes[PERF_HANDLE_SIZE];
    asked_key asked = asked_for(p, &kind, &language);

    hkpd_read_handle(p, bytes);
    uint32_t status = hkpd_read_status(p);
    return opened(p, bytes, status, asked, kind, language);
}

int hkpd_create_key_response(hkpd_pdu *p)
{
    hkpd_key_kind kind;
    uint32_t language;
    uint8_t bytes[PERF_HANDLE_SIZE];
    asked_key asked = asked_for(p, &kind, &language);

    hkpd_read_handle(p, bytes);
    hkpd_skip_pointed_u32(p);
    uint32_t status = hkpd_read_status(p);
    return opened(p, bytes, status, asked, kind, language);
}

/* BaseRegCloseKey, 3.1.5.5. */
int hkpd_close_key_request(hkpd_pdu *p)
{
    hkpd_read_asked_handle(p);
    if (perf_call_may_learn(&p->call) && p->call.record->handle) {
        perf_handle_close(p->call.record->handle, p->call.event, p->call.pinfo->num);
    }
    if (hkpd_is_shown(hkpd_known_handle(p))) {
        hkpd_show_node(p);
        hkpd_show_handle(p, hkpd_known_handle(p), hkpd_handle_offset(p));
    }
    return hkpd_end_with_stock(p);
}

int hkpd_close_key_response(hkpd_pdu *p)
{
    uint8_t bytes[PERF_HANDLE_SIZE];
    perf_handle *handle = p->call.record->handle;

    hkpd_read_handle(p, bytes);
    uint32_t status = hkpd_read_status(p);
    if (perf_call_may_learn(&p->call) && status != STATUS_SUCCESS && handle &&
        handle->end == p->call.record->request_event) {
        perf_handle_not_closed(handle);
    }
    if (hkpd_is_shown(hkpd_known_handle(p))) {
        hkpd_show_node(p);
        hkpd_show_handle(p, hkpd_known_handle(p), -1);
    }
    return hkpd_end_with_stock(p);
}
