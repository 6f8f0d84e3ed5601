/* graph-menu.c
 * Statistics, Graph a Performance Counter: sets the preference `pcq.graph` to the counter that is selected in a packet's
 * tree, or to the packet's first, and from there on to the next. Wireshark saves the preference with the profile.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/graph-menu.h"

#include "hkpd/hkpd-readings.h"
#include "pcq/pcq-readings.h"
#include "readings/graph.h"

#include <cfile.h>
#include <epan/epan_dissect.h>
#include <epan/plugin_if.h>
#include <wsutil/report_message.h>

/* What was chosen last. */
static struct {
    uint32_t frame;
    unsigned place; /* of its value among those of the packet */
} chosen;

/* The path of a value with a result of its own, from that place on; then from the first. NULL if there is none. */
static const char *path_from(readings *r, unsigned *place)
{
    const reading *at;

    for (unsigned i = 0; (at = readings_next(r)) != NULL; i++) {
        if (i >= *place && !at->is_text && readings_result(r).none != PERF_NONE_BASE_TYPE && readings_path(r)) {
            *place = i;
            return readings_path(r);
        }
    }
    return NULL;
}

/* As a pattern: what separates patterns may stand in a name. */
static void choose(const char *path)
{
    char *pattern = g_strdelimit(g_strdup(path), ";", '*');

    graph_choose(pattern);                              /* Wireshark applies no preference that is set so */
    plugin_if_save_preference("pcq", "graph", pattern); /* reads all packets anew, so no sample holds any more */
    g_free(pattern);
}

static void choose_in(const state_sample *sample, wmem_allocator_t *pool)
{
    const readings_layout *layout =
        sample->handle->kind == PERF_HANDLE_QUERY ? &pcq_readings_layout : &hkpd_readings_layout;
    readings_answer answer = readings_answer_again(layout, sample, pool);
    const char *path = path_from(readings_begin(pool, &answer), &chosen.place);

    if (path == NULL && chosen.place > 0) {
        chosen.place = 0;
        path = path_from(readings_begin(pool, &answer), &chosen.place);
    }
    tvb_free(answer.tvb);
    if (path) {
        choose(path);
    } else {
        report_warning("pcq: no counter of this packet has a path");
    }
}

/* --- The selected packet --------------------------------------------------------------------------------------- */

static void *keep_number(frame_data *frame, void *number)
{
    *(uint32_t *)number = frame->num;
    return NULL;
}

/* 0 if there is none. */
static uint32_t selected_frame(void)
{
    uint32_t number = 0;

    plugin_if_get_frame_data(keep_number, &number);
    return number;
}

static void choose_place(uint32_t frame, unsigned place)
{
    const state_sample *sample = sample_of_frame(frame);

    if (sample == NULL) {
        report_warning("pcq: select an answer with counter data first (filter button \"Values\")");
        return;
    }
    wmem_allocator_t *pool = wmem_allocator_new(WMEM_ALLOCATOR_BLOCK);
    chosen.frame = frame;
    chosen.place = place;
    choose_in(sample, pool);
    wmem_destroy_allocator(pool);
}

static void choose_first(ext_menubar_gui_type type _U_, void *object _U_, void *user _U_)
{
    choose_place(selected_frame(), 0);
}

static void choose_next(ext_menubar_gui_type type _U_, void *object _U_, void *user _U_)
{
    uint32_t frame = selected_frame();

    choose_place(frame, frame == chosen.frame ? chosen.place + 1 : 0);
}

/* --- The selected field ---------------------------------------------------------------------------------------- */

static proto_node *node_of(proto_node *above, const field_info *field)
{
    for (proto_node *node = above->first_child; node; node = node->next) {
        proto_node *found = PNODE_FINFO(node) == field ? node : node_of(node, field);
        if (found) {
            return found;
        }
    }
    return NULL;
}

/* The path that a node holds, NULL if it is another field. */
static const char *path_in(const proto_node *node)
{
    static const char *const fields[] = {"pcq.path", "hkpd.path", "pcq.first.path", "hkpd.first.path"};
    field_info *field = PNODE_FINFO(node);

    for (unsigned i = 0; field && i < array_length(fields); i++) {
        if (strcmp(field->hfinfo->abbrev, fields[i]) == 0) {
            return fvalue_get_string(ws_field_value(field));
        }
    }
    return NULL;
}

/* The first one below a node. */
static const char *path_below(const proto_node *above)
{
    const char *path = NULL;

    for (const proto_node *node = above->first_child; node && path == NULL; node = node->next) {
        path = path_in(node);
        path = path ? path : path_below(node);
    }
    return path;
}

/* A value's own, whatever of it is selected; of what stands above or beside values the first one there. */
static const char *path_of(const proto_node *selected)
{
    const char *path = path_in(selected);

    path = path ? path : path_below(selected);
    return path ? path : path_below(selected->parent);
}

static void *keep_path(capture_file *file, void *kept)
{
    const field_info *field = file->edt ? file->finfo_selected : NULL;
    proto_node *selected = field && file->edt->tree ? node_of(file->edt->tree, field) : NULL;

    *(char **)kept = selected ? g_strdup(path_of(selected)) : NULL;
    return NULL;
}

static void choose_selected(ext_menubar_gui_type type _U_, void *object _U_, void *user _U_)
{
    char *path = NULL;

    plugin_if_get_capture_file(keep_path, &path);
    if (path) {
        choose(path);
    } else {
        report_warning("pcq: select a value in an answer's tree first (filter button \"Values\")");
    }
    g_free(path);
}

void graph_menu_register(int proto)
{
    ext_menu_t *menu = ext_menubar_register_menu(proto, "Graph a Performance Counter", TRUE);

    ext_menubar_set_parentmenu(menu, "Statistics");
    ext_menubar_add_entry(menu, "Selected Value", "Sets the preference pcq.graph to its path", choose_selected, NULL);
    ext_menubar_add_entry(menu, "First of the Selected Packet", "Sets the preference pcq.graph to its path",
                          choose_first, NULL);
    ext_menubar_add_entry(menu, "Next of the Selected Packet", "Sets the preference pcq.graph to the path behind",
                          choose_next, NULL);
}
