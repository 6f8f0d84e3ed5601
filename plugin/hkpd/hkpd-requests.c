/* hkpd-requests.c
 * Requests of QueryValue and EnumValue.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/hkpd-query.h"
#include "hkpd/winreg-hook.h"

/* The stock function shows each byte of the data of a request as an item of its own: no more of them than these. */
#define MAX_STOCK_BYTES 4096

static int hf_value_name = -1;
static int hf_retry_of = -1;
static int hf_enum_index = -1;

/* The same value was asked for before, and the buffer was too small. */
static void find_retry(hkpd_pdu *p)
{
    const hkpd_key *key = hkpd_key_of(p->call.record->handle);

    if (p->call.first_time && key && p->record->name && key->too_small_name &&
        g_ascii_strcasecmp(key->too_small_name, p->record->name) == 0) {
        p->record->retry_of = key->too_small_frame;
    }
}

/* A handle that was closed and is asked all the same. Its bytes may mean another key by now: the name has to tell. */
static void report_closed(hkpd_pdu *p, const char *name)
{
    hkpd_record *record = p->record;
    perf_report report;

    if (p->call.first_time && record->handle_read && record->call.handle == NULL && hkpd_is_performance_name(name)) {
        record->closed = perf_handle_find(PERF_HANDLE_HKPD, p->call.server, record->handle_bytes, p->call.event);
    }
    if (hkpd_is_shown(record->closed) && hkpd_known_handle(p) == NULL) {
        perf_report_init(&report, p->call.pinfo, &p->call.fields->expert);
        hkpd_show_node(p);
        hkpd_show_handle(p, record->closed, hkpd_handle_offset(p));
        perf_found(&report, p->item, FINDING_HANDLE_CLOSED, "The handle was closed in frame %u",
                   record->closed->closed_frame);
    }
}

void hkpd_show_question(hkpd_pdu *p, int handle_at)
{
    hkpd_show_node(p);
    hkpd_show_handle(p, hkpd_known_handle(p), handle_at);
    if (p->record->name) {
        const char *text = perf_short_text(hkpd_pool(p), hkpd_value_text(hkpd_pool(p), p->record->name));
        proto_item_set_generated(proto_tree_add_string(p->hkpd, hf_value_name, p->call.tvb, 0, 0, p->record->name));
        proto_item_append_text(p->item, ", %s", text);
        perf_call_about(&p->call, "%s", text);
    }
    if (p->record->retry_of != 0) {
        add_generated_uint(p->hkpd, hf_retry_of, p->call.tvb, p->record->retry_of);
    }
}

/* NDR64: the stock function shows the handle, and would look for the name in a wrong place (Wireshark 4.0 and 4.4). */
static int show_request64(hkpd_pdu *p)
{
    uint32_t handle_end = (uint32_t)hkpd_handle_offset(p) + PERF_HANDLE_SIZE;
    hkpd_value_parameters value;

    hkpd_call_stock_until(p, handle_end);
    perf_call_aloud(&p->call);
    p->call.ndr.reader.pos = handle_end;
    hkpd_read_name(p, hkpd_value_name_field());
    hkpd_read_value(p, &value);
    if (value.data_size > 0) {
        hkpd_show_sent_data(p, &value);
    }
    return hkpd_end(p);
}

/* The stock function shows what stands before the data that the client sends along, which it would show byte by
 * byte. */
static int show_request_with_data(hkpd_pdu *p, hkpd_value_parameters *value)
{
    hkpd_call_stock_until(p, value->data);
    hkpd_show_sent_data(p, value);
    perf_call_aloud(&p->call);
    p->call.ndr.reader.pos = value->data + value->data_size;
    hkpd_read_sizes(p, value);
    return hkpd_end(p);
}

int hkpd_value_request(hkpd_pdu *p)
{
    hkpd_value_parameters value;
    bool is_query = hkpd_opnum(p) == WINREG_QUERY_VALUE;
    hkpd_record *record = p->record;

    hkpd_read_asked_handle(p);
    if (!is_query) {
        ndr_u32(&p->call.ndr, hf_enum_index);
    }
    const char *name = hkpd_read_name(p, 0);
    if (p->call.first_time && name && is_query) {
        record->name = wmem_strdup(wmem_file_scope(), name);
    }
    hkpd_read_value(p, &value);
    if (p->call.first_time && !p->call.ndr.reader.failed) {
        record->room = value.has_buffer ? value.size : 0;
        record->call.request_read = true;
    }
    find_retry(p);
    report_closed(p, name);
    bool shown = hkpd_is_shown(hkpd_known_handle(p));
    if (shown) {
        hkpd_show_question(p, hkpd_handle_offset(p));
        if (record->room > 0) {
            perf_call_about(&p->call, "room for %s%s", perf_counted(hkpd_pool(p), record->room, "byte"),
                            record->retry_of != 0 ? " now" : "");
        }
    }
    if (p->call.ndr.ndr64 && is_query && (hkpd_key_of(hkpd_known_handle(p)) || hkpd_is_performance_name(name))) {
        return show_request64(p);
    }
    return shown && value.data_size > MAX_STOCK_BYTES && !p->call.ndr.reader.failed ? show_request_with_data(p, &value)
                                                                                    : hkpd_end_with_stock(p);
}

void hkpd_query_register(int proto)
{
    static hf_register_info hf[] = {
        {&hf_value_name,
         {"Value name", "hkpd.value_name", FT_STRING, BASE_NONE, NULL, 0,
          "What was asked for: objects, or titles in a language", HFILL}},
        {&hf_retry_of,
         {"Retry of", "hkpd.retry_of", FT_FRAMENUM, BASE_NONE, NULL, 0,
          "The request of the same value that was answered with ERROR_MORE_DATA", HFILL}},
        {&hf_enum_index,
         {"Number of the value", "hkpd.enum_index", FT_UINT32, BASE_DEC, NULL, 0,
          "Position among the values of the key, from 0", HFILL}},
    };

    proto_register_field_array(proto, hf, array_length(hf));
}
