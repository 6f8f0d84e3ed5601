/* graph-menu.h
 * Statistics, Graph a Performance Counter: sets the preference `pcq.graph` to a counter of the selected packet.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_TAPS_GRAPH_MENU_H
#define PCQ_TAPS_GRAPH_MENU_H

void graph_menu_register(int proto);

#endif
