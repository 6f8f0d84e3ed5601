/* timing.h
 * Late requests and slow responses of a monitor: whose they are, and what shows it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/monitors.h"

/* Adds findings of what is late or slow, and of another clock. Returns whether the capture lacks packets where something would be late. */
bool timing_find(verdict_monitor *monitor);
