/* pcq-query.c
 * Operations 3 to 7: the life of a query, from its opening over its counters and their data to its closing.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq-query.h"

#include "pcq/pcq-data.h"
#include "pcq/pcq-fields.h"
#include "dcerpc/prefixed.h"
#include "text/value-strings.h"

/* The counters that a handle holds are listed on each packet that carries it; no more than these. */
#define MAX_LISTED_COUNTERS 100

/* Refused counters that the Info column names. */
#define MAX_NAMED_REFUSALS 3

static int proto_pcq = -1;

static int hf_query = -1;
static int hf_query_counter = -1;
static int hf_add = -1;

static int ett_query = -1;

/* --- Handles --------------------------------------------------------------------------------------------------- */

/* "\Processor(0)\% Processor Time". Each packet lists many of them: long names are cut before anything is made of them. */
static const char *identifier_text(pcq_pdu *p, const perf_identifier *identifier)
{
    wmem_allocator_t *pool = pcq_pool(p);
    perf_server *server = p->call.server;
    const char *set = perf_short_text(pool, pcq_counterset_label(pool, server, identifier->guid, p->call.event));
    const char *counter =
        perf_short_text(pool, pcq_counter_label(pool, server, identifier->guid, identifier->counter_id, p->call.event));

    return identifier->instance
               ? wmem_strdup_printf(pool, "\\%s(%s)\\%s", set, perf_short_text(pool, identifier->instance), counter)
               : wmem_strdup_printf(pool, "\\%s\\%s", set, counter);
}

static const char *entry_text(pcq_pdu *p, const perf_query_entry *entry)
{
    const perf_identifier *identifier = &entry->identifier;
    const char *path = identifier_text(p, identifier);

    return identifier->status == 0 ? path
                                   : wmem_strdup_printf(pcq_pool(p), "%s: refused, %s", path,
                                                        win32_error_name(pcq_pool(p), identifier->status));
}

static void show_query(pcq_pdu *p, proto_tree *tree, const perf_handle *handle)
{
    const int shown[] = {hf_query, hf_query_counter};
    const perf_query_entry *entry;
    unsigned held, refused, next = 0, listed = 0;

    if (!any_referenced(tree, shown, array_length(shown))) {
        return;
    }
    perf_query_counts(handle, p->call.event, &held, &refused);
    if (held + refused == 0) {
        return;
    }
    proto_item *item = proto_tree_add_item(tree, hf_query, p->call.tvb, 0, 0, ENC_NA);
    proto_tree *list = proto_item_add_subtree(item, ett_query);
    proto_item_set_generated(item);
    proto_item_append_text(item, ": %s", perf_counted(pcq_pool(p), held, "counter"));
    if (refused > 0) {
        proto_item_append_text(item, ", %u refused", refused);
    }
    if (held + refused > MAX_LISTED_COUNTERS) {
        proto_item_append_text(item, ", the first %u", MAX_LISTED_COUNTERS);
    }
    while (listed++ < MAX_LISTED_COUNTERS && (entry = perf_query_entries(handle, p->call.event, &next)) != NULL) {
        add_generated_string(list, hf_query_counter, p->call.tvb, entry_text(p, entry));
    }
}

/* Where a handle was opened and closed, and what it holds at this moment. */
static void show_handle(pcq_pdu *p, proto_item *item, const perf_handle *handle)
{
    if (item && handle && proto_field_is_referenced(p->call.tree, proto_pcq)) {
        show_query(p, perf_call_show_life(&p->call, item, handle), handle);
    }
}

static proto_item *read_handle(pcq_pdu *p, uint8_t bytes[PERF_HANDLE_SIZE])
{
    proto_item *item = pcq_read_handle(p, bytes);

    if (!p->call.ndr.reader.failed && perf_handle_is_null(bytes)) {
        perf_found(&p->call.report, item, FINDING_HANDLE_NULL, "The handle is empty: no query has it");
    }
    return item;
}

/* Finds the query that a request speaks of; only a sound one begins a life. A closed handle stays closed, whoever still
 * uses it. */
static void use_handle(pcq_pdu *p, const uint8_t *bytes, proto_item *item)
{
    perf_call_record *record = p->call.record;

    if (p->call.first_time && !perf_handle_is_null(bytes)) {
        record->handle = perf_handle_find(PERF_HANDLE_QUERY, p->call.server, bytes, p->call.event);
        if (record->handle == NULL && perf_call_may_learn(&p->call)) {
            record->handle = perf_call_open_handle(&p->call, PERF_HANDLE_QUERY, bytes, p->call.event, 0, NULL);
        }
    }
    const perf_handle *handle = record->handle;
    if (handle && handle->end < p->call.event) {
        perf_found(&p->call.report, item, FINDING_HANDLE_CLOSED, "The handle was closed in frame %u",
                   handle->closed_frame);
    }
    show_handle(p, item, handle);
    perf_call_show_number(&p->call, p->call.tree, handle);
}

/* A server that answers for a closed handle has given it out anew, and the opening was not captured. The request that
 * it answers belongs to the new life, as a later look at it shows. */
static perf_handle *reopened(pcq_pdu *p, perf_handle *asked)
{
    perf_handle *now = perf_handle_find(PERF_HANDLE_QUERY, p->call.server, asked->bytes, p->call.event);
    uint32_t asked_at = p->call.record->request_event;

    return now != asked && now->end > p->call.event
               ? now
               : perf_call_open_handle(&p->call, PERF_HANDLE_QUERY, asked->bytes, asked_at, 0, NULL);
}

/* The query that a response speaks of. `known` says that the server has it open: it gave its data, or their size. */
static perf_handle *answering_handle(pcq_pdu *p, bool known)
{
    perf_call_record *record = p->call.record;

    if (p->call.first_time && record->handle) {
        if (known && perf_call_may_learn(&p->call)) {
            if (record->handle->end < record->request_event) {
                record->handle = reopened(p, record->handle);
            }
            perf_handle_confirm(record->handle);
        }
        record->answering = record->handle;
    }
    perf_call_show_number(&p->call, p->call.tree, record->answering);
    return record->answering;
}

/* --- Opnum 3: OpenQueryHandle, 3.1.4.1.4 ----------------------------------------------------------------------- */

void pcq_open_request(pcq_pdu *p)
{
    pcq_read_machine(p);
    pcq_request_end(p);
    /* on a later look, the query that the response opened */
    perf_call_show_number(&p->call, p->call.tree, p->call.record->handle);
    if (p->record->machine && *p->record->machine) {
        perf_call_info(&p->call, "%s", p->record->machine);
    }
}

void pcq_open_response(pcq_pdu *p)
{
    uint8_t bytes[PERF_HANDLE_SIZE];
    perf_call_record *record = p->call.record;
    proto_item *item = pcq_read_handle(p, bytes);
    uint32_t status = pcq_read_status(p);

    perf_call_report_status(&p->call, status);
    perf_call_end_stub(&p->call);
    if (perf_call_may_learn(&p->call) && status == STATUS_SUCCESS && !perf_handle_is_null(bytes)) {
        record->handle = perf_call_open_handle(&p->call, PERF_HANDLE_QUERY, bytes, p->call.event, p->call.pinfo->num,
                                               p->record->machine);
    }
    show_handle(p, item, record->handle);
    perf_call_show_number(&p->call, p->call.tree, record->handle);
}

/* --- Opnum 4: CloseQueryHandle, 3.1.4.1.8 ---------------------------------------------------------------------- */

void pcq_close_request(pcq_pdu *p)
{
    uint8_t bytes[PERF_HANDLE_SIZE];
    proto_item *item = read_handle(p, bytes);

    pcq_request_end(p);
    use_handle(p, bytes, item);
    perf_handle *handle = p->call.record->handle;
    if (perf_call_may_learn(&p->call) && handle && handle->end == UINT32_MAX) {
        perf_handle_close(handle, p->call.event, p->call.pinfo->num);
    }
}

void pcq_close_response(pcq_pdu *p)
{
    uint8_t bytes[PERF_HANDLE_SIZE];
    perf_handle *handle = p->call.record->handle;
    proto_item *item = pcq_read_handle(p, bytes);
    uint32_t status = pcq_read_status(p);

    perf_call_report_status(&p->call, status);
    perf_call_end_stub(&p->call);
    if (perf_call_may_learn(&p->call) && handle) {
        if (status == STATUS_SUCCESS) {
            perf_handle_confirm(handle);
        } else if (handle->end == p->call.record->request_event) {
            perf_handle_not_closed(handle);
        }
    }
    if (!perf_handle_is_null(bytes)) {
        show_handle(p, item, handle);
    }
    perf_call_show_number(&p->call, p->call.tree, handle);
}

/* --- Opnum 5: QueryCounterInfo, 3.1.4.1.5 ---------------------------------------------------------------------- */

static void query_request(pcq_pdu *p, uint32_t largest)
{
    uint8_t bytes[PERF_HANDLE_SIZE];
    proto_item *item = read_handle(p, bytes);

    pcq_read_in_size(p, largest);
    pcq_request_end(p);
    if (p->call.has_column) {
        perf_call_info_texts(&p->call, "room for ", perf_counted(pcq_pool(p), p->record->in_size, "byte"), NULL);
    }
    use_handle(p, bytes, item);
}

void pcq_info_request(pcq_pdu *p)
{
    query_request(p, PCQ_MAX_INFO);
}

/* Each identifier has a block of its own: no index twice, none beyond the last. */
static void check_indexes(pcq_pdu *p, const pcq_context *context, proto_item *item)
{
    uint32_t count = wmem_array_get_count(context->identifiers);
    bool *taken = wmem_alloc0_array(pcq_pool(p), bool, count);

    for (uint32_t i = 0; i < count; i++) {
        const perf_identifier *identifier = wmem_array_index(context->identifiers, i);
        if (identifier->index >= count) {
            perf_found(&p->call.report, item, FINDING_INDEX, "Index %u of identifier %u is beyond the %u blocks",
                       identifier->index, i, count);
        } else if (taken[identifier->index]) {
            perf_found(&p->call.report, item, FINDING_INDEX,
                       "Index %u is given twice, the second time to identifier %u", identifier->index, i);
        } else {
            taken[identifier->index] = true;
        }
    }
}

void pcq_info_response(pcq_pdu *p)
{
    pcq_returned back;
    pcq_context context;

    pcq_init_context(p, &context);
    context.is_response = false; /* the status of its identifiers has no meaning */
    pcq_read_returned(p, 1, &back);
    if (back.tvb) {
        pcq_dissect_identifiers(back.tvb, back.tree, &context);
        check_indexes(p, &context, back.item);
    }
    bool done = pcq_read_returned_status(p, &back);
    if (done) {
        perf_call_info(&p->call, "%s, %s", perf_counted(pcq_pool(p), context.count, "counter"),
                       perf_counted(pcq_pool(p), back.out_size, "byte"));
    }
    perf_call_end_stub(&p->call);
    perf_handle *handle = answering_handle(p, done || pcq_is_size_probe(&back));
    if (done && perf_call_may_learn(&p->call) && handle) {
        perf_query_info(handle, wmem_array_get_raw(context.identifiers), context.count, p->call.event,
                        p->call.pinfo->num);
    }
}

/* --- Opnum 6: QueryCounterData, 3.1.4.1.6 ---------------------------------------------------------------------- */

void pcq_data_request(pcq_pdu *p)
{
    query_request(p, PCQ_MAX_DATA);
}

static void describe_data(pcq_pdu *p, const pcq_returned *back, pcq_data_context *context)
{
    const perf_data_summary *summary = &context->summary;
    wmem_allocator_t *pool = pcq_pool(p);

    if (!p->call.has_column) {
        return;
    }
    const char *size = perf_counted(pool, back->out_size, "byte");
    const char *blocks = perf_counted(pool, summary->blocks, "block");
    if (summary->failed > 0) {
        blocks = wmem_strdup_printf(pool, "%s, %u failed", blocks, summary->failed);
    }
    readings_answer answer = pcq_data_answer(back->tvb, context);
    value_describe(&p->call, &context->first, &answer, summary->values, blocks, size);
}

/* What has the form of the sample before is as sound as that, all else is walked. */
static void keep_sample(pcq_pdu *p, tvbuff_t *tvb, pcq_data_context *context)
{
    uint32_t size = tvb_captured_length(tvb);
    const uint8_t *bytes = size > 0 ? tvb_get_ptr(tvb, 0, (int)size) : NULL;
    perf_data_summary *summary = &context->summary;
    perf_sample *sample = perf_sample_keep_alike(context->handle, bytes, size, p->call.event, p->call.pinfo->num);

    if (sample) {
        *summary = sample->form->summary;
    } else if (pcq_check_data(tvb, summary)) {
        sample = perf_sample_keep(context->handle, bytes, size, p->call.event, p->call.pinfo->num);
        sample->has_doubts = summary->sound_blocks < summary->blocks;
    }
    p->record->sample = context->sample = sample;
    context->has_form = sample && sample->form;
}

/* On a later look. A frame can hold a second response to the same request, of which nothing was kept. */
static void look_again(pcq_pdu *p, tvbuff_t *tvb, pcq_data_context *context)
{
    perf_sample *sample = p->call.record->response_frame == p->call.pinfo->num ? p->record->sample : NULL;
    uint32_t size = tvb_captured_length(tvb);

    context->sample = sample;
    context->has_form = sample && size > 0 && perf_sample_has_form(sample, tvb_get_ptr(tvb, 0, (int)size), size);
    if (context->has_form) {
        context->summary = sample->form->summary;
    } else {
        pcq_check_data(tvb, &context->summary);
    }
}

/* Even a query of nothing has a header. Where *pdwRtnSize tells of data it was reported already. */
static void report_no_header(pcq_pdu *p, const pcq_returned *back)
{
    if (back->out_size == 0 && back->rtn_size == 0 && pcq_request_read(p) && p->record->in_size > 0) {
        perf_found(&p->call.report, p->call.ndr.reader.item, FINDING_NO_DATA,
                   "The call succeeded with room for %u bytes, but there is not even a PERF_DATA_HEADER",
                   p->record->in_size);
    }
}

/* The status stands behind lpData, but what lpData means depends on it: a sample is only what came with success. So
 * the stub is read to its end, then the buffer checked, and shown last, into the place kept for it. */
void pcq_data_response(pcq_pdu *p)
{
    pcq_returned back;
    pcq_data_context context;

    memset(&context, 0, sizeof context);
    context.report = &p->call.report;
    context.server = p->call.server;
    context.event = p->call.event;
    pcq_read_returned(p, 1, &back);
    bool done = pcq_read_returned_status(p, &back);
    if (done) {
        report_no_header(p, &back);
    }
    perf_call_end_stub(&p->call);
    context.handle = answering_handle(p, done || pcq_is_size_probe(&back));
    if (back.tvb) {
        if (done && context.handle && perf_call_may_learn(&p->call)) {
            keep_sample(p, back.tvb, &context);
        } else {
            look_again(p, back.tvb, &context);
        }
        pcq_dissect_data(back.tvb, back.tree, &context);
        if (done) {
            p->answer = pcq_data_answer(back.tvb, &context);
            p->tapped.answer = &p->answer;
        }
        describe_data(p, &back, &context);
    }
}

/* --- Opnum 7: ValidateCounters, 3.1.4.1.7 ---------------------------------------------------------------------- */

/* lpData of both directions. What is wrong with the request's is not the response's fault. */
static void read_identifiers(pcq_pdu *p, pcq_context *context)
{
    pcq_returned back;
    bool repeated = !perf_call_is_request(&p->call) && p->call.record->request_damaged;

    p->identifiers_sound = true;
    pcq_init_context(p, context);
    pcq_read_sent(p, &back);
    if (back.tvb == NULL) {
        return;
    }
    bool damaged = p->call.report.damaged;
    p->call.report.muted = repeated;
    pcq_dissect_identifiers(back.tvb, back.tree, context);
    p->call.report.muted = false;
    p->identifiers_sound = damaged || !p->call.report.damaged;
    if (repeated) {
        p->call.report.damaged = damaged;
    }
}

static const perf_identifier *identifier_at(const pcq_context *context, unsigned i)
{
    return wmem_array_index(context->identifiers, i);
}

/* "3: \Set(instance)\Counter, 2 more". */
static const char *identifiers_text(pcq_pdu *p, const pcq_context *context)
{
    unsigned count = wmem_array_get_count(context->identifiers);

    if (count == 0) {
        return wmem_strdup_printf(pcq_pool(p), "%u", context->count);
    }
    const char *first = perf_short_text(pcq_pool(p), identifier_text(p, identifier_at(context, 0)));
    return count == 1 ? wmem_strdup_printf(pcq_pool(p), "1: %s", first)
                      : wmem_strdup_printf(pcq_pool(p), "%u: %s, %u more", context->count, first, context->count - 1);
}

void pcq_validate_request(pcq_pdu *p)
{
    uint8_t bytes[PERF_HANDLE_SIZE];
    pcq_context context;
    proto_item *item = read_handle(p, bytes);

    pcq_read_in_size(p, PCQ_MAX_INFO);
    read_identifiers(p, &context);
    p->record->add = pcq_read_u32(p, hf_add) != 0;
    pcq_request_end(p);
    if (p->call.has_column) {
        perf_call_info(&p->call, "%s %s", p->record->add ? "add" : "remove", identifiers_text(p, &context));
    }
    use_handle(p, bytes, item);
}

/* "1 refused: \Set\Counter (ERROR_WMI_ITEMID_NOT_FOUND)". */
static void describe_refusals(pcq_pdu *p, const pcq_context *context)
{
    wmem_strbuf_t *text = wmem_strbuf_new(pcq_pool(p), NULL);
    unsigned named = 0;

    for (unsigned i = 0; i < wmem_array_get_count(context->identifiers) && named < MAX_NAMED_REFUSALS; i++) {
        const perf_identifier *identifier = identifier_at(context, i);
        if (identifier->status != 0) {
            wmem_strbuf_append_printf(text, "%s%s (%s)", named > 0 ? ", " : "",
                                      perf_short_text(pcq_pool(p), identifier_text(p, identifier)),
                                      win32_error_name(pcq_pool(p), identifier->status));
            named++;
        }
    }
    if (context->refused > named) {
        wmem_strbuf_append_printf(text, "%s%u more", named > 0 ? ", " : "", context->refused - named);
    }
    perf_call_info(&p->call, "%u refused: %s", context->refused, wmem_strbuf_get_str(text));
}

static void describe_validation(pcq_pdu *p, const pcq_context *context)
{
    const char *done = !pcq_request_read(p) ? "accepted" : p->record->add ? "added" : "removed";

    if (!p->call.has_column) {
        return;
    }
    if (context->refused == 0 && wmem_array_get_count(context->identifiers) > 0) {
        perf_call_info(&p->call, "%u %s: %s%s", context->count, done,
                       perf_short_text(pcq_pool(p), identifier_text(p, identifier_at(context, 0))),
                       context->count > 1 ? wmem_strdup_printf(pcq_pool(p), ", %u more", context->count - 1) : "");
        return;
    }
    perf_call_info(&p->call, "%u %s", context->count - context->refused, done);
    if (context->refused > 0) {
        describe_refusals(p, context);
    }
}

void pcq_validate_unknown(pcq_pdu *p)
{
    if (p->call.first_time && p->call.record->handle) {
        perf_query_unknown_change(p->call.record->handle, p->call.event);
    }
}

void pcq_validate_response(pcq_pdu *p)
{
    pcq_context context;

    read_identifiers(p, &context);
    uint32_t status = pcq_read_status(p);
    bool done = !p->call.ndr.reader.failed && status == STATUS_SUCCESS;
    if (done) {
        describe_validation(p, &context);
        p->tapped.identifiers = wmem_array_get_raw(context.identifiers);
        p->tapped.num_identifiers = wmem_array_get_count(context.identifiers);
    }
    perf_call_report_status(&p->call, status);
    perf_call_end_stub(&p->call);
    perf_handle *handle = answering_handle(p, done);
    if (perf_call_may_learn(&p->call) && p->identifiers_sound && handle && done && pcq_request_read(p)) {
        perf_query_changed(handle, p->record->add, wmem_array_get_raw(context.identifiers), context.count,
                           p->call.event);
    } else if (p->call.report.damaged || p->call.ndr.reader.failed || (!p->identifiers_sound && done)) {
        pcq_validate_unknown(p);
    }
}

/* --- Registration ---------------------------------------------------------------------------------------------- */

void pcq_query_register(int proto)
{
    static hf_register_info hf[] = {
        {&hf_query,
         {"Query", "pcq.query", FT_NONE, BASE_NONE, NULL, 0, "The counters that the handle holds at this moment",
          HFILL}},
        {&hf_query_counter,
         {"Counter", "pcq.query.counter", FT_STRING, BASE_NONE, NULL, 0, "With the server's verdict", HFILL}},
        {&hf_add, {"Add", "pcq.add", FT_BOOLEAN, BASE_NONE, NULL, 0, "dwAdd: add or remove", HFILL}},
    };
    static int *ett[] = {&ett_query};

    proto_pcq = proto;
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}
