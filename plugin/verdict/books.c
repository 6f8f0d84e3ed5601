/* books.c
 * What was asked for and what came of it: refused, failed, damaged, empty, without a type, or never delivered.
 *
 * Each answer is read once, as its values are counted.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/talks.h"

#include "text/text.h"

/* Instances come and go: what was gone more often is no fault. */
#define MOST_ABSENCES 2

/* --- Keeping --------------------------------------------------------------------------------------------------- */

static uint32_t frame_at(const verdict_evidence *shown, unsigned number)
{
    return *(const uint32_t *)wmem_array_index(shown->frames, number);
}

/* Counts a frame in a book of the talk. True if it is the first: then the caller says what it is. */
static bool enter(verdict_talk *talk, book_kind kind, packet_info *pinfo)
{
    book *in = &talk->books[kind];
    unsigned count = evidence_count(&in->shown);

    in->shown.pool = talk->memory;
    if (count == 0 || frame_at(&in->shown, count - 1) != pinfo->num) {
        evidence_add(&in->shown, pinfo->num, nstime_to_sec(&pinfo->abs_ts));
    }
    return in->things++ == 0;
}

static void book_missing(verdict_talk *talk, book_kind kind, packet_info *pinfo, const char *path, uint32_t status)
{
    book *in = &talk->books[kind];

    if (enter(talk, kind, pinfo)) {
        in->first = wmem_strdup(talk->memory, path);
        in->status = status;
    }
    in->kinds += pinfo->num == in->shown.first;
}

/* Which identifiers the server accepted last, and which it refused: what it accepts later is not refused. */
static void count_identifiers(verdict *v, verdict_talk *talk, const packet_info *pinfo, const tapped_call *tapped)
{
    for (uint32_t i = 0; tapped->adds && tapped->is_response && i < tapped->num_identifiers; i++) {
        const perf_identifier *identifier = &tapped->identifiers[i];
        uint64_t key = tapped_identifier_key(tapped, i);
        wmem_map_t *map = identifier->status == 0 ? v->accepted : talk->refused;
        wmem_map_insert(map, wmem_memdup(v->memory, &key, sizeof key), GUINT_TO_POINTER(pinfo->num));
        talk->asked_to_add += talk->samples == 0 ? (unsigned)(key >> 32) : 0;
    }
}

static void count_refused(verdict *v, verdict_talk *talk, packet_info *pinfo, const tapped_call *tapped)
{
    tapped_refusals at = {0};
    const char *path;

    count_identifiers(v, talk, pinfo, tapped);
    while ((path = tapped_next_refused(pinfo->pool, tapped, &at)) != NULL) {
        path = text_marked(pinfo->pool, path, at.assumed);
        book_missing(talk, BOOK_REFUSED, pinfo, path, at.status);
    }
}

typedef struct {
    const verdict *v;
    bool is_any; /* refused, and not accepted later */
} refused_search;

static void find_refused(void *key, void *frame, void *data)
{
    refused_search *search = data;

    search->is_any |= GPOINTER_TO_UINT(wmem_map_lookup(search->v->accepted, key)) <= GPOINTER_TO_UINT(frame);
}

/* All that was refused was accepted later. */
static bool was_accepted(const verdict *v, const verdict_monitor *monitor)
{
    refused_search search = {v, false};

    for (const verdict_talk *talk = monitor->talks; talk; talk = talk->next) {
        wmem_map_foreach(talk->refused, find_refused, &search);
    }
    return !search.is_any;
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
    unsigned marks = value_omissions(stream, &result);

    if (value_stream_is_assumed(stream) &&
        value_stream_assumed_reason(stream) != ASSUMED_RESPONSE) { /* damage is said of the answer */
        book_value(talk, BOOK_ASSUMED, pinfo, stream);
    }
    if (marks & 1U << OMITTED_UNTYPED) {
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

static char *object_key(wmem_allocator_t *pool, const verdict_pair *pair, const char *name)
{
    return wmem_strdup_printf(pool, "%s %s", pair->server, name);
}

static void count_objects(verdict *v, verdict_talk *talk, packet_info *pinfo, const tapped_call *tapped)
{
    const perf_table *table = tapped->answer->table;

    for (uint32_t i = 0; i < tapped->num_objects; i++) {
        if (!tapped->objects[i].is_there) {
            book_missing(talk, BOOK_LACKING, pinfo,
                         tapped_object_name(pinfo->pool, tapped->server, tapped->objects[i].title), 0);
        }
    }
    for (uint32_t i = 0; talk->is_hkpd && talk->pair && i < table->num_groups; i++) {
        const char *name = tapped_object_name(pinfo->pool, tapped->server, table->groups[i].key);
        if (!wmem_map_contains(v->delivered, object_key(pinfo->pool, talk->pair, name))) {
            wmem_map_insert(v->delivered, object_key(v->memory, talk->pair, name), talk);
        }
    }
}

/* --- An answer ------------------------------------------------------------------------------------------------- */

/* A set that has no instances in the first sample of its query has none now: that is no failure. */
static bool has_no_instances(verdict_talk *talk, const char *path)
{
    if (talk->samples <= 1) {
        wmem_map_insert(talk->without_instances, wmem_strdup(talk->memory, path), talk);
    }
    return wmem_map_contains(talk->without_instances, path);
}

static void count_values(verdict_talk *talk, packet_info *pinfo, const tapped_call *tapped)
{
    value_stream *stream = value_stream_begin(pinfo->pool, tapped->answer);
    const counter_value *at;
    bool has_reset = false;

    stream->with_failed = stream->with_empty = true;
    while ((at = value_stream_next(stream)) != NULL) {
        if (at->is_empty && value_stream_path(stream)) {
            if (has_no_instances(talk, value_stream_path(stream))) {
                continue;
            }
            book_missing(talk, BOOK_LACKING, pinfo, path_of(stream), 0);
        } else if (at->is_failed) {
            book_missing(talk, BOOK_BLOCK_FAILED, pinfo, path_of(stream), stream->group->status);
        } else if (!at->is_empty) {
            has_reset |= count_value(talk, pinfo, stream);
        }
    }
    if (has_reset) {
        count_resets(talk, pinfo, tapped->answer);
    }
}

void verdict_books_count(verdict *v, verdict_talk *talk, packet_info *pinfo, const tapped_call *tapped)
{
    const counter_response *answer = tapped->answer;
    bool is_sample = answer && answer->sample && tapped->handle;

    enum { FILE_NOT_FOUND = 2 };
    bool is_titles = tapped->is_response && tapped->kind && strcmp(tapped->kind, "titles") == 0;

    count_refused(v, talk, pinfo, tapped);
    bool is_cut = pinfo->fd->cap_len < pinfo->fd->pkt_len;
    bool is_damaged = answer ? answer->sample == NULL || tapped->is_damaged || tapped->has_contradictions
                             : tapped->is_damaged && tapped->is_response && tapped->brings_data;
    if (!is_cut && is_damaged && tapped->handle) {
        enter(talk, BOOK_DAMAGED, pinfo);
    } else if (is_titles && (tapped->is_damaged || tapped->status == FILE_NOT_FOUND)) {
        enter(talk, BOOK_NAMES, pinfo);
    }
    talk->has_titles |= is_titles && tapped->status == 0 && !tapped->is_damaged;
    if (is_sample && v->counts_values) {
        count_values(talk, pinfo, tapped);
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
    [BOOK_LACKING] = {VERDICT_NOT_DELIVERED, PARTY_SERVER, "$S does not deliver $F to $C", ": $T"},
    [BOOK_BLOCK_FAILED] = {VERDICT_BLOCK_FAILED, PARTY_SERVER, "$S returns ", " for $F to $C$N: $T"},
    [BOOK_REFUSED] = {VERDICT_REFUSED, PARTY_SERVER, "$S refused $F for $C (", "): $T"},
    [BOOK_RESET] = {VERDICT_RESET, PARTY_SERVER, "$F of $S began again$N: $T", NULL},
    [BOOK_ASSUMED] = {VERDICT_ASSUMED, PARTY_CAPTURE,
                      "Values from $S to $C may belong to another counter or instance (assumed): $T", NULL},
    [BOOK_DAMAGED] = {VERDICT_DAMAGED, PARTY_SERVER, "$S sent malformed counter data to $C$N: $T", NULL},
    [BOOK_NAMES] = {VERDICT_NAMES_FAILED, PARTY_SERVER, "$S has no good list of names for $C$N: $T", NULL},
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
        for (unsigned n = 0; n < evidence_count(&in->shown); n++) {
            uint32_t frame = frame_at(&in->shown, n);
            evidence_add(&sum.shown, frame, frame == in->shown.last ? in->shown.until : in->shown.since);
        }
    }
    return sum;
}

/* Returns a question where another client, or account, gets each time what is lacking; "" if none does. */
static const char *ask_for_rights(const verdict *v, const verdict_monitor *monitor, const char *name)
{
    const verdict_talk *own = monitor->talks, *other = NULL;

    if (own->pair) {
        other = wmem_map_lookup(v->delivered, object_key(monitor->pool, own->pair, name));
    }
    bool is_other = other && (other->pair != own->pair || g_strcmp0(other->account, own->account) != 0) &&
                    other->books[BOOK_LACKING].things == 0;
    return is_other ? wmem_strdup_printf(monitor->pool, "; %s gets it: may this account read it?", other->client) : "";
}

static void find_book(const verdict *v, verdict_monitor *monitor, book_kind kind)
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
        const char *rights = kind == BOOK_LACKING ? ask_for_rights(v, monitor, sum.first) : "";
        sum.shown.more =
            wmem_strconcat(monitor->pool, all, "first ", sum.first, rights, error ? ": " : NULL, error, NULL);
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
    unsigned absences = 0, at = 0, count = evidence_count(&sum.shown);
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

/* A list of names was read: that another failed, or is in another language, does no harm. */
static bool has_titles(const verdict_monitor *monitor)
{
    bool is_any = false;

    for (const verdict_talk *talk = monitor->talks; talk; talk = talk->next) {
        is_any |= talk->has_titles;
    }
    return is_any;
}

void verdict_books_find(const verdict *v, verdict_monitor *monitor)
{
    for (unsigned i = 0; i < NUM_BOOKS; i++) {
        bool is_over = (i == BOOK_LACKING && comes_and_goes(monitor)) ||
                       (i == BOOK_REFUSED && was_accepted(v, monitor)) || (i == BOOK_NAMES && has_titles(monitor));
        if (book_rows[i].text && !is_over) {
            find_book(v, monitor, (book_kind)i);
        }
    }
}
