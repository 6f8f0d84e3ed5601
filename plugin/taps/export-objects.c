/* export-objects.c
 * Export objects: a PDH-CSV file for each query, and the names file.
 *
 * Wireshark wants each object whole in memory, and owns what is listed. So objects are listed when all packets have gone by.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/document.h"
#include "taps/output.h"

#include <epan/export_object.h>
#include <epan/tap.h>

/* Bytes of the host in a name: Wireshark cuts a name that is too long at its end, where the handle stands; it writes some characters as three. */
#define MAX_HOST_BYTES 64

/* The one list that is filled. */
static struct {
    int tap;
    bool has_any;               /* some call came since the program began */
    export_object_list_t *list; /* NULL: nobody asked, or it is filled; the rest is zeros then */
    documents *documents;
    uint32_t frame; /* of the newest call */
    omissions omitted;
} objects;

/* Lists an object. Changes: Wireshark owns the name and the text. */
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

    if (host > MAX_HOST_BYTES) {
        host = (size_t)(g_utf8_find_prev_char(doc->machine, doc->machine + MAX_HOST_BYTES + 1) - doc->machine);
    }
    document_write(objects.documents, doc, NULL, text);
    /* the host first; a name that begins with a dot would be hidden */
    char *suffix = document_suffix(doc);
    char *name = g_strdup_printf("%s%.*s-%s.csv", *doc->machine == '.' ? "_" : "", (int)host, doc->machine, suffix);
    list_object(doc->first_frame, doc->machine, "text/csv", name, text);
    g_free(suffix);
}

static void objects_reset(void)
{
    g_clear_pointer(&objects.documents, documents_free);
    objects.list = NULL;
    objects.omitted = (omissions){0};
}

/* A window may be gone, and its list with it. */
static void list_all(void)
{
    if (objects.list == NULL || !have_tap_listener(objects.tap)) {
        return;
    }
    const GPtrArray *all = objects.documents->all;
    for (unsigned i = 0; i < all->len; i++) {
        list_document(g_ptr_array_index(all, i));
    }
    GString *names = tapped_names();
    if (names) {
        list_object(objects.frame, NULL, "text/plain", g_strdup("pcq_names"), names);
    }
    documents_count_omissions(objects.documents, &objects.omitted);
    output_print_omissions(&objects.omitted, "columns");
    objects_reset();
}

static tap_packet_status objects_add(void *list, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                                     tap_flags_t flags _U_)
{
    const tapped_call *tapped = call;

    if (objects.list == NULL) {
        objects.list = list;
        objects.has_any = true;
        objects.documents = documents_new();
        output_call_at_end(list_all);
    }
    if (objects.list != list) {
        return TAP_PACKET_DONT_REDRAW;
    }
    objects.frame = pinfo->num;
    omissions_count_call(&objects.omitted, tapped);
    documents_add(objects.documents, pinfo, tapped);
    return TAP_PACKET_REDRAW;
}

/* Who asked for objects, and there was not even a call, has not heard so: nobody was called. */
static void say_nothing_came(void)
{
    static const omissions nothing;

    if (have_tap_listener(objects.tap) && !objects.has_any) {
        output_print_omissions(&nothing, "");
    }
}

void export_objects_register(void)
{
    register_shutdown_routine(say_nothing_came);
    objects.tap = register_export_object(proto_get_id_by_filter_name("pcq"), objects_add, objects_reset);
    tapped_add(objects.tap);
}
