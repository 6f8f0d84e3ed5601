/* omissions.c
 * What a statistic or export could not take, or took as assumed.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/omissions.h"

/* --- Counting ---------------------------------------------------------------------------------------------------- */

void omissions_count_call(omissions *o, const call_tap_data *tapped)
{
    const counter_response *answer = tapped->answer;

    if (tapped->is_repeated) {
        return;
    }
    if (tapped->unread) {
        o->why_undecoded = o->why_undecoded ? o->why_undecoded : g_intern_string(tapped->unread);
        o->counts[OMITTED_UNDECODED]++;
        return;
    }
    o->any_decoded = true;
    o->samples += call_tap_has_sample(tapped) && tapped->counters > 0;
    if (answer) {
        o->counts[OMITTED_ORPHANS] += answer->handle == NULL;
        o->counts[OMITTED_MALFORMED] += answer->handle && answer->sample == NULL;
    } else if (tapped->is_response && tapped->brings_data) { /* a response without a status ends too soon */
        o->counts[OMITTED_MALFORMED] += tapped->is_damaged && !tapped->has_status;
    }
}

bool omissions_ask(omissions *o, const char *path)
{
    bool is_asked = o->paths == NULL || watch_has_path(o->paths, path);

    o->any_path |= is_asked;
    return is_asked;
}

void omissions_count_value(omissions *o, value_stream *stream, const perf_result *result)
{
    o->counts[OMITTED_UNTYPED] += perf_is_untyped(result->none);
    o->counts[OMITTED_ASSUMED] += value_stream_assumed(stream) != ASSUMED_NONE;
}

/* --- Notes ------------------------------------------------------------------------------------------------------- */

#define NOTHING \
    "no call of PerflibV2 or HKEY_PERFORMANCE_DATA was read; none is here or passes the filter, or SMB3 encrypts " \
    "them (give the key: -o ntlmssp.nt_password:PASSWORD, or -o kerberos.decrypt:TRUE -o kerberos.file:KEYTAB), or " \
    "their " \
    "bind is missing, or the client got no further than to log on: docs/symptoms.md, \"Wireshark shows none of it\""

#define NO_SAMPLES "no response with counter data is here or passes the filter; -z pcq,summary says why"

#define OMISSION_ROW(name, sentence, remedy) {sentence, remedy},

GPtrArray *omissions_format(const omissions *o, bool is_brief)
{
    static const struct {
        const char *sentence, *remedy;
    } rows[] = {OMISSIONS(OMISSION_ROW)};
    GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);

    for (unsigned i = 0; i < (o->has_findings ? OMITTED_ORPHANS + 1 : NUM_OMISSIONS); i++) {
        const char *remedy = i == OMITTED_UNDECODED ? o->why_undecoded : rows[i].remedy;
        if (o->counts[i] > 0 && (is_brief || *remedy)) {
            g_ptr_array_add(notes, g_strdup_printf("%s: %" PRIu64 "; %s", rows[i].sentence, o->counts[i], remedy));
        }
    }
    if (o->paths && !o->any_path && o->samples > 0) {
        g_ptr_array_add(notes, g_strdup("no counter fits the paths; -z pcq,counters lists all"));
    }
    if (notes->len == 0 && o->samples == 0 && !o->has_findings) {
        g_ptr_array_add(notes, g_strdup(o->any_decoded ? NO_SAMPLES : NOTHING));
    }
    for (unsigned i = 0; is_brief && i < notes->len; i++) {
        char *note = g_ptr_array_index(notes, i);
        note[strcspn(note, ";")] = '\0';
    }
    return notes;
}
