/* plain-words.h
 * Findings in words for readers without Wireshark.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/talks.h"

/* Words for one kind. Zeros for a kind without them: its sentence and advice stand for them. */
typedef struct {
    const char *what;   /* noun phrase, true whoever the cause is: "Logon refused" */
    const char *lead;   /* text between `what` and the first of what is affected, NULL: that is not named */
    const char *advice; /* sentences */
} plain_words;

extern const plain_words verdict_plain_words[VERDICT_NUM_KINDS];

/* Returns "Counters refused: \Set(*)\Counter", in the monitor's pool. */
const char *verdict_format_what(const verdict_monitor *monitor, const verdict_finding *finding);

/* Returns where the cause lies: "Server SRV01", "Client 192.0.2.10", "Network to SRV01", "Capture". */
const char *verdict_format_who(const verdict_monitor *monitor, const verdict_finding *finding);

/* Returns the time of the last frame that shows the finding, in seconds since 1970. */
double verdict_find_until(const verdict_monitor *monitor, const verdict_finding *finding);
