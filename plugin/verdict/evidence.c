/* evidence.c
 * Frames that show a finding, and its words.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/evidence.h"

#include "perf/bytes.h"
#include "text/text.h"

#include <limits.h>
#include <math.h>

/* Ranges of frames that a filter lists. A finding with more has none. */
#define MOST_LISTED 200

#define VERDICT_ROW(kind, ...) {__VA_ARGS__},
const verdict_row verdict_rows[VERDICT_NUM_KINDS] = {VERDICT_KINDS(VERDICT_ROW)};

const char *const verdict_parties[] = {"client", "server", "network", "capture", "unknown"};

int verdict_finding_compare(const verdict_finding *x, const verdict_finding *y)
{
    /* of kinds that end all samples the later ones are consequences */
    verdict_kind kind = MAX(x->kind, VERDICT_LAST_STOP), other = MAX(y->kind, VERDICT_LAST_STOP);

    return kind != other ? (kind > other) - (kind < other)
                         : (x->since.time > y->since.time) - (x->since.time < y->since.time);
}

bool verdict_finding_has(const verdict_finding *finding, uint32_t frame)
{
    return bsearch(&frame, finding->frames, finding->count, sizeof frame, perf_compare_u32);
}

void evidence_add(wmem_allocator_t *pool, verdict_evidence *evidence, verdict_moment at)
{
    unsigned count = evidence_count(evidence);

    evidence->since = count == 0 || at.frame < evidence->since.frame ? at : evidence->since;
    evidence->until = count == 0 || at.frame > evidence->until.frame ? at : evidence->until;
    if ((count & (count - 1)) == 0) { /* room for the next power of two is needed */
        evidence->frames = wmem_realloc(pool, evidence->frames, MAX(2 * count, 1) * sizeof at.frame);
    }
    evidence->frames[count] = at.frame;
    evidence->count = count + 1;
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

/* Format of times in sentences. */
static const char *clock_format = "%H:%M:%S";

void verdict_set_span(wmem_allocator_t *pool, double begin, double end)
{
    bool is_one = strcmp(time_text(pool, begin, false, "%F"), time_text(pool, end, false, "%F")) == 0;

    clock_format = is_one ? "%H:%M:%S" : "%F %H:%M:%S";
}

/* Formats $T of verdict_add_finding(), in local time. `lasts`: nothing shows that it ended. Needs:
 * the evidence has frames. Returns "09:46:50, frame 88" for one frame; "since 09:46:50, frame 88"
 * if it lasts; else "09:46:50 to 09:47:10, frames 88 to 90", or "09:46:50, frames 88 to 90". */
static const char *when_text(wmem_allocator_t *pool, const verdict_evidence *evidence, bool lasts)
{
    const char *since = time_text(pool, evidence->since.time, false, clock_format),
               *until = time_text(pool, evidence->until.time, false, clock_format);
    bool is_one = evidence->since.frame == evidence->until.frame, is_same = strcmp(since, until) == 0;

    if (is_one || lasts) {
        return wmem_strdup_printf(pool, "%s%s, frame %u", is_one ? "" : "since ", since, evidence->since.frame);
    }
    return wmem_strdup_printf(pool, "%s%s%s, frames %u to %u", since, is_same ? "" : " to ", is_same ? "" : until,
                              evidence->since.frame, evidence->until.frame);
}

/* Returns a sentence of verdict_add_finding(). `cut`: 0: whole; else without $N and brackets,
 * and names of at most VERDICT_LINE - `cut` characters. */
static const char *format_sentence(wmem_allocator_t *pool, const char *text, const verdict_finding *finding,
                                   const char *when, const char *server, const char *client, unsigned cut)
{
    wmem_strbuf_t *line = wmem_strbuf_new(pool, "");

    for (; *text; text++) {
        const char *end = *text == '[' && cut > 0 ? strchr(text, ']') : NULL;
        if (end || *text == '[' || *text == ']') {
            text = end ? end : text;
        } else if (*text != '$' || text[1] == '\0' || strchr("SCFTN", text[1]) == NULL) { /* IPC$ */
            wmem_strbuf_append_c(line, *text);
        } else if (*++text == 'T') {
            wmem_strbuf_append(line, when);
        } else if (*text != 'N') {
            const char *word = *text == 'S' ? server : *text == 'C' ? client : finding->which;
            wmem_strbuf_append(line, word ? text_cut(pool, word, VERDICT_LINE - cut) : "");
        } else if (finding->count > 1 && cut == 0) {
            wmem_strbuf_append_printf(line, " (%u times)", finding->count);
        }
    }
    return wmem_strbuf_get_str(line);
}

/* Makes the frames ascending, each once. Those that are not are copied, since another judgement may
 * have them, too. Needs: there is one. */
static void sort_frames(wmem_allocator_t *pool, verdict_finding *finding)
{
    unsigned all = finding->count, left = 1;

    while (left < all && finding->frames[left - 1] < finding->frames[left]) {
        left++;
    }
    if (left == all) {
        return;
    }
    uint32_t *frames = wmem_memdup(pool, finding->frames, all * sizeof *frames);
    left = 1;
    qsort(frames, all, sizeof *frames, perf_compare_u32);
    for (unsigned i = 1; i < all; i++) {
        frames[left] = frames[i];
        left += frames[i] != frames[left - 1];
    }
    finding->frames = frames;
    finding->count = left;
}

void verdict_add_finding(wmem_allocator_t *pool, verdict_finding **findings, verdict_kind kind, verdict_party party,
                         const verdict_evidence *evidence, bool lasts, const char *server, const char *client,
                         const char *text)
{
    unsigned cut = 0;

    if (evidence_count(evidence) == 0) {
        return;
    }
    verdict_finding *finding = wmem_memdup(pool, evidence, sizeof *finding);
    const char *when = when_text(pool, evidence, lasts);
    finding->kind = kind;
    finding->party = party;
    finding->lasts = lasts;
    finding->meaning = evidence->meaning && *evidence->meaning ? evidence->meaning : NULL;
    sort_frames(pool, finding);
    do {
        finding->text = format_sentence(pool, text, finding, when, server, client, cut);
    } while (g_utf8_strlen(finding->text, -1) > VERDICT_LINE && ++cut < VERDICT_LINE);
    while (*findings && verdict_finding_compare(*findings, finding) <= 0) {
        findings = &(*findings)->next;
    }
    finding->next = *findings;
    *findings = finding;
}

const char *verdict_time(wmem_allocator_t *pool, double when)
{
    const double half = 5e-7; /* of a microsecond, which a double of today's seconds may lack */
    double ms = floor((when + half) * 1000), seconds = floor(ms / 1000);

    return wmem_strdup_printf(pool, "%s.%03uZ", time_text(pool, seconds, true, "%Y-%m-%dT%H:%M:%S"),
                              (unsigned)(ms - seconds * 1000) % 1000);
}

const char *verdict_seconds(wmem_allocator_t *pool, double seconds)
{
    static const struct {
        double from, factor; /* seconds */
        const char *name;
    } units[] = {{7200, 3600, "h"}, {120, 60, "min"}, {0.0995, 1, "s"}, {0.9995e-3, 1e-3, "ms"}, {0, 1e-6, "us"}};
    unsigned unit = 0;
    char number[G_ASCII_DTOSTR_BUF_SIZE];

    while (unit + 1 < G_N_ELEMENTS(units) && !(seconds >= units[unit].from)) {
        unit++;
    }
    double value = seconds / units[unit].factor;
    bool is_whole = value >= 9.95 || value - (int)(value + 0.05) < 0.05;
    g_ascii_formatd(number, sizeof number, is_whole ? "%.0f" : "%.1f", value);
    return wmem_strdup_printf(pool, "%s %s", number, units[unit].name);
}

const char *verdict_filter(wmem_allocator_t *pool, const verdict_finding *finding)
{
    const uint32_t *frames = finding->frames;
    wmem_strbuf_t *text = wmem_strbuf_new(pool, "frame.number in {");
    unsigned ranges = 0;

    if (finding->count == 1) {
        return wmem_strdup_printf(pool, "frame.number == %u", frames[0]);
    }
    for (unsigned i = 0, last; i < finding->count && ranges <= MOST_LISTED; i = last + 1, ranges++) {
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
