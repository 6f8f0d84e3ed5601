/* pcq-browse.c
 * Operations 0 to 2: which countersets there are, what they consist of, which instances they have.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq-browse.h"

#include "pcq/pcq-fields.h"
#include "text/value-strings.h"

/* Largest dwInSize that the interface admits, in GUIDs and in bytes ([MS-PCQ] 3.1.4.1.1 to 3.1.4.1.3). */
#define MAX_GUIDS 256
#define MAX_REGISTRATION 134217728
#define MAX_INSTANCES 67108864

static int hf_request_code = -1;
static int hf_lcid = -1;

#define REQUEST_CODE_STRING(value, name) {value, "PERF_REG_" #name},
static const value_string request_code_vals[] = {PCQ_REQUEST_CODES(REQUEST_CODE_STRING){0, NULL}};

/* --- Opnum 0: EnumerateCounterSet, 3.1.4.1.1 ------------------------------------------------------------------- */

void pcq_enumerate_request(pcq_pdu *p)
{
    pcq_read_machine(p);
    pcq_read_in_size(p, MAX_GUIDS);
    pcq_request_end(p);
    perf_call_info(&p->call, "room for %s", perf_counted(pcq_pool(p), p->record->in_size, "GUID"));
}

void pcq_enumerate_response(pcq_pdu *p)
{
    pcq_returned back;
    pcq_context context;

    pcq_init_context(p, &context);
    pcq_read_returned(p, 16, &back);
    if (back.tvb) {
        pcq_dissect_counterset_list(back.tvb, back.tree, &context, p->call.ndr.reader.encoding);
    }
    if (pcq_read_returned_status(p, &back)) {
        perf_call_info(&p->call, "%s", perf_counted(pcq_pool(p), context.count, "counterset"));
    }
    perf_call_end_stub(&p->call);
}

/* --- Opnums 1 and 2 -------------------------------------------------------------------------------------------- */

/* CounterSetGuid, with its name. */
static void read_counterset(pcq_pdu *p)
{
    perf_reader *reader = &p->call.ndr.reader;

    ndr_align(&p->call.ndr, 4);
    pcq_read_counterset_guid(reader, p->record->guid);
    if (!reader->failed) {
        pcq_add_known_counterset(p->call.tree, p->call.tvb, p->call.server, p->record->guid, p->call.event);
    }
}

/* The name in a response, which does not carry the GUID, unless it carries the name. */
static void show_counterset(pcq_pdu *p, const pcq_context *context)
{
    bool has_name = context->text && (context->request_code == PERF_REG_COUNTERSET_NAME_STRING ||
                                      context->request_code == PERF_REG_COUNTERSET_ENGLISH_NAME);

    if (pcq_request_read(p) && !has_name) {
        pcq_add_known_counterset(p->call.tree, p->call.tvb, p->call.server, p->record->guid, p->call.event);
    }
}

static const char *counterset_text(pcq_pdu *p)
{
    return perf_short_text(pcq_pool(p),
                           pcq_counterset_label(pcq_pool(p), p->call.server, p->record->guid, p->call.event));
}

/* --- Opnum 1: QueryCounterSetRegistrationInfo, 3.1.4.1.2 ------------------------------------------------------- */

const char *pcq_request_code_name(const pcq_pdu *p)
{
    return val_to_str_const(p->record->request_code, request_code_vals, "another RequestCode");
}

static const char *request_code_text(pcq_pdu *p)
{
    const char *name = try_val_to_str(p->record->request_code, request_code_vals);

    return name ? name + strlen("PERF_REG_")
                : wmem_strdup_printf(pcq_pool(p), "RequestCode %u", p->record->request_code);
}

/* Strings are in a language, but for English names and what a provider is called. */
static bool has_locale(uint32_t request_code)
{
    return request_code >= PERF_REG_COUNTERSET_NAME_STRING && request_code <= PERF_REG_COUNTER_HELP_STRINGS;
}

/* "de-DE". */
static const char *locale_text(pcq_pdu *p)
{
    const char *name = try_val_to_str(p->record->lcid, lcid_vals);

    return name ? wmem_strdup_printf(pcq_pool(p), "%.*s", (int)strcspn(name, ","), name)
                : wmem_strdup_printf(pcq_pool(p), "locale 0x%04x", p->record->lcid);
}

/* RequestLCID is a locale, a counter id or nothing, by RequestCode. */
static void read_request_lcid(pcq_pdu *p)
{
    perf_reader *reader = &p->call.ndr.reader;

    if (p->record->request_code == PERF_REG_COUNTER_STRUCT) {
        ndr_align(&p->call.ndr, 4);
        p->record->lcid = pcq_read_counter_id(reader);
        if (!reader->failed) {
            pcq_add_known_counter(p->call.tree, p->call.tvb, p->call.server, p->record->guid, p->record->lcid,
                                  p->call.event);
        }
        return;
    }
    p->record->lcid = pcq_read_u32(p, hf_lcid);
    if (!has_locale(p->record->request_code)) {
        proto_item_append_text(reader->item, " (unused by this RequestCode)");
    }
}

/* Which counterset, what of it, and in which language or of which counter. */
static void about_registration(pcq_pdu *p)
{
    perf_call_about(&p->call, "%s, %s", counterset_text(p), request_code_text(p));
    if (has_locale(p->record->request_code)) {
        perf_call_about(&p->call, "%s", locale_text(p));
    } else if (p->record->request_code == PERF_REG_COUNTER_STRUCT) {
        const char *name =
            pcq_counter_label(pcq_pool(p), p->call.server, p->record->guid, p->record->lcid, p->call.event);
        perf_call_about(&p->call, *name == '#' ? "counter %u" : "counter %u %s", p->record->lcid,
                        perf_short_text(pcq_pool(p), name));
    }
}

void pcq_registration_request(pcq_pdu *p)
{
    pcq_read_machine(p);
    read_counterset(p);
    p->record->request_code = pcq_read_u32(p, hf_request_code);
    if (!p->call.ndr.reader.failed && !try_val_to_str(p->record->request_code, request_code_vals)) {
        perf_found(&p->call.report, p->call.ndr.reader.item, FINDING_REQUEST_CODE,
                   "RequestCode %u is unknown, the answer's layout too", p->record->request_code);
    }
    read_request_lcid(p);
    pcq_read_in_size(p, MAX_REGISTRATION);
    pcq_request_end(p);
    if (pcq_request_read(p)) {
        about_registration(p);
    }
}

static void describe_registration(pcq_pdu *p, const pcq_context *context, const pcq_returned *back)
{
    if (context->text) {
        perf_call_info(&p->call, "\"%s\"", perf_short_text(pcq_pool(p), context->text));
    } else if (context->count > 0) {
        perf_call_info(&p->call, "%s", perf_counted(pcq_pool(p), context->count, "counter"));
    }
    perf_call_info(&p->call, "%s", perf_counted(pcq_pool(p), back->out_size, "byte"));
}

void pcq_registration_response(pcq_pdu *p)
{
    pcq_returned back;
    pcq_context context;

    pcq_init_context(p, &context);
    pcq_read_returned(p, 1, &back);
    if (back.tvb) {
        pcq_dissect_registration(back.tvb, back.tree, &context);
    }
    bool done = pcq_read_returned_status(p, &back);
    perf_call_end_stub(&p->call);
    if (done && perf_call_may_learn(&p->call)) {
        pcq_learn(p, &context);
    }
    show_counterset(p, &context);
    if (pcq_request_read(p)) {
        about_registration(p);
        if (done) {
            describe_registration(p, &context, &back);
        }
    }
}

/* --- Opnum 2: EnumerateCounterSetInstances, 3.1.4.1.3 ---------------------------------------------------------- */

void pcq_instances_request(pcq_pdu *p)
{
    pcq_read_machine(p);
    read_counterset(p);
    pcq_read_in_size(p, MAX_INSTANCES);
    pcq_request_end(p);
    if (pcq_request_read(p)) {
        perf_call_about(&p->call, "%s", counterset_text(p));
    }
}

void pcq_instances_response(pcq_pdu *p)
{
    pcq_returned back;
    pcq_context context;

    pcq_init_context(p, &context);
    pcq_read_returned(p, 1, &back);
    if (back.tvb) {
        pcq_dissect_instances(back.tvb, back.tree, &context);
    }
    bool done = pcq_read_returned_status(p, &back);
    perf_call_end_stub(&p->call);
    show_counterset(p, &context);
    if (pcq_request_read(p)) {
        perf_call_about(&p->call, "%s", counterset_text(p));
    }
    if (done) {
        perf_call_info(&p->call, "%s, %s", perf_counted(pcq_pool(p), context.count, "instance"),
                       perf_counted(pcq_pool(p), back.out_size, "byte"));
    }
}

/* --- Registration ---------------------------------------------------------------------------------------------- */

void pcq_browse_register(int proto)
{
    static hf_register_info hf[] = {
        {&hf_request_code,
         {"Request code", "pcq.request_code", FT_UINT32, BASE_HEX, VALS(request_code_vals), 0, "RequestCode", HFILL}},
        {&hf_lcid, {"Locale", "pcq.lcid", FT_UINT32, BASE_HEX, VALS(lcid_vals), 0, "RequestLCID", HFILL}},
    };

    proto_register_field_array(proto, hf, array_length(hf));
}
