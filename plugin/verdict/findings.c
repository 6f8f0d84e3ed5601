/* findings.c
 * What is found, and how it is put into words.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/findings.h"

/* Frames that a filter lists; more are found by a field, or as a range. */
#define MOST_LISTED 40

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

int verdict_finding_compare(const void *a, const void *b)
{
    const verdict_finding *x = *(verdict_finding *const *)a, *y = *(verdict_finding *const *)b;

    return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind)
                              : (x->since > y->since) - (x->since < y->since);
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

/* In order, each once. */
static GArray *frames_of(const GArray *frames)
{
    GArray *own = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    unsigned left = 0;

    g_array_append_vals(own, frames->data, frames->len);
    g_array_sort(own, compare_frames);
    for (unsigned i = 0; i < own->len; i++) {
        uint32_t frame = g_array_index(own, uint32_t, i);
        if (left == 0 || g_array_index(own, uint32_t, left - 1) != frame) {
            g_array_index(own, uint32_t, left++) = frame;
        }
    }
    g_array_set_size(own, left);
    return own;
}

/* At a space, and said so; since when it is stays. */
static void cut(GString *line)
{
    char *tail = g_strrstr(line->str, "since ");
    size_t end = VERDICT_LINE - strlen("… ");

    if (g_utf8_strlen(line->str, -1) <= VERDICT_LINE) {
        return;
    }
    tail = g_strdup(tail && strlen(tail) < VERDICT_LINE / 2 ? tail : "");
    end -= strlen(tail);
    end = (size_t)(g_utf8_offset_to_pointer(line->str, (long)end) - line->str);
    while (end > 0 && line->str[end - 1] != ' ') {
        end--;
    }
    g_string_truncate(line, end);
    g_string_append_printf(line, *tail ? "… %s" : "…%s", tail);
    g_free(tail);
}

void verdict_show(verdict_shown *shown, uint32_t frame, double when)
{
    if (shown->frames == NULL) {
        shown->frames = g_array_new(FALSE, FALSE, sizeof frame);
        shown->since = when;
    }
    if (shown->frames->len < MOST_SHOWN) {
        g_array_append_val(shown->frames, frame);
    }
}

void verdict_forget(verdict_shown *shown)
{
    if (shown->frames) {
        g_array_unref(shown->frames);
        shown->frames = NULL;
    }
    g_free(shown->more);
    shown->more = NULL;
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

static void put_time(GString *line, const verdict_shown *shown)
{
    char *at = g_strrstr(line->str, "$T"), *clock = time_text(shown->since, false, "%H:%M:%S, ");
    char *when =
        g_strdup_printf("%sframe %u", shown->since > 0 ? clock : "", g_array_index(shown->frames, uint32_t, 0));

    if (at) {
        gssize place = at - line->str;
        g_string_erase(line, place, strlen("$T"));
        g_string_insert(line, place, when);
    }
    g_free(clock);
    g_free(when);
}

void verdict_say(GPtrArray *findings, verdict_kind kind, verdict_party party, verdict_shown *shown, const char *format,
                 ...)
{
    va_list arguments;

    if (shown->frames == NULL) {
        verdict_forget(shown);
        return;
    }
    verdict_finding *finding = g_new0(verdict_finding, 1);
    GString *line = g_string_new(NULL);
    va_start(arguments, format);
    g_string_append_vprintf(line, format, arguments);
    va_end(arguments);
    put_time(line, shown);
    cut(line);
    *finding =
        (verdict_finding){kind, party, frames_of(shown->frames), shown->since, g_string_free(line, FALSE), shown->more};
    shown->more = NULL;
    g_ptr_array_add(findings, finding);
    verdict_forget(shown);
}

char *verdict_time(double when)
{
    char *seconds = time_text(when, true, "%Y-%m-%dT%H:%M:%S");
    char *text = g_strdup_printf("%s.%03uZ", seconds, (unsigned)((when - (double)(int64_t)when) * 1000));

    g_free(seconds);
    return text;
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

/* "109, 117 to 119" as a set. */
static void list_frames(GString *text, const GArray *frames)
{
    g_string_append(text, "frame.number in {");
    for (unsigned i = 0; i < frames->len; i++) {
        uint32_t first = g_array_index(frames, uint32_t, i), last = first;
        while (i + 1 < frames->len && g_array_index(frames, uint32_t, i + 1) == last + 1) {
            last++;
            i++;
        }
        g_string_append_printf(text, last > first ? "%u..%u, " : "%u, ", first, last);
    }
    g_string_truncate(text, text->len - 2);
    g_string_append_c(text, '}');
}

char *verdict_filter(const verdict_finding *finding)
{
    const char *field = verdict_rows[finding->kind].filter;
    GString *text = g_string_new(NULL);

    if (finding->frames->len == 1) {
        g_string_append_printf(text, "frame.number == %u", g_array_index(finding->frames, uint32_t, 0));
    } else if (finding->frames->len > MOST_LISTED && field) {
        g_string_append(text, field);
    } else {
        list_frames(text, finding->frames);
    }
    return g_string_free(text, FALSE);
}
