/* state.h
 * What the packets of a capture taught: names and types, handles, queries, samples. Knows no tree and no layout.
 *
 * Everything here belongs to one capture file. It is written on the first pass only, in the order of events, and is read at any time
 * "as of an event", so that the same packet looks the same whenever it is looked at; a later look notes no more than what it need not
 * find out again.
 *
 * Events count the PDUs as they were first seen; a frame number would not do, since one frame can hold several PDUs.
 * Event 0 is "before everything": it finds nothing.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/facts.h"
#include "state/handles.h"
#include "state/queries.h"
#include "state/samples.h"
#include "state/pace.h"
#include "state/hosts.h"
