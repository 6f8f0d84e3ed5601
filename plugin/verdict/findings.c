/* findings.c
 * What is found, and how it is put into words.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/findings.h"

#include "perf/bytes.h"
#include "text/text.h"
#include "text/value-strings.h"

#include <limits.h>

/* Ranges of frames that a filter lists; more are found by a field. */
#define MOST_LISTED 200

/* Frames of one finding that are kept. */
#define MOST_SHOWN 100000

#define VERDICT_ROW(kind, ...) {__VA_ARGS__},
const verdict_row verdict_rows[VERDICT_NUM_KINDS] = {VERDICT_KINDS(VERDICT_ROW)};

const char *const verdict_parties[] = {"client", "server", "network", "capture", "unknown"};

/* Of what ends all samples the first comes first: the rest follows from it. */
int verdict_finding_compare(const verdict_finding *x, const verdict_finding *y)
{
    verdict_kind kind = MAX(x->kind, VERDICT_LAST_STOP), other = MAX(y->kind, VERDICT_LAST_STOP);

    return kind != other ? (kind > other) - (kind < other) : (x->since > y->since) - (x->since < y->since);
}

bool verdict_finding_has(const verdict_finding *finding, uint32_t frame)
{
    return bsearch(&frame, finding->frames, finding->count, sizeof frame, perf_compare_u32);
}

void verdict_show(verdict_shown *shown, uint32_t frame, double when)
{
    if (shown->frames == NULL || frame < shown->first) {
        shown->first = frame;
        shown->since = when;
    }
    shown->frames = shown->frames ? shown->frames : wmem_array_new(shown->pool, sizeof frame);
    if (verdict_count_shown(shown) < MOST_SHOWN) {
        wmem_array_append_one(shown->frames, frame);
    }
}

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

/* What is left out, the more the longer a line would be: how often, what stands behind '|', and characters of names and paths. */
static const char *sentence(const char *text, const verdict_shown *shown, unsigned times, const char *server,
                            const char *client, int cut)
{
    enum { WITHOUT_TIMES = 1, WITHOUT_TAIL = 2 };
    wmem_strbuf_t *line = wmem_strbuf_new(shown->pool, "");
    const char *clock = shown->since > 0 ? time_text(shown->pool, shown->since, false, "%H:%M:%S, ") : "";
    unsigned most = (unsigned)(VERDICT_LINE + WITHOUT_TAIL - cut);

    for (; *text && (*text != '|' || cut < WITHOUT_TAIL); text++) {
        const char *end = *text == '[' && cut >= WITHOUT_TAIL ? strchr(text, ']') : NULL;
        if (end || *text == '[' || *text == ']') {
            text = end ? end : text;
        } else if (*text != '$' || text[1] == '\0' || strchr("SCFTN", text[1]) == NULL) { /* IPC$ */
            wmem_strbuf_append_len(line, text, *text != '|');
        } else if (*++text == 'T') {
            wmem_strbuf_append_printf(line, "%sframe %u", clock, shown->first);
        } else if (*text != 'N') {
            const char *word = *text == 'S' ? server : *text == 'C' ? client : shown->which;
            wmem_strbuf_append(line, word ? text_cut(shown->pool, word, most - 1) : "");
        } else if (times > 1 && cut < WITHOUT_TIMES) {
            wmem_strbuf_append_printf(line, " (%u times)", times);
        }
    }
    return wmem_strbuf_get_str(line);
}

void verdict_say(verdict_finding **findings, verdict_kind kind, verdict_party party, const verdict_shown *shown,
                 const char *server, const char *client, const char *text)
{
    unsigned count = verdict_count_shown(shown), left = 1;

    if (count == 0) {
        return;
    }
    uint32_t *frames = wmem_memdup(shown->pool, wmem_array_get_raw(shown->frames), count * sizeof *frames);
    qsort(frames, count, sizeof *frames, perf_compare_u32);
    for (unsigned i = 1; i < count; i++) {
        frames[left] = frames[i];
        left += frames[i] != frames[left - 1];
    }
    const char *line = sentence(text, shown, left, server, client, 0);
    for (int cut = 1; cut < VERDICT_LINE && g_utf8_strlen(line, -1) > VERDICT_LINE; cut++) {
        line = sentence(text, shown, left, server, client, cut);
    }
    verdict_finding *finding = wmem_new(shown->pool, verdict_finding);
    *finding = (verdict_finding){NULL, kind, party, frames, left, shown->since, line, shown->more, shown->which};
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

const char *verdict_error(wmem_allocator_t *pool, bool is_fault, uint32_t status, bool with_meaning)
{
    const char *meaning = with_meaning ? text_error_meaning(status) : "";

    return wmem_strdup_printf(pool, *meaning ? "%s (%s)" : "%s%s",
                              (is_fault ? text_fault : text_win32_error)(pool, status), meaning);
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
    const char *field = verdict_rows[finding->kind].filter;
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
    return ranges > MOST_LISTED && field ? field : wmem_strbuf_get_str(text);
}
