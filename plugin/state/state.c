/* state.c
 * The rooms of the state, registered together: the one file of the folder that knows them all.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/state.h"

static void move(state_connection *connection)
{
    facts_move(connection);
    handles_move(connection);
}

void state_register(void)
{
    queries_register();
    hosts_register(move);
    facts_register();
    handles_register();
    samples_register();
}
