/* omissions.c
 * What a statistic or export could not take, or took as assumed.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/omissions.h"

/* --- Counting ---------------------------------------------------------------------------------------------------- */

/* Counts a call that nobody decoded by its reason. There are few reasons: one that finds no room is counted with the last. */
static void count_undecoded(omissions *o, const char *why)
{
    unsigned i = 0;

    why = g_intern_string(why);
    while (i + 1 < MAX_UNDECODED && o->undecoded[i].why && o->undecoded[i].why != why) {
        i++;
    }
    if (o->undecoded[i].why == NULL) {
        o->undecoded[i].why = why;
    }
    o->undecoded[i].calls++;
}

static void count_failed(omissions *o, const tapped_call *tapped)
{
    if (o->counts[OMITTED_FAILED]++ == 0) {
        char *first = g_strdup_printf("%s with %s", tapped->operation, tapped_error(NULL, tapped));
        o->first_failed = g_intern_string(first);
        g_free(first);
    }
}

void omissions_count_call(omissions *o, const tapped_call *tapped)
{
    const counter_response *answer = tapped->answer;

    if (tapped->unread) {
        if (!tapped->is_repeated) {
            count_undecoded(o, tapped->unread);
            o->responses += tapped->sealed.answers_read || (tapped->is_response && !tapped->sealed.connection);
        }
        return;
    }
    o->any_decoded = true;
    if (tapped->is_repeated) {
        return;
    }
    o->requests += !tapped->is_response;
    o->responses += tapped->is_response;
    o->counts[OMITTED_TITLES] += tapped->lacks_titles;
    o->counts[OMITTED_PROBES] += tapped->is_probe && tapped->brings_data;
    if (answer) {
        o->samples += tapped_has_sample(tapped);
        o->counts[OMITTED_EMPTY] += answer->sample && tapped->counters == 0;
        o->counts[OMITTED_ORPHANS] += answer->handle == NULL;
        o->counts[OMITTED_MALFORMED] += answer->handle && answer->sample == NULL;
    } else if (tapped_succeeded(tapped) && tapped->brings_data) {
        o->counts[OMITTED_EMPTY]++;
    } else if (tapped->has_failed && !tapped_is_usual_failure(tapped)) {
        count_failed(o, tapped);
    } else if (!tapped->has_failed) { /* a response that says neither whether it succeeded ends too soon */
        o->counts[OMITTED_MALFORMED] +=
            tapped->is_response && tapped->brings_data && tapped->is_damaged && !tapped->has_status;
    }
}

uint64_t omissions_get_undecoded(const omissions *o)
{
    uint64_t calls = 0;

    for (unsigned i = 0; i < MAX_UNDECODED; i++) {
        calls += o->undecoded[i].calls;
    }
    return calls;
}

/* --- Notes ------------------------------------------------------------------------------------------------------- */

#define NOTHING_BRIEF "no performance counter call is here or passes the filter"
#define NOTHING_LONG \
    "no call of PerflibV2 or HKEY_PERFORMANCE_DATA was read: none is in this capture or passes the filter; or SMB3 " \
    "encrypts them: give the key of whoever logged on (-o ntlmssp.nt_password:PASSWORD or -o kerberos.decrypt:TRUE " \
    "-o kerberos.file:KEYTAB); or the connection's bind is missing: capture from before the client connects; or the " \
    "client got no further than to log on or to open the pipe winreg (-Y \"smb2.nt_status >= 0xc0000000\"; " \
    "docs/symptoms.md)"

#define NO_SAMPLES "no response with counter data is here or passes the filter"

/* Returns the number that a note says, 0: no note. Where a summary says the rest, only orphans and titles have one. Failed calls and probes have
 * one only while they explain that there are no samples. Needs: `notes` of the kinds before. */
static uint64_t get_count(const omissions *o, omission kind, const GPtrArray *notes)
{
    bool is_said_always = kind == OMITTED_ORPHANS || kind == OMITTED_TITLES;
    bool is_explained = o->samples > 0 || (kind == OMITTED_FAILED ? o->undecoded[0].why != NULL : notes->len > 0);

    if ((o->has_findings && !is_said_always) || ((kind == OMITTED_FAILED || kind == OMITTED_PROBES) && is_explained)) {
        return 0;
    }
    if (kind == OMITTED_UNANSWERED) { /* one behind samples is no loss: the capture ended in between */
        return o->requests > o->responses + (o->samples > 0) ? o->requests - o->responses : 0;
    }
    return o->counts[kind];
}

/* Adds a note, "SENTENCE: COUNT", and in the long form "; REMEDY MORE". `remedy`: NULL: nothing is added in the long form. */
static void add_note(GPtrArray *notes, omissions_form form, const char *sentence, uint64_t count, const char *remedy,
                     const char *more)
{
    if (form == OMISSIONS_BRIEF) {
        g_ptr_array_add(notes, g_strdup_printf("%s: %" PRIu64, sentence, count));
    } else if (remedy) {
        g_ptr_array_add(notes, g_strdup_printf("%s: %" PRIu64 "; %s%s", sentence, count, remedy, more));
    }
}

#define OMISSION_ROW(name, sentence, remedy) {sentence, remedy},

GPtrArray *omissions_format(const omissions *o, const char *what, omissions_form form)
{
    static const struct {
        const char *sentence, *remedy;
    } rows[] = {OMISSIONS(OMISSION_ROW)};
    GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);

    for (unsigned i = 0; i < MAX_UNDECODED && o->undecoded[i].why; i++) {
        add_note(notes, form, "requests and responses not decoded", o->undecoded[i].calls, o->undecoded[i].why, "");
    }
    if (!o->any_decoded && !o->has_findings && notes->len == 0) {
        g_ptr_array_add(notes, g_strdup(form == OMISSIONS_BRIEF ? NOTHING_BRIEF : NOTHING_LONG));
    }
    for (unsigned i = 0; i < NUM_OMISSIONS; i++) {
        uint64_t count = get_count(o, (omission)i, notes);
        if (count > 0) {
            char *sentence = g_strconcat(*rows[i].sentence == ' ' ? what : "", rows[i].sentence, NULL);
            add_note(notes, form, sentence, count, rows[i].remedy, i == OMITTED_FAILED ? o->first_failed : "");
            g_free(sentence);
        }
    }
    if (!watch_paths_are_met(o->paths) && o->samples > 0) {
        g_ptr_array_add(notes, g_strdup("no counter fits the paths; -z pcq,counters lists all"));
    }
    if (notes->len == 0 && o->samples == 0 && !o->has_findings) {
        g_ptr_array_add(notes, g_strdup(NO_SAMPLES));
    }
    return notes;
}
