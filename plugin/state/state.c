/* state.c
 * The rooms of the state, registered together.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/state.h"

#include "perf/hash.h"

void perf_state_register(void)
{
    static bool done;

    if (!done) { /* by the other protocol */
        perf_hash_key((uint64_t)g_random_int() << 32 | g_random_int());
        perf_servers_register();
        perf_facts_register();
        perf_handles_register();
        perf_queries_register();
        perf_samples_register();
        done = true;
    }
}
