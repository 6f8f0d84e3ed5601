/* timing.h
 * Late requests and slow responses of a monitor: whose they are, and what shows it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/monitors.h"

/* Adds findings of late, slow and of another clock, unless the capture's was set. Returns whether a long gap lacks packets. Changes: statistics. */
bool timing_find(verdict_monitor *monitor);
