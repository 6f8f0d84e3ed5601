/* hkpd-answers.c
 * Answers to QueryValue and EnumValue: performance data, titles, or neither.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/hkpd-query.h"

#include "hkpd/hkpd-buffers.h"
#include "hkpd/hkpd-samples.h"
#include "hkpd/hkpd-titles.h"
#include "hkpd/winreg-hook.h"

/* LCID of English without a country. */
#define LANGUAGE_ENGLISH 0x009
#define LANGUAGE_MASK 0x3FF

typedef enum { ANSWER_OTHER, ANSWER_BLOCK, ANSWER_TITLES } answer_kind;

typedef struct {
    hkpd_value_parameters value;
    uint32_t status;
    const char *name; /* of the value; NULL if it is not known */
    answer_kind kind;
} answer;

static void init_context(hkpd_pdu *p, hkpd_context *context, perf_report *report)
{
    memset(context, 0, sizeof *context);
    context->report = report;
    context->server = p->call.server;
    context->event = p->call.event;
}

static void read_answer(hkpd_pdu *p, answer *back, int name_field)
{
    memset(back, 0, sizeof *back);
    back->name = p->record->name;
    if (hkpd_opnum(p) == WINREG_ENUM_VALUE) {
        back->name = hkpd_read_name(p, name_field);
    }
    hkpd_read_value(p, &back->value);
    back->status = hkpd_read_status(p);
}

/* --- What an answer is ----------------------------------------------------------------------------------------- */

static bool is_sound_block(hkpd_pdu *p, tvbuff_t *tvb)
{
    perf_report report;
    hkpd_context context;

    perf_report_init(&report, NULL, &p->call.fields->expert);
    init_context(p, &context, &report);
    hkpd_check_block(tvb, &context);
    return context.summary.faults == 0 && !report.damaged;
}

/* The value name decides, not the type. With ERROR_MORE_DATA the data may be anything. A signature of eight bytes is not
 * enough: another key's value can begin so, and a handle of which nothing is known is ours only by a block that adds
 * up. */
static answer_kind kind_of(hkpd_pdu *p, const answer *back)
{
    uint32_t language;
    tvbuff_t *tvb = back->value.tvb;
    const perf_handle *handle = hkpd_known_handle(p);
    bool is_ours = hkpd_key_of(handle) != NULL;

    if (tvb == NULL || (!p->call.ndr.reader.failed && back->status == STATUS_MORE_DATA) || (handle && !is_ours)) {
        return ANSWER_OTHER;
    }
    if (hkpd_titles_of(back->name, &language) != HKPD_TITLES_NONE &&
        (is_ours || hkpd_check_titles(tvb, hkpd_pool(p), NULL, NULL))) {
        return ANSWER_TITLES;
    }
    uint32_t size = tvb_captured_length(tvb);
    bool begins_so = perf_block_is(tvb_get_ptr(tvb, 0, (int)size), size);
    return begins_so && (is_ours || is_sound_block(p, tvb)) ? ANSWER_BLOCK : ANSWER_OTHER;
}

/* An answer with performance data tells what the handle is, if its opening was not captured. A handle that was closed and
 * is answered for was given out anew. The request belongs to it too, as a later look shows. */
static void find_handle(hkpd_pdu *p, const answer *back)
{
    hkpd_record *record = p->record;
    const hkpd_key *closed = hkpd_key_of(record->closed);
    bool has_data = back->kind == ANSWER_BLOCK || (closed && back->kind == ANSWER_TITLES);
    bool has_size = closed && !p->call.ndr.reader.failed && back->status == STATUS_MORE_DATA;

    if (!p->call.first_time || record->call.handle || !record->handle_read || !(has_data || has_size)) {
        return;
    }
    record->call.handle = hkpd_find_open(p, record->handle_bytes);
    if (record->call.handle == NULL) {
        record->call.handle = hkpd_open_handle(p, record->handle_bytes, record->call.request_event, 0,
                                               closed ? closed->kind : HKPD_KEY_DATA, closed ? closed->language : 0);
    }
}

static void note_outcome(hkpd_pdu *p, const answer *back)
{
    hkpd_key *key = hkpd_key_of(p->call.record->handle);

    if (perf_call_may_learn(&p->call) && key && hkpd_opnum(p) == WINREG_QUERY_VALUE) {
        key->too_small_name = back->status == STATUS_MORE_DATA ? p->record->name : NULL;
        key->too_small_frame = p->call.record->request_frame;
    }
}

/* --- Neither data nor titles ----------------------------------------------------------------------------------- */

static void describe_more_data(hkpd_pdu *p, const answer *back)
{
    uint32_t room = p->record->room;

    if (back->value.size > room) {
        perf_call_about(&p->call, "needs %s", perf_counted(hkpd_pool(p), back->value.size, "byte"));
    } else if (room > 0) {
        perf_call_about(&p->call, "more than %s", perf_counted(hkpd_pool(p), room, "byte"));
    } else {
        perf_call_about(&p->call, "more data");
    }
}

/* Success, but nothing that the key can hold. Without room for data that is the answer to a size probe. */
static void describe_success(hkpd_pdu *p, const answer *back)
{
    const perf_handle *handle = hkpd_known_handle(p);
    perf_report report;

    perf_report_init(&report, p->call.pinfo, &p->call.fields->expert);
    if (back->value.data_size > 0) {
        if (hkpd_key_of(handle)->kind == HKPD_KEY_DATA) {
            perf_found(&report, p->item, FINDING_NOT_PERFORMANCE_DATA,
                       "The call succeeded, but its %u bytes are no PERF_DATA_BLOCK", back->value.data_size);
            perf_call_about(&p->call, "no PERF_DATA_BLOCK");
        }
    } else if (p->record->room > 0) {
        perf_found(&report, p->item, FINDING_NO_DATA, "The call succeeded with room for %u bytes, but there is no data",
                   p->record->room);
        perf_call_about(&p->call, "no data");
    } else if (back->value.size > 0) {
        perf_call_about(&p->call, "needs %s", perf_counted(hkpd_pool(p), back->value.size, "byte"));
    }
}

/* An answer without data of ours: the stock function shows it. */
static int other_answer(hkpd_pdu *p, const answer *back)
{
    if (hkpd_is_shown(hkpd_known_handle(p))) {
        hkpd_show_question(p, -1);
        if (!p->call.ndr.reader.failed && back->status == STATUS_MORE_DATA) {
            describe_more_data(p, back);
        } else if (!p->call.ndr.reader.failed && back->status == STATUS_SUCCESS) {
            describe_success(p, back);
        }
    }
    return hkpd_end_with_stock(p);
}

/* --- Performance data ------------------------------------------------------------------------------------------ */

static void keep_sample(hkpd_pdu *p, tvbuff_t *tvb)
{
    uint32_t size = tvb_captured_length(tvb);
    uint32_t count;
    const perf_object_place *places = hkpd_object_places(tvb, hkpd_pool(p), &count);

    p->record->sample = perf_sample_keep(p->call.record->handle, tvb_get_ptr(tvb, 0, (int)size), size, p->call.event,
                                         p->call.pinfo->num);
    perf_sample_holds(p->record->sample, places, count);
}

static void describe_block(hkpd_pdu *p, const answer *back, hkpd_context *context)
{
    const perf_block_summary *summary = &context->summary;
    wmem_allocator_t *pool = hkpd_pool(p);

    if (!p->call.has_column) {
        return;
    }
    const char *size = perf_counted(pool, back->value.data_size, "byte");
    const char *objects = perf_counted(pool, summary->objects, "object");
    readings_answer block = hkpd_block_answer(back->value.tvb, context);
    value_describe(&p->call, &context->first, &block, summary->values, objects, size);
}

static void block_answer(hkpd_pdu *p, const answer *back, bool learn)
{
    hkpd_context context;

    init_context(p, &context, &p->call.report);
    bool sound = hkpd_check_block(back->value.tvb, &context);
    if (learn && sound && p->call.record->handle) {
        keep_sample(p, back->value.tvb);
    }
    context.sample = p->call.record->response_frame == p->call.pinfo->num ? p->record->sample : NULL;
    hkpd_dissect_block(own_data_source(p->call.pinfo, back->value.tvb, "Performance data"), p->hkpd, &context);
    if (back->status == STATUS_SUCCESS) {
        p->answer = hkpd_block_answer(back->value.tvb, &context);
        p->answer.handle = p->call.record->handle;
        p->tapped.answer = &p->answer;
    }
    describe_block(p, back, &context);
}

/* --- Titles ---------------------------------------------------------------------------------------------------- */

typedef struct {
    const perf_call *call;
    perf_fact_kind kind;
    uint32_t language;
} title_lesson;

/* Title 1 is not one: its text is the highest index. */
static void learn_title(uint32_t title_index, const char *text, void *user)
{
    title_lesson *lesson = user;
    const perf_call *call = lesson->call;
    perf_subject subject = {{0}, title_index};
    perf_fact fact;

    if (title_index > 1 && *text) {
        memset(&fact, 0, sizeof fact);
        fact.name = text;
        fact.lcid = lesson->kind == PERF_FACT_ENGLISH ? 0 : lesson->language;
        perf_learn(call->server, &subject, lesson->kind, &fact, call->event, call->pinfo->num);
    }
}

/* The value name tells the language, else the key does. */
static void learn_titles(hkpd_pdu *p, const answer *back)
{
    const hkpd_key *key = hkpd_key_of(p->call.record->handle);
    title_lesson lesson = {&p->call, PERF_FACT_LOCAL, 0};

    if (hkpd_titles_of(back->name, &lesson.language) != HKPD_TITLES_NAMES ||
        !hkpd_check_titles(back->value.tvb, hkpd_pool(p), NULL, NULL)) {
        return;
    }
    if (lesson.language == 0 && key) {
        lesson.language = key->kind == HKPD_KEY_TEXT ? LANGUAGE_ENGLISH : key->language;
    }
    if ((lesson.language & LANGUAGE_MASK) == LANGUAGE_ENGLISH) {
        lesson.kind = PERF_FACT_ENGLISH;
    }
    hkpd_check_titles(back->value.tvb, hkpd_pool(p), learn_title, &lesson);
}

static void titles_answer(hkpd_pdu *p, const answer *back, bool learn)
{
    hkpd_context context;

    init_context(p, &context, &p->call.report);
    if (learn) {
        learn_titles(p, back);
    }
    hkpd_dissect_titles(own_data_source(p->call.pinfo, back->value.tvb, "Performance data"), p->hkpd, &context);
    perf_call_info(&p->call, "%s, %s", perf_counted(hkpd_pool(p), context.titles, "title"),
                   perf_counted(hkpd_pool(p), back->value.data_size, "byte"));
}

/* --- The response ---------------------------------------------------------------------------------------------- */

/* Without room for data, success is the answer to a size probe. */
static void tell_sizes(hkpd_pdu *p, const answer *back)
{
    perf_tapped *tapped = &p->tapped;

    tapped->has_sizes = !p->call.ndr.reader.failed;
    tapped->rtn_size = back->value.size;
    tapped->out_size = back->status == STATUS_SUCCESS ? back->value.data_size : 0;
    tapped->is_probe = tapped->has_sizes && tapped->rtn_size > 0 && tapped->out_size == 0 &&
                       (back->status == STATUS_MORE_DATA || (back->status == STATUS_SUCCESS && p->record->room == 0));
}

static void check_length(hkpd_pdu *p, const answer *back)
{
    const hkpd_value_parameters *value = &back->value;

    if (!p->call.ndr.reader.failed && value->has_length && value->length != value->data_size) {
        perf_found(&p->call.report, value->length_item, FINDING_LENGTH,
                   "*lpcbLen is %u, but %u bytes of data are there", value->length, value->data_size);
    }
}

int hkpd_value_response(hkpd_pdu *p)
{
    answer back;

    read_answer(p, &back, 0);
    back.kind = kind_of(p, &back);
    find_handle(p, &back);
    note_outcome(p, &back);
    tell_sizes(p, &back);
    if (back.kind == ANSWER_OTHER) {
        return other_answer(p, &back);
    }
    bool learn = perf_call_may_learn(&p->call) && back.status == STATUS_SUCCESS;
    answer_kind kind = back.kind;
    hkpd_show_question(p, -1);
    perf_call_aloud(&p->call);
    read_answer(p, &back, hkpd_value_name_field());
    perf_call_report_status(&p->call, back.status);
    check_length(p, &back);
    if (kind == ANSWER_BLOCK) {
        block_answer(p, &back, learn);
    } else {
        titles_answer(p, &back, learn);
    }
    return hkpd_end(p);
}
