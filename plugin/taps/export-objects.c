/* export-objects.c
 * Export objects: a PDH-CSV file for each query, and the names file.
 *
 * Wireshark wants each object whole in memory, and says neither when the last packet has gone by nor, always, when it
 * frees what was listed. So an object is listed when it is complete, and is Wireshark's from then on:
 *
 *   - of packets that are seen again, when it is known that nothing more comes for it;
 *   - of packets that are seen for the first time (tshark in one pass, a capture that is running), when statistics are
 *     drawn. Newer listeners are drawn first: one that is registered with the first call is drawn before the list is.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/document.h"
#include "taps/output.h"

#include <epan/export_object.h>
#include <epan/tap.h>

/* Wireshark cuts a name that is too long at its end, where the handle stands; it writes some characters as three. */
#define LONGEST_HOST 64

/* The one list that is filled. */
static struct objects {
    int tap;
    bool listens;               /* to drawing */
    export_object_list_t *list; /* NULL before the first call; the rest is zeros then */
    documents *documents;       /* that objects are made of, */
    unsigned listed;            /* and of them; in order at the first look */
    bool has_names;             /* they are listed */
    uint32_t frame;             /* that was handed over last */
    bool first_look;            /* of its packets */
    bool has_said;
    left_out left;
} objects;

/* Lists an object; the name and the text are Wireshark's then. */
static void list_object(uint32_t frame, const char *host, const char *type, char *name, GString *text)
{
    export_object_entry_t *entry = g_new0(export_object_entry_t, 1);

    entry->pkt_num = frame;
    entry->hostname = g_strdup(host);
    entry->content_type = g_strdup(type);
    entry->filename = name;
    entry->payload_len = text->len;
    entry->payload_data = (void *)g_string_free(text, FALSE);
    objects.list->add_entry(objects.list->gui_data, entry);
}

static void list_document(document *doc)
{
    GString *text = g_string_new(NULL);
    size_t host = strlen(doc->machine);

    if (host > LONGEST_HOST) {
        host = (size_t)(g_utf8_find_prev_char(doc->machine, doc->machine + LONGEST_HOST + 1) - doc->machine);
    }
    objects.listed++;
    document_write(objects.documents, doc, NULL, text);
    /* the host first; a name that begins with a dot would be hidden */
    char *suffix = document_suffix(doc);
    char *name = g_strdup_printf("%s%.*s-%s.csv", *doc->machine == '.' ? "_" : "", (int)host, doc->machine, suffix);
    list_object(doc->first_frame, doc->machine, "text/csv", name, text);
    g_free(suffix);
}

static void list_names(void)
{
    GString *text = objects.has_names ? NULL : tapped_names();

    if (text) {
        objects.has_names = true;
        list_object(objects.frame, NULL, "text/plain", g_strdup("pcq_names"), text);
    }
}

/* --- The list ------------------------------------------------------------------------------------------------------ */

/* A window may be gone, and its list with it. */
static void objects_draw(void *data _U_)
{
    if (objects.list == NULL || !have_tap_listener(objects.tap)) {
        return;
    }
    const GPtrArray *all = objects.documents->all;
    while (objects.first_look && objects.listed < all->len) {
        list_document(g_ptr_array_index(all, objects.listed));
    }
    if (objects.first_look) {
        list_names();
    }
    if (!objects.has_said) {
        documents_count_marks(objects.documents, &objects.left);
        output_say_left_out(&objects.left, "columns");
        objects.has_said = true;
    }
}

static void objects_reset(void)
{
    g_clear_pointer(&objects.documents, documents_free);
    objects = (struct objects){.tap = objects.tap, .listens = objects.listens};
}

/* Not everybody who looks at the packets again says so; they begin with the first then. */
static void objects_begin(export_object_list_t *list, const packet_info *pinfo, bool is_first_look)
{
    if (objects.list && (is_first_look || pinfo->num >= objects.frame)) {
        return;
    }
    objects_reset();
    objects.list = list;
    objects.first_look = is_first_look;
    objects.documents = documents_new();
    output_listen_first(&objects.listens, TAPPED_NAME, &objects, NULL, objects_draw);
}

/* Seen again, a capture has taught all names that it will with its first call, and a handle's newest sample is its last. */
static tap_packet_status objects_add(void *list, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                                     tap_flags_t flags _U_)
{
    const tapped_call *tapped = call;

    objects_begin(list, pinfo, tapped->is_first_look);
    if (objects.list != list) {
        return TAP_PACKET_DONT_REDRAW;
    }
    objects.frame = pinfo->num;
    left_out_count(&objects.left, tapped);
    if (!tapped->unread && !objects.first_look) {
        list_names();
    }
    document *doc = documents_add(objects.documents, pinfo, tapped);
    if (doc && !objects.first_look && tapped->answer->sample == tapped_handle_of(tapped->answer->handle).newest) {
        list_document(doc);
    }
    return TAP_PACKET_REDRAW;
}

/* Who asked for objects, and there was not even a call, has not heard so: nobody was called. */
static void say_nothing_came(void)
{
    static const left_out nothing;

    if (have_tap_listener(objects.tap) && objects.list == NULL) {
        output_say_left_out(&nothing, "");
    }
}

void export_objects_register(void)
{
    register_shutdown_routine(say_nothing_came);
    objects.tap = register_export_object(proto_get_id_by_filter_name("pcq"), objects_add, objects_reset);
    tapped_add(objects.tap);
}
