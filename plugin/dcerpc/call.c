/* call.c
 * The life of a call, for both protocols.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/call.h"

#include "tree/fields.h"
#include "tree/value-tree.h"
#include "text/value-strings.h"

/* Between the parts of the Info column. */
#define SEPARATOR ", "

static int ett_handle = -1;

/* --- A PDU's beginning ----------------------------------------------------------------------------------------- */

GPtrArray *rpc_handed;

/* dcerpc_call_value -> the call of its protocol; emptied with the file */
static wmem_map_t *calls;

/* True of a response to a call that another frame answered before. */
static bool is_repeated(const rpc_pdu *pdu)
{
    uint32_t frame = pdu->call->response_frame;

    return !pdu->is_request && frame != pdu->pinfo->num;
}

void rpc_pdu_begin(rpc_pdu *pdu, const rpc_protocol *protocol, const char *operation, tvbuff_t *tvb, int offset,
                   packet_info *pinfo, proto_tree *tree, dcerpc_info *di, uint8_t *drep)
{
    pdu->protocol = protocol;
    pdu->tapped.operation = operation;
    pdu->tvb = tvb;
    pdu->offset = offset;
    pdu->pinfo = pinfo;
    pdu->pool = pinfo->pool;
    pdu->tree = tree;
    pdu->di = di;
    pdu->opnum = di->call_data->opnum;
    pdu->is_request = di->ptype == PDU_REQ;
    pdu->drep = drep;
    rpc_call *call = pdu->call = wmem_map_lookup(calls, di->call_data);
    if (call == NULL) {
        call = pdu->call = wmem_alloc0(wmem_file_scope(), protocol->call_size);
        call->protocol = protocol;
        call->call_id = di->call_id;
        call->connection = rpc_connection_find_or_create(pinfo);
        wmem_map_insert(calls, di->call_data, call);
    }
    pdu->server = call->connection->server;
    uint32_t *frame = pdu->is_request ? &call->request_frame : &call->response_frame;
    pdu->first_time = *frame == 0 && !PINFO_FD_VISITED(pinfo);
    g_ptr_array_add(rpc_handed, call);
    *frame = pdu->first_time ? pinfo->num : *frame;
    pdu->has_column = col_get_writable(pinfo->cinfo, COL_INFO);
    pdu->about = pdu->has_column ? wmem_strbuf_new(pinfo->pool, "") : NULL;
    pdu->info = pdu->has_column ? wmem_strbuf_new(pinfo->pool, "") : NULL;
    pdu->before_info = SEPARATOR;
}

void rpc_pdu_read_stub(rpc_pdu *pdu, bool is_aloud)
{
    buffer_cursor *cursor = &pdu->cursor;

    pdu->report = (expert_report){.pinfo = is_aloud ? pdu->pinfo : NULL};
    cursor_init(cursor, pdu->tvb, is_aloud ? pdu->tree : NULL, &pdu->report,
                pdu->drep[0] & DREP_LITTLE_ENDIAN ? ENC_LITTLE_ENDIAN : ENC_BIG_ENDIAN);
    cursor->pos = MIN((uint32_t)pdu->offset, cursor->end);
    cursor->is_ndr64 = pdu->di->call_data->flags & DCERPC_IS_NDR64;
}

bool rpc_pdu_read(rpc_pdu *pdu, void (*read)(void *data), void *data)
{
    pdu->is_short = !cursor_try(&pdu->cursor, read, data);
    return !pdu->is_short;
}

bool rpc_pdu_report_garbled(rpc_pdu *pdu, bool ends_with_length)
{
    if (!ws_has_data_source(pdu->pinfo, "Decrypted stub data")) {
        return false;
    }
    rpc_pdu_read_stub(pdu, /* is_aloud */ true);
    pdu->is_garbled = ndr_is_garbled(&pdu->cursor, ends_with_length);
    if (pdu->is_garbled) {
        proto_item *item = proto_tree_add_item(pdu->tree, pdu->protocol->noise, pdu->tvb, pdu->offset, -1, ENC_NA);
        expert_report_add(&pdu->report, item, EI_NOT_DECRYPTED,
                          "Stub data probably not decrypted correctly (previous packets not captured?)");
    }
    return pdu->is_garbled;
}

/* Returns the seconds from the request to this response, negative: not known. */
static double seconds_since_request(const rpc_pdu *pdu)
{
    return pdu->is_request ? -1 : rpc_seconds_since(&pdu->di->call_data->req_time, pdu->pinfo);
}

bool rpc_pdu_may_learn(const rpc_pdu *pdu)
{
    return pdu->first_time && !pdu->report.damaged;
}

/* --- The Info column ------------------------------------------------------------------------------------------- */

void rpc_pdu_append(const rpc_pdu *pdu, wmem_strbuf_t *to, const char *format, ...)
{
    va_list args;

    if (pdu->has_column) {
        wmem_strbuf_append(to, wmem_strbuf_get_len(to) > 0 ? SEPARATOR : "");
        va_start(args, format);
        wmem_strbuf_append_vprintf(to, format, args);
        va_end(args);
    }
}

/* Characters of each part of the Info column: Wireshark itself cuts what finds no room in it, also within a character. */
#define MOST_INFO 1000

/* Appends a part to the Info column, with control characters as escapes. */
static void append_to_column(const rpc_pdu *pdu, const char *separator, const wmem_strbuf_t *part)
{
    const char *text = text_cut(pdu->pool, text_escaped(pdu->pool, wmem_strbuf_get_str(part)), MOST_INFO);

    if (*text != '\0') {
        col_append_sep_str(pdu->pinfo->cinfo, COL_INFO, separator, text);
    }
}

/* Appends to the Info column: damage, subjects, and details unless the stub is short; of a garbled stub that alone. */
static void write_info(const rpc_pdu *pdu)
{
    bool is_damaged = pdu->report.damaged && !pdu->report.shows_end; /* else Wireshark said so */
    const char *wrong = pdu->is_garbled ? "[Probably not decrypted correctly]"
                        : is_damaged    ? "[Malformed Packet]"
                                        : NULL;

    if (wrong) {
        col_append_sep_str(pdu->pinfo->cinfo, COL_INFO, SEPARATOR, wrong);
    }
    append_to_column(pdu, SEPARATOR, pdu->about);
    if (!pdu->is_short) {
        append_to_column(pdu, pdu->before_info, pdu->info);
    }
}

/* --- Status and handles ---------------------------------------------------------------------------------------- */

uint32_t rpc_pdu_read_status(rpc_pdu *pdu, int hf)
{
    pdu->tapped.status = ndr_u32(&pdu->cursor, hf);
    pdu->tapped.has_status = true;
    return pdu->tapped.status;
}

void rpc_pdu_report_status(rpc_pdu *pdu, uint32_t status)
{
    if (status != 0) {
        const char *name = text_win32_error(pdu->pinfo->pool, status);
        pdu->tapped.has_failed = true;
        expert_report_add(&pdu->report, pdu->cursor.item, EI_CALL_FAILED, "%s failed: %s", pdu->tapped.operation, name);
        info_add_detail(pdu, "%s", name);
    }
}

void rpc_report_late(expert_report *report, proto_item *item, const late_sample *late)
{
    if (late && late->late.seconds > 0) {
        expert_report_add(report, item, EI_LATE, "Late sample: %.3f s since the previous one (usually %.3f s)",
                          late->late.seconds, late->late.usual);
    }
    if (late && late->slow.seconds > 0) {
        expert_report_add(report, item, EI_LATE, "Slow response: %.3f s (usually %.3f s)", late->slow.seconds,
                          late->slow.usual);
    }
}

/* True if a response has the bytes of a sample: it is that, captured on both sides of a translation of addresses. False if those were discarded. */
static bool is_same_sample(const state_sample *sample, tvbuff_t *tvb)
{
    uint32_t size = tvb_captured_length(tvb);

    return sample && sample->bytes && sample->size == size &&
           memcmp(sample->bytes, tvb_get_ptr(tvb, 0, (int)size), size) == 0;
}

/* True if a response can be a sample: a group is well-formed and more than descriptions, or nothing was asked for. */
static bool is_sample(const perf_table *table)
{
    bool has_values = false;

    for (uint32_t i = 0; i < table->num_groups && !has_values; i++) {
        has_values = table->groups[i].is_sound && table->groups[i].has_values;
    }
    return has_values || (table->is_sound && table->num_groups == 0);
}

/* Keeps the data of a response as the newest sample of its series, on the first pass. Needs: rpc_pdu_may_learn(). Returns it; NULL: no group is
 * well-formed, or it has the bytes of the newest. Changes: the call's `sample`; timing. */
static state_sample *learn_sample(rpc_pdu *pdu, state_handle *handle, const char *question, perf_table *table,
                                  tvbuff_t *tvb)
{
    sample_series *series = sample_series_find_or_create(handle, question);

    if (!is_sample(table)) {
        return NULL;
    }
    if (is_same_sample(series->newest, tvb)) {
        pdu->call->sample = series->newest;
        return NULL;
    }
    state_sample *sample = sample_keep(series, table, pdu->pool, pdu->pinfo->num);
    sample->late = sample_add_response(&series->timing, seconds_since_request(pdu), /* has_data */ true);
    pdu->call->sample = sample;
    return sample;
}

state_sample *rpc_pdu_read_response(rpc_pdu *pdu, const value_ops *ops, state_handle *handle, const char *question,
                                    tvbuff_t *tvb)
{
    const rpc_call *call = pdu->call;
    bool has_other_bytes = is_repeated(pdu) && !is_same_sample(call->sample, tvb);
    state_sample *sample = has_other_bytes ? NULL : call->sample, *learned = NULL;
    perf_table *table = sample ? sample_get_table(sample, pdu->pool) : NULL;
    if (table == NULL) { /* there is no sample yet, or its bytes were discarded */
        table = sample_read_table(pdu->pool, ops->is_block, tvb);
    }
    if (handle && pdu->tapped.status == 0 && rpc_pdu_may_learn(pdu)) {
        learned = learn_sample(pdu, handle, question, table, tvb);
        sample = call->sample;
        table = learned ? learned->table : table;
    }
    pdu->answer = (counter_response){
        .ops = ops,
        .server = pdu->server,
        .handle = handle,
        .request_frame = call->request_frame,
        .is_repeated = is_repeated(pdu),
        .is_malformed = pdu->report.damaged || has_other_bytes,
        .sample = sample,
        .tvb = tvb,
        .table = table,
    };
    return learned;
}

void rpc_pdu_report_response(rpc_pdu *pdu, const char *failed)
{
    const state_sample *sample = pdu->answer.sample;

    rpc_report_late(&pdu->report, proto_tree_get_parent(pdu->tree), sample ? sample->late : NULL);
    if (pdu->has_column) {
        info_add_detail(pdu, "%s", value_tree_format_info(pdu->pinfo->pool, &pdu->answer, failed));
        pdu->before_info = ": ";
    }
}

void rpc_pdu_find_handle(rpc_pdu *pdu, state_handle_kind kind, const uint8_t *bytes)
{
    if (pdu->first_time) {
        pdu->call->handle = handle_find(kind, pdu->server, bytes);
        pdu->call->was_closed = pdu->call->handle && pdu->call->handle->closed_frame != 0;
    }
}

void rpc_pdu_confirm_handle(const rpc_pdu *pdu, state_handle_kind kind, const uint8_t *bytes)
{
    rpc_call *call = pdu->call;

    if (call->handle == NULL || call->was_closed) {
        call->answering = handle_open(kind, pdu->server, bytes, 0, NULL);
    }
    handle_confirm(rpc_pdu_get_handle(pdu));
}

state_handle *rpc_pdu_get_handle(const rpc_pdu *pdu)
{
    return !pdu->is_request && pdu->call->answering ? pdu->call->answering : pdu->call->handle;
}

void rpc_pdu_report_closed_handle(rpc_pdu *pdu, proto_item *item)
{
    if (pdu->call->was_closed) {
        expert_report_add(&pdu->report, item, EI_HANDLE_CLOSED, "Handle used after it was closed in frame %u",
                          pdu->call->handle->closed_frame);
    }
}

void rpc_pdu_close_handle(const rpc_pdu *pdu)
{
    state_handle *handle = rpc_pdu_may_learn(pdu) ? pdu->call->handle : NULL;

    if (handle && pdu->tapped.status == 0) {
        handle_confirm(handle);
        handle->closed_frame = handle->closed_frame ? handle->closed_frame : pdu->call->request_frame;
    }
}

void rpc_pdu_show_handle_lifetime(rpc_pdu *pdu, proto_item *item, const state_handle *handle)
{
    proto_tree *tree = proto_item_add_subtree(item, ett_handle);

    if (handle->opened_frame != 0) {
        proto_item_set_generated(
            proto_tree_add_uint(tree, pdu->protocol->handle_opened_in, pdu->tvb, 0, 0, handle->opened_frame));
    }
    if (handle->closed_frame != 0) {
        proto_item_set_generated(
            proto_tree_add_uint(tree, pdu->protocol->handle_closed_in, pdu->tvb, 0, 0, handle->closed_frame));
    }
}

void rpc_pdu_show_handle_number(rpc_pdu *pdu, proto_tree *tree, const state_handle *handle)
{
    if (handle && handle->number != 0) {
        if (tree) {
            proto_item_set_generated(
                proto_tree_add_uint(tree, pdu->protocol->handle_number, pdu->tvb, 0, 0, handle->number));
        }
        info_add_subject(pdu, "%s %u", pdu->protocol->handle_word, handle->number);
    }
}

void rpc_pdu_report_duplicate(rpc_pdu *pdu, proto_item *item)
{
    if (is_repeated(pdu)) {
        expert_report_add(&pdu->report, item, EI_SECOND_RESPONSE, "Duplicate response (first response in frame %u)",
                          pdu->call->response_frame);
    }
}

/* --- A PDU's end ----------------------------------------------------------------------------------------------- */

/* Reports what is left behind the last parameter. Padding to the verification trailer's 4 bytes ([MS-RPCE] 2.2.2.13) or NDR64's 8 is none. */
void rpc_pdu_report_trailing_bytes(rpc_pdu *pdu)
{
    buffer_cursor *cursor = &pdu->cursor;
    uint32_t left = cursor_left(cursor);

    if (left >= ndr_count_size(cursor)) {
        proto_item *item = proto_tree_add_item(pdu->tree, pdu->protocol->rest, cursor->tvb, cursor->pos, left, ENC_NA);
        expert_report_add(&pdu->report, item, EI_TRAILING_BYTES, "%u bytes are left behind the last parameter", left);
    }
}

void rpc_pdu_add_timing(const rpc_pdu *pdu, state_handle *handle, const char *question)
{
    timing_series *timing = pdu->first_time && handle ? &sample_series_find_or_create(handle, question)->timing : NULL;

    if (timing && pdu->is_request) {
        timing_add_request(timing, nstime_to_sec(&pdu->pinfo->abs_ts));
    } else if (timing && pdu->call->sample == NULL) {
        sample_add_response(timing, seconds_since_request(pdu), /* has_data */ false);
    }
}

void rpc_pdu_tap(rpc_pdu *pdu, const state_handle *handle)
{
    call_tap_data *tapped = &pdu->tapped;

    tapped->is_response = !pdu->is_request;
    tapped->is_repeated = is_repeated(pdu);
    tapped->is_damaged |= pdu->report.damaged;
    tapped->has_counters |= tapped->answer && tapped->answer->sample;
    tapped->call = pdu->call;
    tapped->seconds = seconds_since_request(pdu);
    tapped->server = pdu->server;
    tapped->does_not_seal = rpc_connection_is_unsealed(pdu->call->connection);
    tapped->handle = handle;
    tapped->is_late = tapped->is_response && pdu->call->sample && pdu->call->sample->late;
    call_tap_queue(pdu->pinfo, tapped);
}

int rpc_pdu_end(rpc_pdu *pdu, proto_item *item)
{
    if (pdu->has_column) {
        write_info(pdu);
    }
    expert_report_end(&pdu->report, item);
    return (int)tvb_reported_length(pdu->tvb);
}

void rpc_protocol_register(int proto, const char *prefix, const char *number_field, rpc_protocol *protocol)
{
    static int *ett[] = {&ett_handle};
    const hf_register_info list[] = {
        FIELD_BYTES(protocol->handle, protocol->handle_label, "handle", "Context handle, as little-endian sends it"),
        FIELD_U32(protocol->handle_number, protocol->handle_number_label, number_field,
                  "Counts the handles of the capture, each time that one is opened"),
        FIELD_FRAME(protocol->handle_opened_in, "Opened in", "handle.opened_in", "The response that opened it"),
        FIELD_FRAME(protocol->handle_closed_in, "Closed in", "handle.closed_in", "The request that closed it"),
        FIELD_BYTES(protocol->rest, "Trailing bytes", "rest", "What stands behind the last parameter"),
        FIELD_NODE(protocol->noise, "Stub that cannot be read", "noise",
                   "Its bytes, which were probably not decrypted"),
    };

    protocol->proto = proto;
    fields_register_prefixed(proto, prefix, list, array_length(list));
    if (calls == NULL) {
        rpc_handed = g_ptr_array_new();
        ndr_fields_register(proto);
        proto_register_subtree_array(ett, array_length(ett));
        calls = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), g_direct_hash, g_direct_equal);
        rpc_connections_register(proto);
    }
}
