/* state.c
 * The rooms of the state, registered together.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/state.h"

#include "perf/hash.h"

void state_register(void)
{
    static bool done;

    if (!done) { /* by the other protocol */
        perf_hash_key((uint64_t)g_random_int() << 32 | g_random_int());
        hosts_register();
        facts_register();
        handles_register();
        queries_register();
        samples_register();
        done = true;
    }
}
