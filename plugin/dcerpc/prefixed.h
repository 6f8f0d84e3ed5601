/* prefixed.h
 * Fields that both protocols have, each with its own prefix, registered from one table.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_DCERPC_PREFIXED_H
#define PCQ_DCERPC_PREFIXED_H

#include "ws_compat.h"

/* A field whose name begins with a protocol's prefix; `id` and the strings live as long as the program. */
typedef struct {
    int *id;
    const char *label;
    const char *name; /* behind the prefix */
    enum ftenum type;
    int display;
    const void *strings;
    uint64_t mask;
    const char *blurb;
} prefixed_field;

void register_prefixed(int proto, const char *prefix, const prefixed_field *fields, unsigned count);

/* True if somebody looks at one of these fields in the tree. */
bool any_referenced(proto_tree *tree, const int *fields, unsigned count);

#endif
