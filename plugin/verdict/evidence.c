/* evidence.c
 * Frames that show a finding, and its words.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/evidence.h"

#include "perf/bytes.h"
#include "text/text.h"
#include "text/value-strings.h"

#include <limits.h>

/* Ranges of frames that a filter lists. A finding with more has none. */
#define MOST_LISTED 200

#define VERDICT_ROW(kind, ...) {__VA_ARGS__},
const verdict_row verdict_rows[VERDICT_NUM_KINDS] = {VERDICT_KINDS(VERDICT_ROW)};

const char *const verdict_parties[] = {"client", "server", "network", "capture", "unknown"};

int verdict_finding_compare(const verdict_finding *x, const verdict_finding *y)
{
    /* of kinds that end all samples the later ones are consequences */
    verdict_kind kind = MAX(x->kind, VERDICT_LAST_STOP), other = MAX(y->kind, VERDICT_LAST_STOP);

    return kind != other ? (kind > other) - (kind < other) : (x->since > y->since) - (x->since < y->since);
}

bool verdict_finding_has(const verdict_finding *finding, uint32_t frame)
{
    return bsearch(&frame, finding->frames, finding->count, sizeof frame, perf_compare_u32);
}

void evidence_add(verdict_evidence *evidence, uint32_t frame, double when)
{
    unsigned count = evidence_count(evidence);

    if (count == 0 || frame < evidence->first) {
        evidence->first = frame;
        evidence->since = when;
    }
    if (count == 0 || frame > evidence->last) {
        evidence->last = frame;
        evidence->until = when;
    }
    evidence->frames = evidence->frames ? evidence->frames : wmem_array_new(evidence->pool, sizeof frame);
    wmem_array_append_one(evidence->frames, frame);
}

static double span_begin, span_end;

void verdict_set_span(double begin, double end)
{
    span_begin = begin;
    span_end = end;
}

/* Returns a time (seconds since 1970) in a format of g_date_time_format(); "" if it is beyond all dates. */
static const char *time_text(wmem_allocator_t *pool, double when, bool is_utc, const char *format)
{
    GDateTime *date =
        is_utc ? g_date_time_new_from_unix_utc((int64_t)when) : g_date_time_new_from_unix_local((int64_t)when);
    char *text = date ? g_date_time_format(date, format) : g_strdup("");

    g_clear_pointer(&date, g_date_time_unref);
    const char *kept = wmem_strdup(pool, text);
    g_free(text);
    return kept;
}

/* Returns the local time of day; the date in front of it where the capture spans two. */
static const char *clock_text(wmem_allocator_t *pool, double when)
{
    bool spans_two =
        span_begin > 0 && strcmp(time_text(pool, span_begin, false, "%F"), time_text(pool, span_end, false, "%F")) != 0;

    return time_text(pool, when, false, spans_two ? "%F %H:%M:%S" : "%H:%M:%S");
}

/* Returns $T: "since 09:46:50, frame 88"; "09:46:50 to 09:47:10, frames 88 to 90"; "09:46:50, frame 88"; "frame 88" without a time. */
static const char *when_text(const verdict_evidence *evidence, bool lasts)
{
    const char *since = clock_text(evidence->pool, evidence->since),
               *until = clock_text(evidence->pool, evidence->until);
    bool is_one = evidence->first == evidence->last;

    if (evidence->since <= 0) {
        return wmem_strdup_printf(evidence->pool, "frame %u", evidence->first);
    }
    if (is_one || lasts) {
        return wmem_strdup_printf(evidence->pool, "%s%s, frame %u", is_one ? "" : "since ", since, evidence->first);
    }
    if (strcmp(since, until) == 0) {
        return wmem_strdup_printf(evidence->pool, "%s, frames %u to %u", since, evidence->first, evidence->last);
    }
    return wmem_strdup_printf(evidence->pool, "%s to %s, frames %u to %u", since, until, evidence->first,
                              evidence->last);
}

/* Steps of shortening a sentence, each with those before: without $N; without brackets; names one character shorter with each number from here. */
enum { CUT_TIMES = 1, CUT_BRACKETS, CUT_NAMES };

/* Returns a sentence of verdict_add_finding(), shortened. `times`: number of frames; `when`: text of $T; `cut`: 0: whole, else CUT_TIMES and on. */
static const char *format_sentence(const char *text, const verdict_evidence *evidence, unsigned times, const char *when,
                                   const char *server, const char *client, int cut)
{
    wmem_strbuf_t *line = wmem_strbuf_new(evidence->pool, "");
    unsigned most = cut < CUT_NAMES ? VERDICT_LINE : (unsigned)(VERDICT_LINE + CUT_NAMES - cut);

    for (; *text && (*text != '|' || cut < CUT_BRACKETS); text++) {
        const char *end = *text == '[' && cut >= CUT_BRACKETS ? strchr(text, ']') : NULL;
        if (end || *text == '[' || *text == ']') {
            text = end ? end : text;
        } else if (*text != '$' || text[1] == '\0' || strchr("SCFTN", text[1]) == NULL) { /* IPC$ */
            wmem_strbuf_append_len(line, text, *text != '|');
        } else if (*++text == 'T') {
            wmem_strbuf_append(line, when);
        } else if (*text != 'N') {
            const char *word = *text == 'S' ? server : *text == 'C' ? client : evidence->which;
            wmem_strbuf_append(line, word ? text_cut(evidence->pool, word, most - 1) : "");
        } else if (times > 1 && cut < CUT_TIMES) {
            wmem_strbuf_append_printf(line, " (%u times)", times);
        }
    }
    return wmem_strbuf_get_str(line);
}

/* Returns the frames, ascending, each once. Needs: there is one. Changes: `count`: how many. */
static uint32_t *sorted_frames(const verdict_evidence *evidence, unsigned *count)
{
    unsigned all = evidence_count(evidence), left = 1;
    uint32_t *frames = wmem_memdup(evidence->pool, wmem_array_get_raw(evidence->frames), all * sizeof *frames);

    qsort(frames, all, sizeof *frames, perf_compare_u32);
    for (unsigned i = 1; i < all; i++) {
        frames[left] = frames[i];
        left += frames[i] != frames[left - 1];
    }
    *count = left;
    return frames;
}

void verdict_add_finding(verdict_finding **findings, verdict_kind kind, verdict_party party,
                         const verdict_evidence *evidence, bool lasts, const char *server, const char *client,
                         const char *text)
{
    unsigned count;

    if (evidence_count(evidence) == 0) {
        return;
    }
    const uint32_t *frames = sorted_frames(evidence, &count);
    const char *when = when_text(evidence, lasts),
               *line = format_sentence(text, evidence, count, when, server, client, 0);
    for (int cut = 1; cut < VERDICT_LINE && g_utf8_strlen(line, -1) > VERDICT_LINE; cut++) {
        line = format_sentence(text, evidence, count, when, server, client, cut);
    }
    verdict_finding *finding = wmem_new(evidence->pool, verdict_finding);
    *finding = (verdict_finding){.kind = kind,
                                 .party = party,
                                 .frames = frames,
                                 .count = count,
                                 .since = evidence->since,
                                 .until = evidence->until,
                                 .lasts = lasts,
                                 .is_unread = evidence->is_unread,
                                 .text = line,
                                 .more = evidence->more,
                                 .meaning = evidence->meaning,
                                 .which = evidence->which};
    while (*findings && verdict_finding_compare(*findings, finding) <= 0) {
        findings = &(*findings)->next;
    }
    finding->next = *findings;
    *findings = finding;
}

const char *verdict_time(wmem_allocator_t *pool, double when)
{
    const double half = 5e-7; /* of a microsecond, which a double of today's seconds may lack */
    int64_t ms = (int64_t)((when + half) * 1000);

    return wmem_strdup_printf(pool, "%s.%03uZ", time_text(pool, (double)(ms / 1000), true, "%Y-%m-%dT%H:%M:%S"),
                              (unsigned)(ms % 1000));
}

const char *verdict_error(wmem_allocator_t *pool, bool is_fault, uint32_t status)
{
    return is_fault ? text_fault(pool, status) : text_win32_error(pool, status);
}

const char *verdict_meaning(uint32_t status)
{
    const char *meaning = text_error_meaning(status);

    return *meaning ? meaning : NULL;
}

const char *verdict_seconds(wmem_allocator_t *pool, double seconds)
{
    const char *unit = seconds < 1e-3     ? "us"
                       : seconds < 0.0995 ? "ms"
                       : seconds < 120    ? "s"
                       : seconds < 7200   ? "min"
                                          : "h";
    double factor = *unit == 'u' ? 1e-6 : strcmp(unit, "ms") == 0 ? 1e-3 : *unit == 's' ? 1 : *unit == 'm' ? 60 : 3600;
    double value = seconds / factor;
    bool is_whole = value >= 9.95 || value - (int)(value + 0.05) < 0.05;
    char number[G_ASCII_DTOSTR_BUF_SIZE];

    return wmem_strdup_printf(pool, "%s %s", g_ascii_formatd(number, sizeof number, is_whole ? "%.0f" : "%.1f", value),
                              unit);
}

const char *verdict_filter(wmem_allocator_t *pool, const verdict_finding *finding)
{
    const uint32_t *frames = finding->frames;
    wmem_strbuf_t *text = wmem_strbuf_new(pool, "frame.number in {");
    unsigned ranges = 0;

    if (finding->count == 1) {
        return wmem_strdup_printf(pool, "frame.number == %u", frames[0]);
    }
    for (unsigned i = 0, last; i < finding->count; i = last + 1, ranges++) {
        for (last = i; last + 1 < finding->count && frames[last + 1] == frames[last] + 1; last++) {
        }
        wmem_strbuf_append(text, ranges > 0 ? ", " : "");
        wmem_strbuf_append_printf(text, last > i ? "%u..%u" : "%u", frames[i], frames[last]);
    }
    wmem_strbuf_append_c(text, '}');
    return ranges <= MOST_LISTED ? wmem_strbuf_get_str(text) : "";
}

const char *verdict_advice(wmem_allocator_t *pool, const verdict_finding *finding)
{
    const verdict_row *row = &verdict_rows[finding->kind];

    return wmem_strdup_printf(pool, "%s (%s)", finding->meaning ? finding->meaning : row->advice, row->see);
}
