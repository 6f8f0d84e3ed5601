/* books.c
 * What was asked for and what came of it: refused, failed, cut, damaged, empty, without a type, or never delivered.
 *
 * Each answer is read once, as its values are counted.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/talks.h"

#include "text/value-strings.h"

/* Things that lack of one talk. */
#define MOST_LACKING 10000

void verdict_books_free(verdict_talk *talk)
{
    for (unsigned i = 0; i < NUM_BOOKS; i++) {
        g_free(talk->books[i].first);
        verdict_forget(&talk->books[i].shown);
    }
    if (talk->lacking) {
        g_hash_table_destroy(talk->lacking);
    }
}

/* --- Keeping --------------------------------------------------------------------------------------------------- */

bool verdict_book(verdict_talk *talk, book_kind kind, packet_info *pinfo)
{
    book *in = &talk->books[kind];

    unsigned count = verdict_count_shown(&in->shown);
    if (count == 0 || g_array_index(in->shown.frames, uint32_t, count - 1) != pinfo->num) {
        verdict_show(&in->shown, pinfo->num, nstime_to_sec(&pinfo->abs_ts));
    }
    return in->things++ == 0;
}

static void count_refused(verdict_talk *talk, packet_info *pinfo, const tapped_call *tapped)
{
    uint64_t left = tapped_paths_size(tapped);

    for (uint32_t i = 0; i < tapped->num_identifiers; i++) {
        if (!tapped_is_refused(tapped, i)) {
            continue;
        }
        uint32_t status = tapped->identifiers[i].status;
        if (verdict_book(talk, BOOK_REFUSED, pinfo)) {
            talk->books[BOOK_REFUSED].first = g_strdup(tapped_identifier_path(pinfo->pool, tapped, i, &left));
            talk->books[BOOK_REFUSED].status = status;
        }
        talk->refusals++;
    }
}

static const char *path_of(readings *r)
{
    const char *path = readings_path(r);

    return path == NULL          ? "not known which"
           : readings_assumed(r) ? wmem_strconcat(r->pool, path, " (assumed)", NULL)
                                 : path;
}

static void book_value(verdict_talk *talk, book_kind kind, packet_info *pinfo, readings *r)
{
    if (verdict_book(talk, kind, pinfo)) {
        talk->books[kind].first = g_strdup(kind == BOOK_ASSUMED ? readings_path(r) : path_of(r));
    }
}

/* True if it went backwards. */
static bool count_value(verdict_talk *talk, packet_info *pinfo, readings *r)
{
    const perf_result result = r->at.is_number ? readings_result(r) : (perf_result){.none = PERF_NONE_OK};
    unsigned marks = left_out_marks(r, &result);

    if (marks & LEFT_OUT_ASSUMED) {
        book_value(talk, BOOK_ASSUMED, pinfo, r);
    }
    if (marks & LEFT_OUT_UNTYPED) {
        book_value(talk, BOOK_UNTYPED, pinfo, r);
    }
    return !(marks & LEFT_OUT_ASSUMED) && perf_is_reset(result.none);
}

static void count_reset(verdict_talk *talk, packet_info *pinfo, const readings_answer *answer)
{
    const readings_reset reset = readings_find_reset(pinfo->pool, answer);
    book *in = &talk->books[BOOK_RESET];

    if (reset.values > 0) {
        if (verdict_book(talk, BOOK_RESET, pinfo)) {
            in->first = g_strdup(reset.what);
        }
        in->things += reset.values - 1;
    }
}

static void book_lacking(verdict_talk *talk, packet_info *pinfo, const char *path)
{
    if (verdict_book(talk, BOOK_LACKING, pinfo)) {
        talk->books[BOOK_LACKING].first = g_strdup(path);
        talk->lacking = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL);
    }
    if (g_hash_table_size(talk->lacking) < MOST_LACKING && !g_hash_table_contains(talk->lacking, path)) {
        g_hash_table_add(talk->lacking, g_strdup(path));
    }
}

static void count_objects(verdict_talk *talk, packet_info *pinfo, const tapped_call *tapped)
{
    for (uint32_t i = 0; i < tapped->num_objects; i++) {
        if (!tapped->objects[i].is_there) {
            book_lacking(talk, pinfo,
                         tapped_object_name(pinfo->pool, tapped->server, tapped->objects[i].title, tapped->event));
        }
    }
}

/* --- An answer ------------------------------------------------------------------------------------------------- */

static void count_values(verdict_talk *talk, packet_info *pinfo, const tapped_call *tapped)
{
    readings *r = readings_begin_for_all(pinfo->pool, tapped->answer);
    const reading *at;
    bool is_empty = true, has_reset = false;

    r->with_refusals = r->with_empty = true;
    while ((at = readings_next(r)) != NULL) {
        is_empty &= at->is_empty;
        if (at->is_empty && readings_path(r)) {
            book_lacking(talk, pinfo, path_of(r));
        } else if (at->is_refused && verdict_book(talk, BOOK_BLOCK_FAILED, pinfo)) {
            talk->books[BOOK_BLOCK_FAILED].first = g_strdup(path_of(r));
            talk->books[BOOK_BLOCK_FAILED].status = r->status;
        }
        if (!at->is_empty && !at->is_refused) {
            has_reset |= count_value(talk, pinfo, r);
        }
    }
    if (has_reset) {
        count_reset(talk, pinfo, tapped->answer);
    }
    if (is_empty && !tapped->is_damaged) {
        verdict_book(talk, BOOK_EMPTY, pinfo);
    }
}

void verdict_books_count(verdict_talk *talk, packet_info *pinfo, const tapped_call *tapped, bool counts_values)
{
    const readings_answer *answer = tapped->answer;
    bool is_sample = answer && answer->sample && tapped->handle;

    count_refused(talk, pinfo, tapped);
    if (answer && tvb_captured_length(answer->tvb) < tvb_reported_length(answer->tvb)) {
        verdict_book(talk, BOOK_CUT, pinfo);
    } else if (answer && (answer->sample == NULL || tapped->is_damaged) && tapped->handle) {
        verdict_book(talk, BOOK_DAMAGED, pinfo);
    } else if (tapped->is_response && tapped->is_damaged && tapped->kind && strcmp(tapped->kind, "titles") == 0) {
        verdict_book(talk, BOOK_NAMES, pinfo);
    }
    if (is_sample && counts_values) {
        count_values(talk, pinfo, tapped);
        count_objects(talk, pinfo, tapped);
    }
}

/* --- Findings -------------------------------------------------------------------------------------------------- */

/* $S is the server, $C the client, $F the first of them, $E its error, $N how many, $M how many others are lacking. */
static const struct {
    verdict_kind kind;
    verdict_party party;
    const char *text;
} book_rows[NUM_BOOKS] = {
    [BOOK_LACKING] = {VERDICT_NOT_DELIVERED, PARTY_SERVER, "$S does not deliver $F, which $C asks for$M"},
    [BOOK_BLOCK_FAILED] = {VERDICT_BLOCK_FAILED, PARTY_SERVER,
                           "$S answers $C with $E instead of values ($N), first $F"},
    [BOOK_REFUSED] = {VERDICT_REFUSED, PARTY_SERVER, "$S refuses $C counters ($N, $E), first $F"},
    [BOOK_RESET] = {VERDICT_RESET, PARTY_SERVER, "$F of $S began again ($N went backwards)"},
    [BOOK_ASSUMED] = {VERDICT_ASSUMED, PARTY_CAPTURE,
                      "The capture does not prove whose values of $S to $C are: $N assumed"},
    [BOOK_UNTYPED] = {VERDICT_UNTYPED, PARTY_CAPTURE,
                      "The capture lacks the types of values of $S to $C: $N without a result"},
    [BOOK_EMPTY] = {VERDICT_EMPTY, PARTY_SERVER, "$S gives $C samples without a value ($N)"},
    [BOOK_DAMAGED] = {VERDICT_DAMAGED, PARTY_SERVER, "$S sends $C answers that do not add up ($N damaged)"},
    [BOOK_NAMES] = {VERDICT_NAMES, PARTY_SERVER, "$S sends $C a list of names that does not add up ($N)"},
};

/* Without the machine, which is said. */
static const char *short_path(const char *path)
{
    const char *rest = path && g_str_has_prefix(path, "\\\\") ? strchr(path + 2, '\\') : NULL;

    return rest ? rest : path ? path : "";
}

static void put_others(GString *line, const verdict_monitor *monitor)
{
    unsigned most = 0;

    for (unsigned i = 0; i < monitor->talks->len; i++) {
        const verdict_talk *talk = g_ptr_array_index(monitor->talks, i);
        most = MAX(most, talk->lacking ? g_hash_table_size(talk->lacking) : 0);
    }
    if (most > 1) {
        g_string_append_printf(line, " (and %u more)", most - 1);
    }
}

static char *put_words(const verdict_monitor *monitor, const char *text, const book *in)
{
    GString *line = g_string_new(NULL);
    char *error = g_strdup(text_win32_error(NULL, in->status));

    for (; *text; text++) {
        if (*text != '$') {
            g_string_append_c(line, *text);
        } else if (*++text == 'N') {
            g_string_append_printf(line, "%" PRIu64, in->things);
        } else if (*text == 'M') {
            put_others(line, monitor);
        } else {
            g_string_append(line, *text == 'S'   ? verdict_server(monitor)
                                  : *text == 'C' ? verdict_first_talk(monitor)->client
                                  : *text == 'E' ? error
                                                 : short_path(in->first));
        }
    }
    g_free(error);
    return g_string_free(line, FALSE);
}

/* What all talks of the monitor have of it. */
static book sum_of(const verdict_monitor *monitor, book_kind kind)
{
    book sum = {.things = 0};

    for (unsigned i = 0; i < monitor->talks->len; i++) {
        const book *in = &((verdict_talk *)g_ptr_array_index(monitor->talks, i))->books[kind];
        sum.status = sum.first ? sum.status : in->status;
        sum.first = sum.first ? sum.first : in->first;
        sum.things += in->things;
        for (unsigned n = 0; n < verdict_count_shown(&in->shown); n++) {
            verdict_show(&sum.shown, g_array_index(in->shown.frames, uint32_t, n), in->shown.since);
        }
    }
    return sum;
}

/* ": ERROR_NO_DATA (no data now)" */
static char *error_text(uint32_t status)
{
    const char *meaning = text_error_meaning(status);

    return g_strdup_printf(*meaning ? ": %s (%s)" : ": %s%s", text_win32_error(NULL, status), meaning);
}

static void find_book(const verdict_monitor *monitor, book_kind kind)
{
    book sum = sum_of(monitor, kind);

    if (sum.things > 0) {
        char *text = put_words(monitor, book_rows[kind].text, &sum);
        char *error = sum.status > 0 ? error_text(sum.status) : g_strdup("");
        sum.shown.more = sum.first ? g_strdup_printf("first %s%s", sum.first, error) : NULL;
        verdict_say(monitor->findings, book_rows[kind].kind, book_rows[kind].party, &sum.shown, "%s: since $T", text);
        g_free(error);
        g_free(text);
    }
}

void verdict_books_find(const verdict_monitor *monitor)
{
    if (verdict_first_talk(monitor)->is_other) {
        return;
    }
    for (unsigned i = 0; i < NUM_BOOKS; i++) {
        bool is_said =
            i == BOOK_CUT ||
            (i == BOOK_EMPTY && (verdict_has(monitor, VERDICT_REFUSED) || verdict_has(monitor, VERDICT_NOT_DELIVERED)));
        if (!is_said) {
            find_book(monitor, (book_kind)i);
        }
    }
}
