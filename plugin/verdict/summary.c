/* summary.c
 * `-z pcq,summary[,json|FILE[,FILTER]]`: what is found, worst first, and each monitor's account; as JSON for scripts. The tables of the
 * same: `-z pcq,monitors[,FILTER]`, `-z pcq,queries[,FILTER]`.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/output.h"
#include "taps/stat-table.h"
#include "verdict/talks.h"

#include <math.h>

typedef enum { HEALTHY, NOT_KNOWN, NOT_HEALTHY } health;
static const char *const health_words[] = {"true", "null", "false"};

/* One -z. */
typedef struct {
    output_task task;
    bool is_json;
    verdict *verdict;
} summary;

/* Of what was not read nothing is known. What is refused or failed is sealed, too: of sealed calls only the timing is known. */
static health health_of(const verdict_monitor *monitor)
{
    const verdict_talk *talk = monitor->talks;
    bool is_known = talk && !talk->is_sealed && monitor->figures.numbers[FIGURE_SAMPLES] > 0;

    for (const verdict_finding *finding = monitor->findings; finding; finding = finding->next) {
        if (finding->kind < VERDICT_FIRST_NOTE && !finding->is_unread) {
            return NOT_HEALTHY;
        }
        is_known &= !finding->is_unread;
    }
    return is_known ? HEALTHY : NOT_KNOWN;
}

static health health_of_all(const verdict *v)
{
    health all = v->monitors->len > 0 && omissions_get_undecoded(&v->omitted) == 0 ? HEALTHY : NOT_KNOWN;

    for (unsigned i = 0; i < v->monitors->len; i++) {
        health one = health_of(g_ptr_array_index(v->monitors, i));
        all = MAX(all, one);
    }
    return all;
}

/* --- Text ------------------------------------------------------------------------------------------------------ */

/* ", each 1.004 s"; "" where that is not known. */
static const char *seconds_text(const verdict_monitor *monitor, const char *before, double seconds)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE * 10]; /* 1e308 with a few decimals */
    bool is_short = seconds < 0.9995;

    g_ascii_formatd(number, sizeof number, is_short ? "%.1f" : "%.3f", is_short ? 1000 * seconds : seconds);
    return isnan(seconds) ? "" : wmem_strdup_printf(monitor->pool, "%s%s %s", before, number, is_short ? "ms" : "s");
}

/* A packet states that its sample is late, or slow. */
static bool is_marked(const verdict_monitor *monitor)
{
    bool is_any = false;

    for (const verdict_talk *talk = monitor->talks; talk; talk = talk->next) {
        is_any |= talk->is_marked;
    }
    return is_any;
}

static const char *why_no_samples(const verdict_monitor *monitor)
{
    bool is_sealed = monitor->talks->is_sealed, is_answered = false, has_waiting = false;

    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        is_answered |= call->outcome != CALL_WAITS;
        has_waiting |= call->outcome == CALL_WAITS;
    }
    bool is_hkpd = monitor->talks->is_hkpd, asks = false;
    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        asks |= call->asks;
    }
    if (is_hkpd && !asks && monitor->talks->has_titles) {
        return "no samples: it reads lists of names, and asks for no value";
    }
    const char *opened = is_hkpd ? "HKEY_PERFORMANCE_DATA was opened, and no answer has performance data"
                                 : "a query was opened, and no answer has its counter data";
    const char *why = !is_answered                        ? "no answer to its calls was captured"
                      : monitor->number > 0 && !is_sealed ? opened
                      : is_sealed || has_waiting          ? "no answer with data was captured"
                      : is_hkpd                           ? "HKEY_PERFORMANCE_DATA was not opened"
                                                          : "no query was opened";
    return wmem_strconcat(monitor->pool, "no samples: ", why, NULL);
}

bool verdict_none_late(const verdict_monitor *monitor)
{
    return monitor->timing.is_even && !monitor->timing.is_any_long && !verdict_wire_was_set() &&
           monitor->num_slow == 0 && !is_marked(monitor);
}

/* " every 1.000 s, none late". */
static const char *timing_text(const verdict_monitor *monitor)
{
    const char *every = monitor->timing.is_even ? seconds_text(monitor, " every ", monitor->timing.usual) : "";
    const char *late = verdict_none_late(monitor) ? ", none late" : "", *slow = "";

    if (monitor->num_late > 0) {
        late = wmem_strdup_printf(monitor->pool, ", %u late", monitor->num_late);
    }
    if (monitor->num_slow > 0) {
        slow = wmem_strdup_printf(monitor->pool, ", %u slow", monitor->num_slow);
    }
    return wmem_strconcat(monitor->pool, every, late, slow, NULL);
}

/* The longest gap and its frame, where one may be too long. */
static const char *longest_gap_text(const verdict_monitor *monitor)
{
    const timing_verdict *timing = &monitor->timing;

    if (timing->num_gaps == 0 || verdict_none_late(monitor)) {
        return "";
    }
    const timing_gap *longest = &monitor->gaps[timing->longest];
    const monitor_sample *behind = &monitor->samples[longest->request];
    return wmem_strdup_printf(monitor->pool, "%s, frame %u", seconds_text(monitor, ", longest gap ", longest->seconds),
                              behind->frame > 0 ? behind->frame : behind->asked_frame);
}

/* How a monitor does. */
static const char *sampling_text(const verdict_monitor *monitor)
{
    double samples = monitor->figures.numbers[FIGURE_SAMPLES];

    return wmem_strdup_printf(monitor->pool, "%.0f %s%s", samples, samples > 1 ? "samples" : "sample",
                              timing_text(monitor));
}

/* "192.0.2.10 to SRV01: 10 samples every 1.004 s, none late, answered in 3.4 ms (slowest 9.0 ms, frame 30), query 1, logon LAB\\monitor": as
 * much of it as finds room in a line. */
const char *verdict_account(const verdict_monitor *monitor)
{
    enum { LONGEST, SEALED, ANSWERED, SLOWEST, QUERIES, LOGON, NUM_PARTS };
    static const uint8_t needed_most[] = {LONGEST, SEALED, ANSWERED, QUERIES, LOGON, SLOWEST};
    const double *numbers = monitor->figures.numbers;
    const char *parts[NUM_PARTS] = {"", "", "", "", "", ""}, *const *texts = monitor->figures.texts;
    wmem_allocator_t *pool = monitor->pool;

    if (monitor->talks == NULL) {
        return wmem_strdup_printf(pool, "%s to %s", texts[FIGURE_CLIENT], texts[FIGURE_SERVER]);
    }
    bool is_sealed = monitor->talks->is_sealed, has_samples = numbers[FIGURE_SAMPLES] > 0;
    const char *begin = wmem_strdup_printf(pool, "%s to %s: %s", verdict_client(monitor), verdict_server(monitor),
                                           has_samples ? sampling_text(monitor) : why_no_samples(monitor));
    parts[LONGEST] = has_samples ? longest_gap_text(monitor) : "";
    parts[SEALED] = is_sealed ? "; sealed: refusals and errors are not visible" : "";
    if (!is_sealed && !isnan(numbers[FIGURE_RESPONSE])) {
        parts[ANSWERED] = seconds_text(monitor, ", answered in ", numbers[FIGURE_RESPONSE]);
        parts[SLOWEST] =
            wmem_strdup_printf(pool, "%s, frame %.0f)", seconds_text(monitor, " (slowest ", numbers[FIGURE_SLOWEST]),
                               numbers[FIGURE_SLOWEST_FRAME]);
    }
    if (monitor->num_talks > 1) {
        parts[QUERIES] =
            wmem_strdup_printf(pool, ", in %u %s", monitor->num_talks, monitor->talks->is_hkpd ? "handles" : "queries");
    } else if (has_samples) {
        parts[QUERIES] = wmem_strconcat(pool, ", ", texts[FIGURE_HANDLE], NULL);
    }
    parts[LOGON] = *texts[FIGURE_ACCOUNT] ? wmem_strconcat(pool, ", logon ", texts[FIGURE_ACCOUNT], NULL) : "";
    long size = g_utf8_strlen(begin, -1);
    for (unsigned i = 0; i < NUM_PARTS; i++) {
        const char **part = &parts[needed_most[i]];
        long more = g_utf8_strlen(*part, -1);
        *part = size + more > VERDICT_LINE ? "" : *part;
        size += size + more > VERDICT_LINE ? 0 : more;
    }
    return wmem_strconcat(pool, begin, parts[LONGEST], parts[ANSWERED], parts[SLOWEST], parts[QUERIES], parts[LOGON],
                          parts[SEALED], NULL);
}

/* The sentence; below it what finds its frames, and what to do. */
static void write_finding(GString *text, const verdict_monitor *monitor, const verdict_finding *finding)
{
    const char *filter = verdict_filter(monitor->pool, finding), *advice = verdict_rows[finding->kind].advice;

    g_string_append_printf(text, "%s\n", finding->text);
    if (*filter) {
        g_string_append_printf(text, "    %s\n", filter);
    }
    g_string_append_printf(text, "    %s%s%s\n", finding->more ? finding->more : "", finding->more ? "; " : "", advice);
}

/* Findings make a monitor unhealthy, notes do not. */
static void write_findings(GString *text, const verdict_monitor *monitor, bool are_notes)
{
    for (const verdict_finding *finding = monitor->findings; finding; finding = finding->next) {
        if ((finding->kind >= VERDICT_FIRST_NOTE) == are_notes) {
            write_finding(text, monitor, finding);
        }
    }
}

/* "No problems found: 3 monitors, 240 samples", where that is known of all. */
static void write_no_problems(GString *text, const verdict *v)
{
    double samples = 0;

    for (unsigned i = 0; i < v->monitors->len; i++) {
        samples += ((const verdict_monitor *)g_ptr_array_index(v->monitors, i))->figures.numbers[FIGURE_SAMPLES];
    }
    if (health_of_all(v) == HEALTHY) {
        g_string_append_printf(text, "No problems found: %u %s, %.0f %s\n", v->monitors->len,
                               v->monitors->len == 1 ? "monitor" : "monitors", samples,
                               samples > 1 ? "samples" : "sample");
    }
}

/* Findings say what of the calls is missing. To be freed with the array. */
static GPtrArray *notes_of(const verdict *v, omissions_form form)
{
    omissions omitted = v->omitted;

    omitted.has_findings = true;
    if (v->monitors->len == 0 && !omitted.any_decoded && omissions_get_undecoded(&omitted) == 0) {
        GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(notes, g_strdup(verdict_ladder_why_nothing(v->pool)));
        return notes;
    }
    return omissions_format(&omitted, "values", form);
}

static void write_text(GString *text, const verdict *v)
{
    GPtrArray *notes = notes_of(v, OMISSIONS_LONG), *brief = notes_of(v, OMISSIONS_BRIEF);

    write_no_problems(text, v);
    for (unsigned i = 0; i < v->monitors->len; i++) {
        const verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        write_findings(text, monitor, false);
        if (monitor->talks) {
            g_string_append_printf(text, "%s\n", verdict_account(monitor));
        }
    }
    for (unsigned i = 0; i < v->monitors->len; i++) {
        write_findings(text, g_ptr_array_index(v->monitors, i), true);
    }
    for (unsigned i = 0; i < notes->len; i++) {
        const char *note = g_ptr_array_index(notes, i);
        if (text->len == 0 && g_utf8_strlen(note, -1) > VERDICT_LINE) {
            g_string_append_printf(text, "%s\n", (const char *)g_ptr_array_index(brief, i));
        }
        g_string_append_printf(text, "%s\n", note);
    }
    g_ptr_array_free(notes, TRUE);
    g_ptr_array_free(brief, TRUE);
}

/* --- JSON ------------------------------------------------------------------------------------------------------ */

static void put_text(json_dumper *json, const char *name, const char *text)
{
    json_dumper_set_member_name(json, name);
    json_dumper_value_string(json, text);
}

void verdict_put_number(json_dumper *json, const char *name, double number)
{
    json_dumper_set_member_name(json, name);
    if (isnan(number)) {
        json_dumper_value_anyf(json, "null");
    } else if (number == floor(number) && fabs(number) < 1e15) {
        json_dumper_value_anyf(json, "%.0f", number);
    } else {
        json_dumper_value_double(json, number);
    }
}

void verdict_begin_list(json_dumper *json, const char *name)
{
    json_dumper_set_member_name(json, name);
    json_dumper_begin_array(json);
}

static void put_word(json_dumper *json, const char *name, const char *word)
{
    json_dumper_set_member_name(json, name);
    json_dumper_value_anyf(json, "%s", word);
}

static void put_finding(json_dumper *json, wmem_allocator_t *pool, const verdict_finding *finding)
{
    json_dumper_begin_object(json);
    put_text(json, "party", verdict_parties[finding->party]);
    put_text(json, "kind", verdict_rows[finding->kind].name);
    put_word(json, "note", finding->kind >= VERDICT_FIRST_NOTE ? "true" : "false");
    json_dumper_set_member_name(json, "since");
    json_dumper_begin_object(json);
    put_text(json, "time", verdict_time(pool, finding->since));
    verdict_put_number(json, "frame", finding->frames[0]);
    json_dumper_end_object(json);
    json_dumper_set_member_name(json, "until");
    if (finding->lasts) {
        json_dumper_value_anyf(json, "null");
    } else {
        json_dumper_begin_object(json);
        put_text(json, "time", verdict_time(pool, finding->until));
        verdict_put_number(json, "frame", finding->frames[finding->listed - 1]);
        json_dumper_end_object(json);
    }
    verdict_put_number(json, "count", finding->count);
    put_text(json, "filter", verdict_filter(pool, finding));
    put_text(json, "text", wmem_strconcat(pool, finding->text, finding->more ? "; " : NULL, finding->more, NULL));
    put_text(json, "advice", verdict_rows[finding->kind].advice);
    json_dumper_end_object(json);
}

#define FIGURE_NAME(figure, name, ...) name,
#define FIGURE_COLUMN(figure, name, title, type, format) {type, title, format},
static const char *const figure_names[] = {FIGURES(FIGURE_NAME)};
static const table_column figure_columns[] = {FIGURES(FIGURE_COLUMN)};

static void put_monitor(json_dumper *json, const verdict_monitor *monitor)
{
    const verdict_talk *talk = monitor->talks;

    json_dumper_begin_object(json);
    put_word(json, "healthy", health_words[health_of(monitor)]);
    put_word(json, "sealed", talk && talk->is_sealed ? "true" : "false");
    verdict_put_number(json, "queries", monitor->number > 0 ? monitor->num_talks : 0);
    for (unsigned i = 0; i < NUM_FIGURES; i++) {
        if (figure_columns[i].type != TABLE_ITEM_STRING) {
            verdict_put_number(json, figure_names[i], monitor->figures.numbers[i]);
        } else if (monitor->figures.texts[i]) {
            put_text(json, figure_names[i], monitor->figures.texts[i]);
        }
    }
    verdict_begin_list(json, "findings");
    for (const verdict_finding *finding = monitor->findings; finding; finding = finding->next) {
        put_finding(json, monitor->pool, finding);
    }
    json_dumper_end_array(json);
    json_dumper_end_object(json);
}

void verdict_put_texts(json_dumper *json, const char *name, GPtrArray *texts)
{
    verdict_begin_list(json, name);
    for (unsigned i = 0; i < texts->len; i++) {
        json_dumper_value_string(json, g_ptr_array_index(texts, i));
    }
    json_dumper_end_array(json);
    g_ptr_array_free(texts, TRUE);
}

void verdict_put_json(json_dumper *json, const verdict *v)
{
    json_dumper_begin_object(json);
    put_word(json, "healthy", health_words[health_of_all(v)]);
    verdict_put_texts(json, "notes", notes_of(v, OMISSIONS_LONG));
    verdict_begin_list(json, "monitors");
    for (unsigned i = 0; i < v->monitors->len; i++) {
        put_monitor(json, g_ptr_array_index(v->monitors, i));
    }
    json_dumper_end_array(json);
    json_dumper_end_object(json);
}

static void write_json(GString *text, const verdict *v)
{
    json_dumper json = {.output_string = text, .flags = JSON_DUMPER_FLAGS_PRETTY_PRINT};

    verdict_put_json(&json, v);
    json_dumper_finish(&json);
}

void verdict_put_titles(json_dumper *json)
{
    verdict_begin_list(json, "figures");
    for (unsigned i = 0; i < NUM_FIGURES; i++) {
        json_dumper_begin_object(json);
        put_text(json, "key", figure_names[i]);
        put_text(json, "title", figure_columns[i].name);
        json_dumper_end_object(json);
    }
    json_dumper_end_array(json);
}

/* --- The listener ---------------------------------------------------------------------------------------------- */

static bool begin(void *data)
{
    summary *s = data;
    bool is_json = strcmp(s->task.file.path, "json") == 0;

    s->is_json = is_json || g_str_has_suffix(s->task.file.path, ".json");
    s->task.file.path = is_json ? "-" : s->task.file.path;
    s->verdict = verdict_new(true);
    verdict_wire_watch();
    return true;
}

static void reset(void *data)
{
    verdict_reset(((summary *)data)->verdict);
}

static void count(void *data, packet_info *pinfo, const tapped_call *tapped)
{
    verdict_count(((summary *)data)->verdict, pinfo, tapped);
}

static void draw(void *data)
{
    summary *s = data;
    GString *text = g_string_new(NULL);

    verdict_judge_worst_first(s->verdict);
    (s->is_json ? write_json : write_text)(text, s->verdict);
    output_whole(&s->task.file, text);
}

/* --- Tables ---------------------------------------------------------------------------------------------------- */

typedef struct {
    stat_table table; /* first: Wireshark's listener points to it */
    verdict *verdict;
} verdict_table;

static void count_for_table(stat_table *t, packet_info *pinfo, const tapped_call *tapped)
{
    verdict_count(((verdict_table *)t)->verdict, pinfo, tapped);
}

static void begin_table(stat_table *t)
{
    verdict_wire_watch();
    verdict_reset(((verdict_table *)t)->verdict);
}

#define EI_COLUMNS(X) \
    X(FINDING, TABLE_ITEM_STRING, "Finding", NULL) \
    X(COUNT, TABLE_ITEM_FLOAT, "Count", "%.0f") \
    X(FIRST_FRAME, TABLE_ITEM_FLOAT, "First frame", "%.0f") \
    X(FILTER, TABLE_ITEM_STRING, "Filter", NULL) \
    X(EI_CLIENT, TABLE_ITEM_STRING, "Client", NULL) \
    X(EI_SERVER, TABLE_ITEM_STRING, "Server", NULL) \
    X(DETAILS, TABLE_ITEM_STRING, "Details", NULL)

enum { EI_COLUMNS(TABLE_NUMBER) NUM_FINDING_COLUMNS };

static const table_column finding_columns[] = {EI_COLUMNS(TABLE_COLUMN)};

static unsigned put_row(stat_table *t, const verdict_monitor *monitor, const char *text)
{
    /* The number stands first: so what is worst stands at the top, also where a window sorts. */
    unsigned row =
        stat_table_add_row(t, wmem_strdup_printf(monitor->pool, "%3u. %s", t->shown->num_elements + 1, text));

    stat_table_set_text(t, row, EI_CLIENT, monitor->figures.texts[FIGURE_CLIENT]);
    stat_table_set_text(t, row, EI_SERVER, monitor->figures.texts[FIGURE_SERVER]);
    return row;
}

static void fill_findings(stat_table *t)
{
    verdict *v = ((verdict_table *)t)->verdict;

    verdict_judge_worst_first(v);
    t->omitted.has_findings = v->monitors->len > 0;
    for (unsigned i = 0; i < v->monitors->len; i++) {
        const verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        for (const verdict_finding *finding = monitor->findings; finding; finding = finding->next) {
            unsigned row = put_row(t, monitor, finding->text);
            stat_table_set_number(t, row, COUNT, finding->count);
            stat_table_set_number(t, row, FIRST_FRAME, finding->frames[0]);
            stat_table_set_text(t, row, FILTER, verdict_filter(monitor->pool, finding));
            stat_table_set_text(t, row, DETAILS, finding->more ? finding->more : "");
        }
        if (monitor->talks) {
            put_row(t, monitor, verdict_account(monitor));
        }
    }
}

/* Not what has no handle, or one that the server does not know, as far as was seen by now. */
static void fill_queries(stat_table *t)
{
    verdict *v = ((verdict_table *)t)->verdict;

    verdict_judge(v);
    for (unsigned i = 0; i < v->monitors->len; i++) {
        const verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        if (monitor->number == 0 || monitor->figures.numbers[FIGURE_SAMPLES] <= 0) {
            continue;
        }
        unsigned row = stat_table_add_row(t, monitor->figures.texts[FIGURE_HANDLE]);
        for (unsigned figure = 1; figure < NUM_QUERY_COLUMNS; figure++) {
            double number = monitor->figures.numbers[figure];
            const char *text = monitor->figures.texts[figure];
            if (figure_columns[figure].type == TABLE_ITEM_STRING && text) {
                stat_table_set_text(t, row, figure, text);
            } else if (figure_columns[figure].type == TABLE_ITEM_UINT) {
                stat_table_set_count(t, row, figure, (uint64_t)number);
            } else if (figure_columns[figure].type == TABLE_ITEM_FLOAT && !isnan(number)) {
                stat_table_set_number(t, row, figure, number);
            }
        }
    }
}

void summary_register(void)
{
    static output_statistic statistic = {.name = "pcq,summary",
                                         .place = "-",
                                         .task_size = sizeof(summary),
                                         .begin = begin,
                                         .reset = reset,
                                         .count = count,
                                         .draw = draw};
    static verdict_table queries = {
        .table = {.ui = {.title = "Performance Counter Queries",
                         .cli_string = "pcq,queries",
                         .nfields = NUM_QUERY_COLUMNS},
                  .columns = figure_columns,
                  .begin = begin_table,
                  .count = count_for_table,
                  .fill = fill_queries},
    };
    static verdict_table findings = {
        .table = {.ui = {.title = "Performance Counter Monitors",
                         .cli_string = "pcq,monitors",
                         .nfields = NUM_FINDING_COLUMNS},
                  .columns = finding_columns,
                  .begin = begin_table,
                  .count = count_for_table,
                  .fill = fill_findings},
    };

    queries.verdict = verdict_new(false);
    findings.verdict = verdict_new(true);
    stat_table_register(&queries.table);
    stat_table_register(&findings.table);
    output_register(&statistic);
}
