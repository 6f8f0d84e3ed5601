/* evidence.c
 * Frames that show a finding, and its words.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/monitors.h"

#include "perf/bytes.h"
#include "text/text.h"

#include <math.h>

#define MOST_LISTED 200 /* ranges of frames that a filter lists: a finding with more has none */
#define MOST_OF_F \
    (VERDICT_LINE - 20) /* characters of $F that are cut off before times become brief, and then other names */

#define VERDICT_ROW(kind, ...) {__VA_ARGS__},
const verdict_row verdict_rows[VERDICT_NUM_KINDS] = {VERDICT_KINDS(VERDICT_ROW)};

int verdict_finding_compare(const verdict_finding *x, const verdict_finding *y)
{
    /* of kinds that end all samples the later ones are consequences */
    verdict_kind kind = MAX(x->kind, VERDICT_LAST_STOP), other = MAX(y->kind, VERDICT_LAST_STOP);

    return kind != other ? (kind > other) - (kind < other)
                         : (x->since.time > y->since.time) - (x->since.time < y->since.time);
}

void evidence_add(wmem_allocator_t *pool, verdict_evidence *evidence, verdict_moment at)
{
    unsigned count = evidence->count;

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

/* Formats $T of monitor_add_finding(), in local time, with dates if the capture has two. Returns "09:46:50, frame 88" for one frame; "since 09:46:50, frame 88"
 * if it lasts; else "09:46:50 to 09:47:10, frames 88 to 90", or "09:46:50, frames 88 to 90"; without the last frame "09:46:50 to 09:47:10, frame 88". */
static const char *when_text(wmem_allocator_t *pool, const verdict_finding *finding, bool has_date, bool has_last)
{
    const char *begin = time_text(pool, steps.first, false, "%F"), *end = time_text(pool, steps.last, false, "%F"),
               *format = has_date && strcmp(begin, end) != 0 ? "%F %H:%M:%S" : "%H:%M:%S",
               *since = time_text(pool, finding->since.time, false, format),
               *until = time_text(pool, finding->until.time, false, format);
    uint32_t first = finding->since.frame, last = finding->until.frame;
    bool is_first = first == last || finding->lasts, is_short = is_first || strcmp(since, until) == 0;
    const char *frames = is_first || !has_last ? wmem_strdup_printf(pool, ", frame %u", first)
                                               : wmem_strdup_printf(pool, ", frames %u to %u", first, last);

    return wmem_strconcat(pool, is_first && first < last ? "since " : "", since, is_short ? "" : " to ",
                          is_short ? "" : until, frames, NULL);
}

/* Returns a sentence of monitor_add_finding(). `when`: $T. `cut`: 0: whole; else without $N and brackets, and so many characters shorter: $F; from
 * MOST_OF_F on ends of all names. */
static const char *format_sentence(const verdict_monitor *monitor, const char *text, const verdict_finding *finding,
                                   const char *when, unsigned cut)
{
    wmem_strbuf_t *line = wmem_strbuf_new(monitor->pool, "");
    unsigned of_f = MIN(cut, MOST_OF_F), of_all = cut - of_f;

    for (; *text; text++) {
        const char *end = *text == '[' && cut > 0 ? strchr(text, ']') : NULL;
        if (*text == '[' || *text == ']') {
            text = end ? end : text;
        } else if (*text != '$' || memchr("SCFTN", text[1], 5) == NULL) { /* IPC$ */
            wmem_strbuf_append_c(line, *text);
        } else if (*++text == 'T') {
            wmem_strbuf_append(line, when);
        } else if (*text != 'N') {
            const char *word = *text == 'S' ? monitor->called : *text == 'C' ? monitor->first->client : finding->which;
            unsigned less = *text == 'F' ? MAX(of_f, of_all) : of_all;
            wmem_strbuf_append(line, text_cut(monitor->pool, word, VERDICT_LINE - less));
        } else if (finding->count > 1 && cut == 0) {
            wmem_strbuf_append_printf(line, " (%u times)", finding->count);
        }
    }
    return wmem_strbuf_get_str(line);
}

/* Copies the frames, which later judgements read again, with those of an earlier finding: ascending, each once. Needs: a frame. Changes: `frames`, `count`. */
static void sort_frames(wmem_allocator_t *pool, verdict_finding *finding, const verdict_finding *earlier)
{
    unsigned count = finding->count + earlier->count, left = 1;
    uint32_t *frames = wmem_alloc_array(pool, uint32_t, count);

    for (unsigned i = 0; i < count; i++) {
        frames[i] = i < finding->count ? finding->frames[i] : earlier->frames[i - finding->count];
    }
    qsort(frames, count, sizeof *frames, perf_compare_u32);
    for (unsigned i = 1; i < count; i++) {
        frames[left] = frames[i];
        left += frames[i] != frames[left - 1];
    }
    finding->frames = frames;
    finding->count = left;
}

void monitor_add_finding(verdict_monitor *monitor, verdict_kind kind, verdict_party party,
                         const verdict_evidence *shown, const char *format, ...)
{
    static const verdict_finding none;
    verdict_finding **place = &monitor->findings;
    unsigned cut = 0;
    va_list arguments;

    if (shown->count == 0) {
        return;
    }
    verdict_finding *finding = wmem_memdup(monitor->pool, shown, sizeof *finding);
    finding->kind = kind;
    finding->party = party;
    finding->lasts = shown->lasts || shown->is_unread || monitor->last_sampled <= shown->until.frame;
    finding->advice = shown->advice && *shown->advice ? shown->advice : verdict_rows[kind].advice;
    va_start(arguments, format);
    const char *text = finding->said = wmem_strdup_vprintf(monitor->pool, format, arguments);
    va_end(arguments);
    while (*place && (strcmp((*place)->said, text) != 0 || g_strcmp0((*place)->which, shown->which) != 0 ||
                      (*place)->lasts != finding->lasts)) {
        place = &(*place)->next;
    }
    const verdict_finding *earlier = *place ? *place : &none;
    if (*place) { /* the same again */
        finding->since = earlier->since;
        *place = earlier->next;
    }
    sort_frames(monitor->pool, finding, earlier);
    const char *const when[] = {when_text(monitor->pool, finding, true, true),
                                when_text(monitor->pool, finding, false, true),
                                when_text(monitor->pool, finding, false, false)};
    do {
        finding->text = format_sentence(monitor, text, finding, when[(cut >= MOST_OF_F) + (cut > MOST_OF_F)], cut);
    } while (g_utf8_strlen(finding->text, -1) > VERDICT_LINE && ++cut < MOST_OF_F + VERDICT_LINE);
    for (place = &monitor->findings; *place && verdict_finding_compare(*place, finding) <= 0;) {
        place = &(*place)->next;
    }
    finding->next = *place;
    *place = finding;
}

const char *verdict_moment_json(wmem_allocator_t *pool, verdict_moment at)
{
    double ms = floor(at.time * 1000), seconds = floor(ms / 1000);

    return wmem_strdup_printf(pool, "{\"time\": \"%s.%03uZ\", \"frame\": %u}", time_text(pool, seconds, true, "%FT%T"),
                              (unsigned)(ms - seconds * 1000) % 1000, at.frame);
}

const char *verdict_filter(wmem_allocator_t *pool, const verdict_finding *finding)
{
    const uint32_t *frames = finding->frames;
    wmem_strbuf_t *text = wmem_strbuf_new(pool, "frame.number in {");
    unsigned ranges = 0;

    for (unsigned i = 0, last; i < finding->count && ranges <= MOST_LISTED; i = last + 1, ranges++) {
        for (last = i; last + 1 < finding->count && frames[last + 1] == frames[last] + 1; last++) {
        }
        wmem_strbuf_append(text, ranges > 0 ? ", " : "");
        wmem_strbuf_append_printf(text, last > i ? "%u..%u" : "%u", frames[i], frames[last]);
    }
    wmem_strbuf_append_c(text, '}');
    return ranges <= MOST_LISTED ? wmem_strbuf_get_str(text) : "";
}
