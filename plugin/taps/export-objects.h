/* export-objects.h
 * What the two kinds of export objects have in common: when their list is made, and what is said of it.
 *
 * Wireshark wants each object whole in memory, and says neither when the last packet has gone by nor, always, when it
 * frees what was listed. So an object is listed when it is complete, and is Wireshark's from then on:
 *
 *   - of packets that are seen again, when the kind knows that nothing more comes;
 *   - of packets that are seen for the first time (tshark in one pass, a capture that is running), when statistics are
 *     drawn. Newer listeners are drawn first: one that is registered with the first call is drawn before the list is.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_TAPS_EXPORT_OBJECTS_H
#define PCQ_TAPS_EXPORT_OBJECTS_H

#include "readings/tapped.h"

#include <epan/export_object.h>
#include <epan/tap.h>

/* A kind, and the one list of it that is filled. */
typedef struct {
    void (*forget)(void);                     /* what objects were made of */
    void (*list_rest)(tapped_left_out *left); /* lists what is not listed yet, and counts what was assumed */
    int tap;
    export_object_list_t *list; /* NULL before the first call */
    uint32_t frame;             /* that was told last */
    bool first_look;            /* of its packets */
    bool has_said;
    tapped_left_out left;
} objects_kind;

void objects_register(objects_kind *kind, int proto, tap_packet_cb add, export_object_gui_reset_cb reset);

/* The list is emptied. */
void objects_reset(objects_kind *kind);

/* Each call that a list is told. False if nothing is to be done with it. */
bool objects_told(objects_kind *kind, export_object_list_t *list, const packet_info *pinfo, const tapped_call *tapped);

/* Lists an object; the strings and `data` are Wireshark's then. */
void objects_list(const objects_kind *kind, uint32_t frame, const char *host, const char *type, char *name, void *data,
                  size_t size);

#endif
