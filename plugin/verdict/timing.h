/* timing.h
 * Late requests and slow responses of a monitor: whose they are, and what shows it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/monitors.h"

/* Adds findings of late requests, slow responses and another clock; none if the capture's clock was set. Returns whether the capture lacks packets
 * in a long gap. Changes: the monitor's num_late and counts of late and slow. */
bool timing_find(verdict_monitor *monitor);
