/* hkpd-structures.h
 * The structures of PERF_DATA_BLOCK (winperf.h) around its values, in the tree: the block's header, objects, counter
 * definitions and instances.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_HKPD_HKPD_STRUCTURES_H
#define PCQ_HKPD_HKPD_STRUCTURES_H

#include "hkpd/hkpd-buffers.h"
#include "tree/budget.h"
#include "tree/values.h"

/* The state of showing one block. */
typedef struct {
    tvbuff_t *tvb;
    hkpd_context *context;
    readings *readings;
    const perf_block_walk *walk; /* that of the readings */
    value_wishes wishes;
    const value_fields *fields;
    perf_budget budget;
    unsigned encoding;
    proto_tree *tree;      /* of the answer */
    proto_item *structure; /* of the structure that the walk announced last, NULL if it is not shown */
    uint32_t start;        /* its offset */
    proto_item *header;    /* of PERF_DATA_BLOCK */
    proto_tree *object;    /* of the current object, NULL if it is not shown */
    proto_tree *body;      /* of the current instance, else the object */
    proto_tree *counters;  /* of the current counter block, NULL if only short forms are shown */
} hkpd_view;

static inline wmem_allocator_t *hkpd_view_pool(const hkpd_view *view)
{
    return view->context->report->pinfo->pool;
}

void hkpd_structures_register(int proto);

/* True if somebody looks at one of their fields in the tree. */
bool hkpd_structures_wanted(proto_tree *tree);

/* What the walk has just announced. */
void hkpd_show_header(hkpd_view *view);
void hkpd_show_object(hkpd_view *view);
void hkpd_show_definition(hkpd_view *view);
void hkpd_show_instance(hkpd_view *view);

/* A reader of a structure's own fields at `offset`, with a node of its own in `tree`. */
void hkpd_open_structure(hkpd_view *view, proto_tree *tree, int hf, int ett, uint32_t offset, uint32_t size,
                         uint32_t fields_size, perf_reader *reader);

#endif
