/* left-out.c
 * What a listener could not take, or took with a doubt.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/left-out.h"

static void count_unread(left_out *left, const char *why)
{
    unsigned i = 0;

    why = g_intern_string(why); /* there are few reasons; what finds no room is counted with the last */
    while (i + 1 < LEFT_OUT_REASONS && left->unread[i].why && left->unread[i].why != why) {
        i++;
    }
    if (left->unread[i].why == NULL) {
        left->unread[i].why = why;
    }
    left->unread[i].calls++;
}

void left_out_count(left_out *left, const tapped_call *tapped)
{
    if (tapped->unread) {
        if (!tapped->is_repeated) {
            count_unread(left, tapped->unread);
            left->responses += tapped->sealed.answers_read || (tapped->is_response && !tapped->sealed.connection);
        }
        return;
    }
    left->any_read = true;
    left->any_pcq |= !tapped->is_hkpd;
    left->opened |= tapped->handle != NULL;
    left->opened_query |= tapped->handle && !tapped->is_hkpd;
    if (tapped->is_repeated) {
        return;
    }
    left->requests += !tapped->is_response;
    left->titles += tapped->lacks_titles;
    left->probes += tapped->is_probe && tapped->brings_data;
    left->responses += tapped->is_response;
    const counter_response *answer = tapped->answer;
    if (answer) {
        left->empty += answer->sample && tapped->counters == 0;
        left->samples += answer->handle && answer->sample;
        left->strange += answer->handle == NULL;
        left->damaged += answer->handle && answer->sample == NULL;
        left->values += tapped->values_left_out;
        left->objects += tapped->objects_left_out;
    } else if (tapped_succeeded(tapped) && tapped->brings_data) {
        left->empty++;
    } else if (tapped->has_failed && left->failed++ == 0) {
        left->failed_operation = g_intern_string(tapped->operation);
        left->failed_error = g_intern_string(tapped_error(NULL, tapped));
    } else if (!tapped->has_failed) { /* what says neither whether it succeeded ends too soon */
        left->damaged += tapped->is_response && tapped->brings_data && tapped->is_damaged && !tapped->has_status;
    }
}

void left_out_count_marks(left_out *left, unsigned marks)
{
    if (marks == 0) {
        return;
    }
    left->untyped += (marks & LEFT_OUT_UNTYPED) && !(marks & LEFT_OUT_UNKNOWN);
    left->nameless += (marks & LEFT_OUT_UNKNOWN) != 0;
    left->from_file += (marks & LEFT_OUT_FROM_FILE) != 0;
    for (unsigned i = 0; i < NUM_ASSUMED_REASONS; i++) {
        left->assumed[i] += (marks & (unsigned)LEFT_OUT_ASSUMED << i) != 0;
    }
}

/* "answers that do not add up: 2"; and what to do about it, unless it has to be brief. */
static void add(GPtrArray *notes, left_out_form form, const char *of, const char *what, uint64_t count, const char *why)
{
    bool is_brief = form == LEFT_OUT_BRIEF;

    g_ptr_array_add(
        notes, g_strdup_printf("%s%s: %" PRIu64 "%s%s", of, what, count, is_brief ? "" : "; ", is_brief ? "" : why));
}

static const char *nothing_read(left_out_form form)
{
    return form == LEFT_OUT_BRIEF
               ? "no performance counter call is here or passes the filter"
               : "no call of PerflibV2 or HKEY_PERFORMANCE_DATA was read: none is in this capture or passes the "
                 "filter; or SMB3 encrypts them: give the key of whoever logged on (-o ntlmssp.nt_password:PASSWORD or "
                 "-o kerberos.decrypt:TRUE -o kerberos.file:KEYTAB); or the connection's bind is missing: capture "
                 "from before the client connects; or the client got no further than to log on or to open the pipe "
                 "winreg (-Y \"smb2.nt_status >= 0xc0000000\"; docs/symptoms.md)";
}

/* The last note: calls were read, none failed, and there is still no sample. */
static const char *why_no_samples(const left_out *left, left_out_form form)
{
    if (left->opened) {
        return left->opened_query ? "a query was opened, and no answer has its counter data"
                                  : "HKEY_PERFORMANCE_DATA was opened, and no answer has performance data";
    }
    return form == LEFT_OUT_BRIEF ? "no query was opened: only names and types were asked for"
                                  : "no query was opened: all calls that were read ask for names, types and instances";
}

static void add_unmet(GPtrArray *notes, const watch_paths *paths, left_out_form form)
{
    const char *pattern, *more = form == LEFT_OUT_BRIEF ? "" : "; -z pcq,counters lists all";
    unsigned among;

    for (unsigned i = 0; (pattern = watch_paths_unmet(paths, i, &among)) != NULL; i++) {
        g_ptr_array_add(notes, g_strdup_printf("counters that fit %s: 0 of %u%s", pattern, among, more));
    }
}

GPtrArray *left_out_notes(const left_out *left, const char *what, left_out_form form)
{
    GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);
    bool any_unread = left->unread[0].why != NULL;
    /* all that there is was read, and nothing else is to be said of it */
    bool has_no_samples = left->any_read && !left->needs_no_samples && !any_unread &&
                          left->samples + left->failed + left->strange + left->damaged + left->empty == 0 &&
                          left->requests <= left->responses;
    /* one alone is no loss: the capture ended in between */
    bool any_unanswered = left->requests > left->responses + (left->samples > 0);
    char *first_failed =
        g_strdup_printf("no answer has values; the first to fail was %s with %s",
                        left->failed ? left->failed_operation : "", left->failed ? left->failed_error : "");
    const struct {
        uint64_t count;
        const char *what, *why; /* of `what` that was given, where it begins with a blank */
    } rows[] = {
        {left->samples > 0 || any_unread ? 0 : left->failed,
         left->opened    ? "calls that failed"
         : left->any_pcq ? "no query was opened; calls that failed"
                         : "HKEY_PERFORMANCE_DATA was not opened; calls that failed",
         first_failed},
        {any_unanswered ? left->requests - left->responses : 0, "calls without a captured response",
         "the server did not answer, or responses were lost, cut by a snapshot length, or go another way than the "
         "capture"},
        {left->strange, "answers of no known query or handle",
         "their requests were not captured or not opened, or are not known from others of that call id or handle"},
        {left->damaged, "answers that do not add up", "Analyze, Expert Information (-z expert) says where"},
        {left->values, "values left out of answers that do not add up", "-z expert says where"},
        {left->objects, "objects left out of answers that do not add up", "-z expert says where"},
        {left->empty, "answers without data",
         "they succeeded and hold nothing: the server has none of what was asked for, or accepted none of it (-z "
         "pcq,refusals)"},
        {left->titles, "lists of titles that could not be read whole",
         "objects and counters whose titles are missing go by their number (#10); pcq.expert.text says where"},
        {left->nameless, "values of a counter that is not known",
         "they have no name and no result (-z pcq,long has them): capture from before the client adds counters"},
        {form == LEFT_OUT_BRIEF ? left->texts : 0, "texts, which have no row",
         ""}, /* no loss: a row says it, no warning */
        {form == LEFT_OUT_BRIEF ? left->repeated : 0, "values of a path that the answer had before", ""},
        {form == LEFT_OUT_BRIEF ? left->of_others : 0, "values of a path that another counter or type has", ""},
        {left->without_cell, "values that are not in the CSV",
         "another value, counter or type has their path, there are too many columns, or nearly all would be empty; "
         "-z pcq,long has a row for each value"},
        {left->untyped, " of a counter whose type is not known",
         "they have no result: a client reads types before it adds counters; capture from there on, or name a file of "
         "another capture that has them (-o pcq.names_file:FILE)"},
        {left->from_file, " by a type of the names file",
         "the capture does not hold the types; what the file says has to be true of this server"},
        {left->assumed[ASSUMED_RESPONSE], " of a malformed answer", assumed_reason_texts[ASSUMED_RESPONSE]},
        {left->assumed[ASSUMED_COUNTER], " of an assumed counter", assumed_reason_texts[ASSUMED_COUNTER]},
        {left->assumed[ASSUMED_INSTANCE], " of an assumed instance", assumed_reason_texts[ASSUMED_INSTANCE]},
        {left->assumed[ASSUMED_NAME], " of an assumed name", assumed_reason_texts[ASSUMED_NAME]},
        {has_no_samples ? left->probes : 0, "no samples, but size probes",
         "each time the client offers less room than the server needs"},
    };

    for (unsigned i = 0; i < LEFT_OUT_REASONS && left->unread[i].why; i++) {
        add(notes, form, "", "requests and responses not read", left->unread[i].calls, left->unread[i].why);
    }
    if (!left->any_read && !any_unread) {
        g_ptr_array_add(notes, g_strdup(nothing_read(form)));
    }
    for (unsigned i = 0; i < array_length(rows); i++) {
        if (rows[i].count > 0) {
            add(notes, form, *rows[i].what == ' ' ? what : "", rows[i].what, rows[i].count, rows[i].why);
        }
    }
    add_unmet(notes, left->paths, form);
    if (has_no_samples && left->probes == 0) {
        g_ptr_array_add(notes, g_strdup(why_no_samples(left, form)));
    }
    g_free(first_failed);
    return notes;
}
