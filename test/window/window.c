/* window.c
 * Stands for Wireshark's window in tests of the plugin's menu: answers what a plugin asks of it, and presses an entry.
 *
 *     tshark -V -z window,FRAME,FIELD,COUNT,ENTRY
 *
 * selects a frame, in its tree the COUNTth item of a field ("-" for none), and presses a menu's entry as soon as the frame
 * was dissected. What the plugin wants to be saved is printed: "window: pcq.graph: …".
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ws_compat.h"

#include <cfile.h>
#include <epan/epan_dissect.h>
#include <epan/plugin_if.h>
#include <epan/stat_tap_ui.h>
#include <epan/tap.h>

typedef struct {
    unsigned frame;
    char *field;
    unsigned count;
    char *entry;
} press;

static capture_file file;
static frame_data selected;

/* --- What a plugin asks ------------------------------------------------------------------------------------------ */

static void give_frame(GHashTable *asked)
{
    void *function = g_hash_table_lookup(asked, "extract_cb");
    void **result = g_hash_table_lookup(asked, "ret_value_ptr");
    plugin_if_frame_data_cb extract;

    memcpy(&extract, &function, sizeof extract);
    *result = extract(&selected, g_hash_table_lookup(asked, "user_data"));
}

static void give_file(GHashTable *asked)
{
    void *function = g_hash_table_lookup(asked, "extract_cb");
    void **result = g_hash_table_lookup(asked, "ret_value_ptr");
    plugin_if_capture_file_cb extract;

    memcpy(&extract, &function, sizeof extract);
    *result = extract(&file, g_hash_table_lookup(asked, "user_data"));
}

static void save_preference(GHashTable *wanted)
{
    printf("window: %s.%s: %s\n", (const char *)g_hash_table_lookup(wanted, "pref_module"),
           (const char *)g_hash_table_lookup(wanted, "pref_key"),
           (const char *)g_hash_table_lookup(wanted, "pref_value"));
}

/* --- What somebody does ------------------------------------------------------------------------------------------ */

static field_info *item_of(const proto_node *above, const char *name, unsigned *count)
{
    for (const proto_node *node = above->first_child; node; node = node->next) {
        field_info *field = PNODE_FINFO(node);
        if (field && strcmp(field->hfinfo->abbrev, name) == 0 && --*count == 0) {
            return field;
        }
        field = item_of(node, name, count);
        if (field) {
            return field;
        }
    }
    return NULL;
}

static void press_entry(const char *label)
{
    for (GList *menu = ext_menubar_get_entries(); menu; menu = menu->next) {
        for (GList *at = ((ext_menu_t *)menu->data)->children; at; at = at->next) {
            ext_menu_t *entry = at->data;
            if (g_strcmp0(entry->label, label) == 0) {
                entry->callback(EXT_MENUBAR_GTK_GUI, NULL, entry->user_data);
                return;
            }
        }
    }
    printf("window: no entry %s\n", label);
}

static tap_packet_status look(void *data, packet_info *pinfo, epan_dissect_t *edt, const void *nothing _U_,
                              tap_flags_t flags _U_)
{
    const press *p = data;
    unsigned count = p->count;

    if (pinfo->num != p->frame) {
        return TAP_PACKET_DONT_REDRAW;
    }
    selected.num = pinfo->num;
    file.edt = edt;
    file.finfo_selected = item_of(edt->tree, p->field, &count);
    press_entry(p->entry);
    return TAP_PACKET_DONT_REDRAW;
}

static ws_stat_started listen(const char *asked, void *data _U_)
{
    char **parts = g_strsplit(asked, ",", 5);
    press *p = g_new0(press, 1);

    p->frame = (unsigned)atoi(parts[1]);
    p->field = g_strdup(parts[2]);
    p->count = (unsigned)atoi(parts[3]);
    p->entry = g_strdup(parts[4]);
    g_strfreev(parts);
    GString *error = register_tap_listener("frame", p, NULL, TL_REQUIRES_PROTO_TREE, NULL, look, NULL, NULL);
    if (error) {
        WS_STAT_FAILED;
    }
    WS_STAT_STARTED;
}

/* --- Registration ------------------------------------------------------------------------------------------------ */

static void register_window(void)
{
    static stat_tap_ui ui = {.group = REGISTER_STAT_GROUP_GENERIC, .cli_string = "window", .tap_init_cb = listen};

    register_stat_tap_ui(&ui, NULL);
    plugin_if_register_gui_cb(PLUGIN_IF_GET_FRAME_DATA, give_frame);
    plugin_if_register_gui_cb(PLUGIN_IF_GET_CAPTURE_FILE, give_file);
    plugin_if_register_gui_cb(PLUGIN_IF_PREFERENCE_SAVE, save_preference);
}

void plugin_register(void);

__attribute__((visibility("default"))) const char plugin_version[] = "0";
__attribute__((visibility("default"))) const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
__attribute__((visibility("default"))) const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

__attribute__((visibility("default"))) void plugin_register(void)
{
    static proto_plugin window;

    window.register_protoinfo = register_window;
    proto_register_plugin(&window);
}
