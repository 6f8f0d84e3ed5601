/* books.c
 * What was asked for and what came of it: refused, failed, damaged, empty, without a type, or never delivered.
 *
 * Each answer is read once, as its values are counted.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/talks.h"

#include "text/text.h"

/* Different things that are missing. */
#define MOST_MISSING 2000

/* Instances come and go: what was gone more often is no fault. */
#define MOST_ABSENCES 2

/* --- Keeping --------------------------------------------------------------------------------------------------- */

static uint32_t frame_at(const verdict_shown *shown, unsigned number)
{
    return *(const uint32_t *)wmem_array_index(shown->frames, number);
}

/* Counts a frame in a book of the talk. True if it is the first: then the caller says what it is. */
static bool enter(verdict_talk *talk, book_kind kind, packet_info *pinfo)
{
    book *in = &talk->books[kind];
    unsigned count = verdict_count_shown(&in->shown);

    in->shown.pool = talk->memory;
    if (count == 0 || frame_at(&in->shown, count - 1) != pinfo->num) {
        verdict_show(&in->shown, pinfo->num, nstime_to_sec(&pinfo->abs_ts));
    }
    return in->things++ == 0;
}

void verdict_miss(verdict *v, const verdict_missing *missing)
{
    char *key = wmem_strdup_printf(v->memory, "%u %u %d%d %s", (unsigned)missing->kind, missing->status,
                                   missing->is_fault, missing->does_not_seal, missing->path);
    verdict_missing *known = wmem_map_lookup(v->by_error, key);

    if (known == NULL && v->missing->len < MOST_MISSING) {
        known = wmem_memdup(v->memory, missing, sizeof *missing);
        known->path = wmem_strdup(v->memory, missing->path);
        wmem_map_insert(v->by_error, g_steal_pointer(&key), known);
        g_ptr_array_add(v->missing, known);
    }
    *(known ? &known->times : &v->more_missing) += 1;
    wmem_free(v->memory, key);
}

static void book_missing(verdict *v, verdict_talk *talk, book_kind kind, packet_info *pinfo, const char *path,
                         uint32_t status)
{
    book *in = &talk->books[kind];

    if (enter(talk, kind, pinfo)) {
        in->first = wmem_strdup(talk->memory, path);
        in->status = status;
    }
    in->kinds += pinfo->num == in->shown.first;
    path = tapped_placed(pinfo->pool, talk->handle, path);
    verdict_miss(v, &(verdict_missing){.kind = kind, .status = status, .frame = pinfo->num, .path = path});
}

static void count_refused(verdict *v, verdict_talk *talk, packet_info *pinfo, const tapped_call *tapped)
{
    tapped_refusals at = {0};
    const char *path;

    while ((path = tapped_next_refused(pinfo->pool, tapped, &at)) != NULL) {
        path = text_marked(pinfo->pool, path, at.assumed);
        book_missing(v, talk, BOOK_REFUSED, pinfo, path, at.status);
    }
}

static const char *path_of(value_stream *stream)
{
    const char *path = value_stream_path(stream);

    return path ? text_marked(stream->pool, path, value_stream_is_assumed(stream)) : "not known which";
}

static void book_value(verdict_talk *talk, book_kind kind, packet_info *pinfo, value_stream *stream)
{
    if (enter(talk, kind, pinfo)) {
        talk->books[kind].first =
            wmem_strdup(talk->memory, kind == BOOK_ASSUMED ? value_stream_path(stream) : path_of(stream));
    }
}

/* True if it went backwards. */
static bool count_value(verdict_talk *talk, packet_info *pinfo, value_stream *stream)
{
    const perf_result result =
        stream->at.is_number ? value_stream_result(stream) : (perf_result){.none = PERF_NO_RESULT_OK};
    unsigned marks = left_out_marks(stream, &result);

    if (value_stream_is_assumed(stream) &&
        value_stream_assumed_reason(stream) != ASSUMED_RESPONSE) { /* damage is said of the answer */
        book_value(talk, BOOK_ASSUMED, pinfo, stream);
    }
    if (marks & LEFT_OUT_UNTYPED) {
        book_value(talk, BOOK_UNTYPED, pinfo, stream);
    }
    return !value_stream_is_assumed(stream) && perf_is_reset(result.none);
}

/* How the values of an instance, or of an object without any, went on. */
typedef struct {
    const char *name;
    uint32_t on, back;
} course;

static course *course_of(wmem_array_t *courses, wmem_map_t *places, value_stream *stream)
{
    const char *set = value_stream_set(stream), *instance = value_stream_instance(stream);
    course first = {.name = instance ? wmem_strconcat(stream->pool, "Instance ", set, "(", instance, ")", NULL)
                                     : wmem_strconcat(stream->pool, "Object ", set, NULL)};
    unsigned place = GPOINTER_TO_UINT(wmem_map_lookup(places, first.name));

    if (place == 0) {
        wmem_array_append_one(courses, first);
        place = wmem_array_get_count(courses);
        wmem_map_insert(places, first.name, GUINT_TO_POINTER(place));
    }
    return wmem_array_index(courses, place - 1);
}

/* One counter that went backwards while others of its instance went on is none that began again: Windows sets single ones back. */
static void count_resets(verdict_talk *talk, packet_info *pinfo, const counter_response *answer)
{
    value_stream *stream = value_stream_begin(pinfo->pool, answer);
    wmem_array_t *courses = wmem_array_new(pinfo->pool, sizeof(course));
    wmem_map_t *places = wmem_map_new(pinfo->pool, wmem_str_hash, g_str_equal);

    while (value_stream_next(stream)) {
        const perf_result result =
            stream->at.is_number ? value_stream_result(stream) : (perf_result){.none = PERF_NO_RESULT_NO_FORMULA};
        bool is_on = result.none == PERF_NO_RESULT_OK && stream->operands.is_known && stream->operands.has_previous &&
                     stream->operands.current.value.value != stream->operands.previous.value.value;
        if ((is_on || (perf_is_reset(result.none) && !value_stream_is_assumed(stream))) && value_stream_path(stream)) {
            course *c = course_of(courses, places, stream);
            *(is_on ? &c->on : &c->back) += 1;
        }
    }
    for (unsigned i = 0; i < wmem_array_get_count(courses); i++) {
        const course *c = wmem_array_index(courses, i);
        if (c->on == 0 && enter(talk, BOOK_RESET, pinfo)) {
            talk->books[BOOK_RESET].first = wmem_strdup(talk->memory, c->name);
        }
        talk->books[BOOK_RESET].things += c->on == 0 ? c->back - 1 : 0;
    }
}

static void count_objects(verdict *v, verdict_talk *talk, packet_info *pinfo, const tapped_call *tapped)
{
    for (uint32_t i = 0; i < tapped->num_objects; i++) {
        if (!tapped->objects[i].is_there) {
            book_missing(v, talk, BOOK_LACKING, pinfo,
                         tapped_object_name(pinfo->pool, tapped->server, tapped->objects[i].title), 0);
        }
    }
}

/* --- An answer ------------------------------------------------------------------------------------------------- */

static void count_values(verdict *v, verdict_talk *talk, packet_info *pinfo, const tapped_call *tapped)
{
    value_stream *stream = value_stream_begin(pinfo->pool, tapped->answer);
    const counter_value *at;
    bool is_empty = true, has_reset = false;

    stream->with_failed = stream->with_empty = true;
    while ((at = value_stream_next(stream)) != NULL) {
        is_empty &= at->is_empty;
        if (at->is_empty && value_stream_path(stream)) {
            book_missing(v, talk, BOOK_LACKING, pinfo, path_of(stream), 0);
        } else if (at->is_failed) {
            book_missing(v, talk, BOOK_BLOCK_FAILED, pinfo, path_of(stream), stream->group->status);
        } else if (!at->is_empty) {
            has_reset |= count_value(talk, pinfo, stream);
        }
    }
    if (has_reset) {
        count_resets(talk, pinfo, tapped->answer);
    }
    if (is_empty && !tapped->is_damaged) {
        enter(talk, BOOK_EMPTY, pinfo);
    }
}

void verdict_books_count(verdict *v, verdict_talk *talk, packet_info *pinfo, const tapped_call *tapped)
{
    const counter_response *answer = tapped->answer;
    bool is_sample = answer && answer->sample && tapped->handle;

    count_refused(v, talk, pinfo, tapped);
    bool is_cut = pinfo->fd->cap_len < pinfo->fd->pkt_len;
    bool is_damaged = answer ? answer->sample == NULL || tapped->is_damaged || tapped->has_contradictions
                             : tapped->is_damaged && tapped->is_response && tapped->brings_data;
    if (!is_cut && is_damaged && tapped->handle) {
        enter(talk, BOOK_DAMAGED, pinfo);
    } else if (tapped->is_response && tapped->is_damaged && tapped->kind && strcmp(tapped->kind, "titles") == 0) {
        enter(talk, BOOK_NAMES, pinfo);
    } else if (tapped->is_response && talk->samples > 0 && tapped->handle && tapped->brings_data && !answer &&
               !is_cut && !tapped->has_failed && !tapped->is_probe) { /* that there never was a sample is said */
        enter(talk, BOOK_EMPTY, pinfo);
    }
    if (is_sample && v->counts_values) {
        count_values(v, talk, pinfo, tapped);
        count_objects(v, talk, pinfo, tapped);
    }
}

/* --- Findings -------------------------------------------------------------------------------------------------- */

/* $F is the first of them without its machine. Between both parts of the sentence stands its error, or how many others are lacking. */
static const struct {
    verdict_kind kind;
    verdict_party party;
    const char *text, *rest;
} book_rows[NUM_BOOKS] = {
    [BOOK_LACKING] = {VERDICT_NOT_DELIVERED, PARTY_SERVER, "$S does not deliver $F to $C", ": since $T"},
    [BOOK_BLOCK_FAILED] = {VERDICT_BLOCK_FAILED, PARTY_SERVER, "$S answers $C with ", ", $F$N: since $T"},
    [BOOK_REFUSED] = {VERDICT_REFUSED, PARTY_SERVER, "$S refuses $C $F (", "): since $T"},
    [BOOK_RESET] = {VERDICT_RESET, PARTY_SERVER, "$F of $S began again$N: since $T", NULL},
    [BOOK_ASSUMED] = {VERDICT_ASSUMED, PARTY_CAPTURE,
                      "The capture does not prove whose values of $S to $C are (assumed): since $T", NULL},
    [BOOK_UNTYPED] = {VERDICT_UNTYPED, PARTY_CAPTURE, "The capture lacks the types of values of $S to $C: since $T",
                      NULL},
    [BOOK_EMPTY] = {VERDICT_EMPTY, PARTY_SERVER, "$S gives $C samples without a value$N: since $T", NULL},
    [BOOK_DAMAGED] = {VERDICT_DAMAGED, PARTY_SERVER, "$S sends $C answers that do not add up, damaged$N: since $T",
                      NULL},
    [BOOK_NAMES] = {VERDICT_NAMES, PARTY_SERVER, "$S sends $C a list of names that does not add up$N: since $T", NULL},
};

/* What all talks of the monitor have of it. */
static book sum_of(const verdict_monitor *monitor, book_kind kind)
{
    book sum = {.shown = {.pool = monitor->pool}};

    for (const verdict_talk *talk = monitor->talks; talk; talk = talk->next) {
        const book *in = &talk->books[kind];
        sum.kinds = MAX(sum.kinds, in->kinds);
        sum.status = sum.first ? sum.status : in->status;
        sum.first = sum.first ? sum.first : in->first;
        sum.things += in->things;
        for (unsigned n = 0; n < verdict_count_shown(&in->shown); n++) {
            verdict_show(&sum.shown, frame_at(&in->shown, n), in->shown.since);
        }
    }
    return sum;
}

static void find_book(verdict_monitor *monitor, book_kind kind)
{
    const char *rest = book_rows[kind].rest, *between = "";
    book sum = sum_of(monitor, kind);

    if (kind == BOOK_LACKING && sum.kinds > 1) {
        between = wmem_strdup_printf(monitor->pool, " (and %u more)", sum.kinds - 1);
    } else if (kind != BOOK_LACKING && rest) {
        between = verdict_error(monitor->pool, false, sum.status, false);
    }
    if (sum.first) {
        const char *error = sum.status > 0 ? verdict_error(monitor->pool, false, sum.status, true) : NULL;
        const char *all = sum.things > 1 ? wmem_strdup_printf(monitor->pool, "%" PRIu64 " in all, ", sum.things) : "";
        sum.shown.more = wmem_strconcat(monitor->pool, all, "first ", sum.first, error ? ": " : NULL, error, NULL);
    }
    const char *path = sum.first && g_str_has_prefix(sum.first, "\\\\") ? strchr(sum.first + 2, '\\') : NULL;
    sum.shown.which = path ? path : sum.first;
    verdict_find(monitor, book_rows[kind].kind, book_rows[kind].party, &sum.shown, "%s%s%s", book_rows[kind].text,
                 between, rest ? rest : "");
}

/* A queue, for instance, is empty now and then. Objects do not come and go. */
static bool comes_and_goes(const verdict_monitor *monitor)
{
    const book sum = sum_of(monitor, BOOK_LACKING);
    unsigned absences = 0, at = 0, count = verdict_count_shown(&sum.shown);
    bool is_absent = false;

    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        if (call->outcome != CALL_SAMPLE) {
            continue;
        }
        while (at < count && frame_at(&sum.shown, at) < call->frame) {
            at++;
        }
        bool lacks = at < count && frame_at(&sum.shown, at) == call->frame;
        absences += lacks && !is_absent;
        is_absent = lacks;
    }
    return absences > MOST_ABSENCES && !monitor->talks->is_hkpd;
}

void verdict_books_find(verdict_monitor *monitor)
{
    for (unsigned i = 0; i < NUM_BOOKS; i++) {
        bool is_said =
            (i == BOOK_LACKING && comes_and_goes(monitor)) ||
            (i == BOOK_EMPTY && (verdict_has(monitor, VERDICT_REFUSED) || verdict_has(monitor, VERDICT_NOT_DELIVERED)));
        if (!is_said) {
            find_book(monitor, (book_kind)i);
        }
    }
}
