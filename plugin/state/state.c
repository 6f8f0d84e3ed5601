/* state.c
 * All parts of the state, registered together.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/state.h"

void state_register(void)
{
    queries_register();
    hosts_register();
    facts_register();
    handles_register();
    samples_register();
}
