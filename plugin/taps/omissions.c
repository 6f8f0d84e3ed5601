/* omissions.c
 * What a statistic or export could not take, or took as assumed.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/omissions.h"

/* --- Counting ---------------------------------------------------------------------------------------------------- */

static void count_undecoded(omissions *o, const tapped_call *tapped)
{
    o->why_undecoded = o->undecoded == 0 ? g_intern_string(tapped->unread) : o->why_undecoded;
    o->undecoded++;
    o->responses += tapped->sealed.answers_read || (tapped->is_response && !tapped->sealed.connection);
}

void omissions_count_call(omissions *o, const tapped_call *tapped)
{
    const counter_response *answer = tapped->answer;

    if (tapped->is_repeated) {
        return;
    }
    if (tapped->unread) {
        count_undecoded(o, tapped);
        return;
    }
    o->any_decoded = true;
    o->requests += !tapped->is_response;
    o->responses += tapped->is_response;
    o->counts[OMITTED_TITLES] += tapped->is_response && tapped->asks_titles && tapped->is_damaged;
    o->counts[OMITTED_PROBES] += tapped->is_probe && tapped->brings_data;
    if (answer) {
        o->samples += tapped_has_sample(tapped);
        o->counts[OMITTED_EMPTY] += answer->sample && tapped->counters == 0;
        o->counts[OMITTED_ORPHANS] += answer->handle == NULL;
        o->counts[OMITTED_MALFORMED] += answer->handle && answer->sample == NULL;
    } else if (tapped->has_failed) {
        o->counts[OMITTED_FAILED] += !tapped_is_usual_failure(tapped);
    } else if (tapped->is_response && tapped->brings_data) {
        o->counts[OMITTED_EMPTY] += tapped->has_status && tapped->status == 0 && !tapped->is_probe;
        o->counts[OMITTED_MALFORMED] += tapped->is_damaged && !tapped->has_status; /* it ends too soon */
    }
}

void omissions_count_value(omissions *o, value_stream *stream, const perf_result *result)
{
    o->counts[OMITTED_UNTYPED] += is_untyped_result(result);
    o->counts[OMITTED_ASSUMED] += value_stream_is_assumed(stream);
}

/* --- Notes ------------------------------------------------------------------------------------------------------- */

#define NOTHING \
    "no call of PerflibV2 or HKEY_PERFORMANCE_DATA was read; none is in this capture or passes the filter; or SMB3 " \
    "encrypts them: give the key of whoever logged on (-o ntlmssp.nt_password:PASSWORD or -o kerberos.decrypt:TRUE " \
    "-o kerberos.file:KEYTAB); or the connection's bind is missing: capture from before the client connects; or the " \
    "client got no further than to log on or to open the pipe winreg (-Y \"smb2.nt_status >= 0xc0000000\"; " \
    "docs/symptoms.md)"

/* Returns the number that a note says, 0: no note. Where a summary says the rest, only orphans and titles have one. Failed calls and probes have
 * one only if they explain that there are no samples. */
static uint64_t get_count(const omissions *o, omission kind)
{
    if (o->has_findings && kind != OMITTED_ORPHANS && kind != OMITTED_TITLES) {
        return 0;
    }
    if (kind == OMITTED_UNANSWERED) { /* one behind samples is no loss: the capture ended in between */
        return o->requests > o->responses + (o->samples > 0) ? o->requests - o->responses : 0;
    }
    bool is_said = (kind != OMITTED_FAILED && kind != OMITTED_PROBES) || (o->samples == 0 && o->undecoded == 0);
    return is_said ? o->counts[kind] : 0;
}

/* Adds a note, "SENTENCE: COUNT; REMEDY", if there is something to count. `remedy`: NULL: only the brief form has the note. */
static void add_note(GPtrArray *notes, omissions_form form, const char *sentence, uint64_t count, const char *remedy)
{
    if (count > 0 && form == OMISSIONS_BRIEF) {
        g_ptr_array_add(notes, g_strdup_printf("%s: %" PRIu64, sentence, count));
    } else if (count > 0 && remedy) {
        g_ptr_array_add(notes, g_strdup_printf("%s: %" PRIu64 "; %s", sentence, count, remedy));
    }
}

#define OMISSION_ROW(name, sentence, remedy) {sentence, remedy},

GPtrArray *omissions_format(const omissions *o, omissions_form form)
{
    static const struct {
        const char *sentence, *remedy;
    } rows[] = {OMISSIONS(OMISSION_ROW)};
    GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);

    add_note(notes, form, "requests and responses not decoded", o->undecoded, o->why_undecoded);
    for (unsigned i = 0; i < NUM_OMISSIONS; i++) {
        add_note(notes, form, rows[i].sentence, get_count(o, (omission)i), rows[i].remedy);
    }
    if (!watch_paths_are_met(o->paths) && o->samples > 0) {
        g_ptr_array_add(notes, g_strdup("no counter fits the paths; -z pcq,counters lists all"));
    }
    if (notes->len == 0 && o->samples == 0 && !o->has_findings) {
        const char *note = o->any_decoded ? "no response with counter data is here or passes the filter" : NOTHING;
        size_t size = form == OMISSIONS_BRIEF ? strcspn(note, ";") : strlen(note);
        g_ptr_array_add(notes, g_strndup(note, size));
    }
    return notes;
}
