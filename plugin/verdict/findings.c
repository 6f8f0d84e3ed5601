/* findings.c
 * What is found, and how it is put into words.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/findings.h"

#include "text/value-strings.h"

#include <limits.h>

/* Ranges of frames that a filter lists; more are found by a field. */
#define MOST_LISTED 200

/* Frames of one finding that are kept. */
#define MOST_SHOWN 100000

#define VERDICT_ROW(kind, ...) {__VA_ARGS__},
const verdict_row verdict_rows[VERDICT_NUM_KINDS] = {VERDICT_KINDS(VERDICT_ROW)};

const char *const verdict_parties[] = {"client", "server", "network", "capture", "unknown"};

void verdict_finding_free(void *data)
{
    verdict_finding *finding = data;

    g_array_unref(finding->frames);
    g_free(finding->text);
    g_free(finding->more);
    g_free(finding);
}

/* Of what ends all samples the first comes first: the rest follows from it. */
int verdict_finding_compare(const void *a, const void *b)
{
    const verdict_finding *x = *(verdict_finding *const *)a, *y = *(verdict_finding *const *)b;
    verdict_kind kind = MAX(x->kind, VERDICT_LAST_STOP), other = MAX(y->kind, VERDICT_LAST_STOP);

    return kind != other ? (kind > other) - (kind < other) : (x->since > y->since) - (x->since < y->since);
}

static int compare_frames(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

bool verdict_finding_has(const verdict_finding *finding, uint32_t frame)
{
    return g_array_binary_search(finding->frames, &frame, compare_frames, NULL);
}

/* Each once. */
static void put_in_order(GArray *frames)
{
    unsigned left = 0;

    g_array_sort(frames, compare_frames);
    for (unsigned i = 0; i < frames->len; i++) {
        uint32_t frame = g_array_index(frames, uint32_t, i);
        if (left == 0 || g_array_index(frames, uint32_t, left - 1) != frame) {
            g_array_index(frames, uint32_t, left++) = frame;
        }
    }
    g_array_set_size(frames, left);
}

void verdict_show(verdict_shown *shown, uint32_t frame, double when)
{
    if (shown->frames == NULL) {
        shown->frames = g_array_new(FALSE, FALSE, sizeof frame);
        shown->first = UINT32_MAX;
    }
    if (frame < shown->first) {
        shown->first = frame;
        shown->since = when;
    }
    if (shown->frames->len < MOST_SHOWN) {
        g_array_append_val(shown->frames, frame);
    }
}

void verdict_forget(verdict_shown *shown)
{
    g_clear_pointer(&shown->frames, g_array_unref);
    g_clear_pointer(&shown->which, g_free);
    g_clear_pointer(&shown->more, g_free);
}

verdict_shown verdict_shown_again(const verdict_shown *shown)
{
    return (verdict_shown){
        .frames = shown->frames ? g_array_copy(shown->frames) : NULL, .first = shown->first, .since = shown->since};
}

static char *time_text(double when, bool is_utc, const char *format)
{
    GDateTime *date =
        is_utc ? g_date_time_new_from_unix_utc((int64_t)when) : g_date_time_new_from_unix_local((int64_t)when);
    char *text = date ? g_date_time_format(date, format) : g_strdup("");

    if (date) {
        g_date_time_unref(date);
    }
    return text;
}

static void put_word(GString *line, const char *word, long most)
{
    long size = word ? g_utf8_strlen(word, -1) : 0;

    if (size > most) {
        g_string_append_len(line, word, g_utf8_offset_to_pointer(word, most - 1) - word);
    }
    g_string_append(line, size > most ? "…" : size > 0 ? word : "");
}

/* What is left out, the more the longer a line would be: how often, what stands behind '|', and characters of names and paths. */
static GString *sentence(const char *text, const verdict_shown *shown, const char *server, const char *client, int cut)
{
    enum { WITHOUT_TIMES = 1, WITHOUT_TAIL = 2 };
    GString *line = g_string_new(NULL);
    char *clock = shown->since > 0 ? time_text(shown->since, false, "%H:%M:%S, ") : g_strdup("");
    long most = VERDICT_LINE + WITHOUT_TAIL - cut;

    for (; *text && (*text != '|' || cut < WITHOUT_TAIL); text++) {
        if (*text != '$' || text[1] == '\0' || strchr("SCFTN", text[1]) == NULL) { /* IPC$ */
            g_string_append_len(line, text, *text != '|');
        } else if (*++text == 'T') {
            g_string_append_printf(line, "%sframe %u", clock, shown->first);
        } else if (*text != 'N') {
            put_word(line, *text == 'S' ? server : *text == 'C' ? client : shown->which, most);
        } else if (shown->frames->len > 1 && cut < WITHOUT_TIMES) {
            g_string_append_printf(line, " (%u times)", shown->frames->len);
        }
    }
    g_free(clock);
    return line;
}

void verdict_say(GPtrArray *findings, verdict_kind kind, verdict_party party, verdict_shown *shown, const char *server,
                 const char *client, const char *text)
{
    if (shown->frames) {
        verdict_finding *finding = g_new0(verdict_finding, 1);
        put_in_order(shown->frames);
        GString *line = sentence(text, shown, server, client, 0);
        for (int cut = 1; cut < VERDICT_LINE && g_utf8_strlen(line->str, -1) > VERDICT_LINE; cut++) {
            g_string_free(line, TRUE);
            line = sentence(text, shown, server, client, cut);
        }
        *finding = (verdict_finding){.kind = kind,
                                     .party = party,
                                     .frames = g_steal_pointer(&shown->frames),
                                     .since = shown->since,
                                     .text = g_string_free(line, FALSE),
                                     .more = g_steal_pointer(&shown->more)};
        g_ptr_array_add(findings, finding);
    }
    verdict_forget(shown);
}

char *verdict_time(double when)
{
    char *seconds = time_text(when, true, "%Y-%m-%dT%H:%M:%S");
    char *text = g_strdup_printf("%s.%03uZ", seconds, (unsigned)((when - (double)(int64_t)when) * 1000));

    g_free(seconds);
    return text;
}

char *verdict_error(bool is_fault, uint32_t status, bool with_meaning)
{
    const char *meaning = with_meaning ? text_error_meaning(status) : "";

    return g_strdup_printf(*meaning ? "%s (%s)" : "%s%s", (is_fault ? text_fault : text_win32_error)(NULL, status),
                           meaning);
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

char *verdict_filter(const verdict_finding *finding)
{
    const char *field = verdict_rows[finding->kind].filter;
    const GArray *frames = finding->frames;
    GString *text = g_string_new("frame.number in {");
    unsigned ranges = 0;

    if (frames->len == 1) {
        g_string_printf(text, "frame.number == %u", g_array_index(frames, uint32_t, 0));
        return g_string_free(text, FALSE);
    }
    for (unsigned i = 0; i < frames->len; i++, ranges++) {
        uint32_t first = g_array_index(frames, uint32_t, i), last = first;
        while (i + 1 < frames->len && g_array_index(frames, uint32_t, i + 1) == last + 1) {
            last++;
            i++;
        }
        g_string_append_printf(text, last > first ? "%u..%u, " : "%u, ", first, last);
    }
    g_string_truncate(text, text->len - 2);
    g_string_append_c(text, '}');
    return ranges > MOST_LISTED && field ? (g_string_free(text, TRUE), g_strdup(field)) : g_string_free(text, FALSE);
}
