/* calls-tree.h
 * `-z pcq,tree`: operations, what they ask for, statuses, sizes, and size probes with their answers.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_TAPS_CALLS_TREE_H
#define PCQ_TAPS_CALLS_TREE_H

void calls_tree_register(void);

#endif
