/* evidence.h
 * Frames that show a finding, and its words: who, what, when; a filter; what to do.
 *
 * A finding's filter finds exactly its frames. This is the only place that counts frames.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/finding-kinds.h"

#include "ws_compat.h"

typedef struct verdict_finding {
    struct verdict_finding *next; /* less bad, or later */
    verdict_kind kind;
    verdict_party party;
    const uint32_t *frames; /* that show it, ascending, each once */
    unsigned count;         /* of them, at least 1 */
    double since, until;    /* times of the first and the last, seconds since 1970; 0: not known */
    bool is_unread;         /* for lack of it nothing is known of the monitor, so it is no fault */
    bool lasts;             /* nothing shows that it ended before the capture did */
    const char *text;       /* who, what, to whom, when: one line of at most VERDICT_LINE characters */
    const char *more;       /* what is affected; NULL: nothing to add */
    const char *meaning;    /* of the status, with what to do; NULL: the kind's advice is said */
    const char *which;      /* the first of them, as the sentence has it; NULL: none */
} verdict_finding;

#define VERDICT_LINE 120

typedef struct {
    const char *name, *what, *advice, *see;
} verdict_row;

extern const verdict_row verdict_rows[VERDICT_NUM_KINDS];
extern const char *const verdict_parties[];

/* Frames that show something. Begins with its pool. */
typedef struct {
    wmem_allocator_t *pool;
    wmem_array_t *frames; /* uint32_t, NULL: none */
    uint32_t first, last;
    double since, until; /* times of the first and the last */
    bool is_unread;      /* as the finding has it */
    const char *which;   /* $F: a path, for instance */
    const char *more;    /* a finding's, NULL: nothing to add */
    const char *meaning; /* a finding's, NULL: none is known */
} verdict_evidence;

void evidence_add(verdict_evidence *evidence, uint32_t frame, double when);

static inline unsigned evidence_count(const verdict_evidence *evidence)
{
    return evidence->frames ? wmem_array_get_count(evidence->frames) : 0;
}

static inline uint32_t evidence_frame(const verdict_evidence *evidence, unsigned number)
{
    return *(const uint32_t *)wmem_array_index(evidence->frames, number);
}

/* Sets the times of the capture's first and last packet, seconds since 1970: where they are of two days, sentences have dates. */
void verdict_set_span(double begin, double end);

/* Adds a finding of what the evidence shows, if it shows anything. In the sentence $S and $C are server and client, $F which of them, $N
 * " (3 times)" where there are more; $T is "since T, frame N" if it `lasts`, else "T to U, frames N to M", and "T, frame N" of one frame. Of what is
 * too long $N goes first, then what stands in brackets, or behind '|', then ends of names and paths. Changes: the list, sorted. */
void verdict_add_finding(verdict_finding **findings, verdict_kind kind, verdict_party party,
                         const verdict_evidence *evidence, bool lasts, const char *server, const char *client,
                         const char *text);

/* Returns "ERROR_NO_DATA". */
const char *verdict_error(wmem_allocator_t *pool, bool is_fault, uint32_t status);

/* Returns what a status means, and what to do: "no data now: the instance is not there; it may come later"; NULL: not known. */
const char *verdict_meaning(uint32_t status);

/* Returns "0.8 s", "3 ms", "2 min". */
const char *verdict_seconds(wmem_allocator_t *pool, double seconds);

/* Returns the filter that finds exactly the frames that show it; "" if they are too many. */
const char *verdict_filter(wmem_allocator_t *pool, const verdict_finding *finding);

/* Returns what to do, and what says more. */
const char *verdict_advice(wmem_allocator_t *pool, const verdict_finding *finding);

/* Returns "2026-11-25T09:46:50.003Z". */
const char *verdict_time(wmem_allocator_t *pool, double when);

bool verdict_finding_has(const verdict_finding *finding, uint32_t frame);

int verdict_finding_compare(const verdict_finding *x, const verdict_finding *y);
