/* sealed-talk.c
 * What sizes and times of sealed calls say of a connection's talk about queries: what it asks for, size probes, failures. It is inferred.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/sealed-talk.h"

#include "state/pace.h"

/* Who is answered without data and wanted its size asks again within so much of the usual time between samples; or, as long as
 * that is not known, within so many seconds. */
#define PROBE_SHARE 0.25
#define PROBE_SECONDS 0.5

#define OPEN "OpenQueryHandle"

/* What waits, waits in vain. */
static void give_up(sealed_talk *talk)
{
    if (talk->no_data == 0) {
        talk->no_data_frame = talk->waiting_frame;
    }
    talk->no_data += talk->num_waiting;
    talk->num_waiting = 0;
}

/* A response to who wanted data: a sample; a size probe, if one with data is asked for soon; or a failure. */
static void count_response(sealed_talk *talk, const packet_info *pinfo, const tapped_call *tapped,
                           const perf_spread *intervals)
{
    double usual = perf_spread_median(intervals);
    double allowed = intervals->count < PACE_FEWEST ? PROBE_SECONDS : PROBE_SHARE * usual;
    nstime_t waited;

    nstime_delta(&waited, &tapped->sealed.request_time, &talk->waiting_since);
    if (nstime_to_sec(&waited) > allowed) {
        give_up(talk);
    }
    if (!tapped->sealed.has_data) {
        talk->waiting_since = pinfo->abs_ts;
        talk->waiting_frame = talk->num_waiting++ > 0 ? talk->waiting_frame : pinfo->num;
    } else if (talk->num_waiting > 0) {
        talk->num_waiting--;
        talk->probes++;
    }
    talk->has_sample |= tapped->sealed.has_data;
}

/* A connection's first request has a verification trailer, which makes it longer. */
static void count_request(sealed_talk *talk, const tapped_call *tapped)
{
    bool opens = strcmp(tapped->operation, OPEN) == 0, closes = strcmp(tapped->operation, "CloseQueryHandle") == 0;

    talk->num_open += opens;
    talk->num_open -= closes && talk->num_open > 0;
    talk->is_closed = closes && talk->num_open == 0;
    if (!talk->has_sample && !tapped->sealed.takes_sample && !closes) {
        talk->asked_for = (talk->asked_for * 31 + g_str_hash(tapped->operation)) * 31;
        talk->asked_for += opens ? 0 : tapped->sealed.size;
    }
}

void sealed_talk_count(sealed_talk *talk, const packet_info *pinfo, const tapped_call *tapped,
                       const perf_spread *intervals)
{
    if (!tapped->is_response) {
        count_request(talk, tapped);
    } else if (tapped->sealed.takes_sample) {
        count_response(talk, pinfo, tapped, intervals);
    }
    if (talk->is_closed) {
        give_up(talk);
    }
}

void sealed_talk_join(sealed_talk *talk, const sealed_talk *later)
{
    const sealed_talk first = *talk;

    *talk = *later;
    talk->has_sample = true; /* what it asks for is known */
    talk->asked_for = first.asked_for;
    talk->probes += first.probes;
    talk->no_data += first.no_data;
    talk->no_data_frame = first.no_data > 0 ? first.no_data_frame : later->no_data_frame;
}
