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

/* A finding; without kind, party and text the evidence of one: frames that show something. Begins as
 * zeros and its pool. Frames set to NULL empty it. */
typedef struct verdict_finding {
    struct verdict_finding *next; /* less bad, or later */
    verdict_kind kind;
    verdict_party party;
    wmem_allocator_t *pool;
    uint32_t *frames;     /* numbers; of a finding ascending, each once; NULL: none */
    unsigned count;       /* number of `frames`; meaningless without */
    uint32_t first, last; /* lowest and highest frame; meaningless without frames, as the times are */
    double since, until;  /* times of these two, seconds since 1970; 0: not known */
    bool is_unread;       /* the capture lacks what would tell: health is not known, instead of bad */
    bool lasts;           /* nothing shows that it ended before the capture did */
    const char *text;     /* who, what, to whom, when: one line of at most VERDICT_LINE characters */
    const char *more;     /* details of what is affected; NULL: none */
    const char *meaning;  /* of the first status, with what to do, instead of the kind's advice; NULL: not known */
    const char *which;    /* first path, port or account, as $F has it; NULL: none */
} verdict_finding;

typedef verdict_finding verdict_evidence;

#define VERDICT_LINE 120 /* characters of a sentence, or of a monitor's line */

typedef struct {
    const char *name, *what, *advice, *see; /* as VERDICT_KINDS has them */
} verdict_row;

extern const verdict_row verdict_rows[VERDICT_NUM_KINDS];
extern const char *const verdict_parties[];

/* Adds a frame and its time, seconds since 1970. Needs: a pool. A frame that is added twice counts once in a finding. */
void evidence_add(verdict_evidence *evidence, uint32_t frame, double when);

static inline unsigned evidence_count(const verdict_evidence *evidence)
{
    return evidence->frames ? evidence->count : 0;
}

/* Sets the times of the capture's first and last packet, seconds since 1970, for all findings: if they are of two days, sentences have dates. */
void verdict_set_span(double begin, double end);

/* Adds a finding of the evidence, if that has frames, in its pool. `text`: $S, $C: server, client. $F: `which`.
 * $N: " (3 times)" for several frames. $T: "since T, frame N" if it `lasts`, else "T to U, frames N to M"; one
 * frame: "T, frame N". A sentence that is too long loses $N and [brackets], then ends of $S, $C, $F.
 * Changes: the list, kept sorted. */
void verdict_add_finding(verdict_finding **findings, verdict_kind kind, verdict_party party,
                         const verdict_evidence *evidence, bool lasts, const char *server, const char *client,
                         const char *text);

/* Returns a duration with its unit: "0.8 s", "3 ms", "2 min". */
const char *verdict_seconds(wmem_allocator_t *pool, double seconds);

/* Returns the display filter that finds exactly the finding's frames; "" if it would list more than 200 ranges. */
const char *verdict_filter(wmem_allocator_t *pool, const verdict_finding *finding);

/* Returns "MEANING (REFERENCE)", or with the advice of the finding's kind if it has no meaning. */
const char *verdict_advice(wmem_allocator_t *pool, const verdict_finding *finding);

/* Returns "2026-11-25T09:46:50.003Z", UTC. `when`: seconds since 1970. */
const char *verdict_time(wmem_allocator_t *pool, double when);

/* Returns true if the frame is one that shows the finding. */
bool verdict_finding_has(const verdict_finding *finding, uint32_t frame);

/* Compares for sorting: the worse kind first, then the earlier one. Kinds up to VERDICT_LAST_STOP count as equally bad. */
int verdict_finding_compare(const verdict_finding *x, const verdict_finding *y);
