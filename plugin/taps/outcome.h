/* outcome.h
 * What whoever asked for a file is told when it could not be written.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_TAPS_OUTCOME_H
#define PCQ_TAPS_OUTCOME_H

#include "ws_compat.h"

/* Called once, at registration. */
void outcome_register(void);

/* Reports the sentence as a failure (on the terminal or in a dialog), and makes the program end with exit status 1.
 * Wireshark lets a tap that is drawn neither fail nor set the status; so it is set when everything else is done. */
void outcome_failed(const char *format, ...) G_GNUC_PRINTF(1, 2);

#endif
