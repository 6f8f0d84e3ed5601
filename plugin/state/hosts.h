/* hosts.h
 * Old names of state/servers.h, until nobody uses them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/events.h"
#include "state/servers.h"

typedef struct state_server state_host;
