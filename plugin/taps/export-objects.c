/* export-objects.c
 * A PDH-CSV file for each query, as an object to be exported.
 *
 * Wireshark wants each object whole in memory, and never says when the last packet has gone by. So the rows wait, as they
 * do for `-z pcq,csv`, and an object is made
 *
 *   - in tshark when statistics are drawn: a second listener is drawn before the one that writes the files;
 *   - in Wireshark, where packets are seen again, with the sample that is the handle's last;
 *   - while a capture is still running, whenever an object has grown by half.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/export-objects.h"

#include "taps/taps.h"

#include "taps/document.h"

#include <epan/export_object.h>
#include <epan/tap.h>

/* A document and the object that it becomes, which belongs to Wireshark. */
typedef struct {
    document *document;
    export_object_entry_t *entry;
    unsigned rows; /* that it has */
} object;

/* Of the one list of objects that there is; emptied with it. */
static struct {
    documents *documents;
    GHashTable *objects; /* document -> object */
    bool drawn_by_us;    /* the second listener is there */
} state;

static void reset(void)
{
    if (state.documents) {
        documents_free(state.documents);
        g_hash_table_destroy(state.objects);
    }
    state.documents = documents_new(NULL);
    state.objects = g_hash_table_new_full(NULL, NULL, NULL, g_free);
}

/* --- Objects --------------------------------------------------------------------------------------------------- */

/* Keeps the text, which becomes the object at the end. */
static void take(void *user, perf_csv *text, bool all)
{
    export_object_entry_t *entry = user;

    if (all && !text->failed) {
        g_free(entry->payload_data);
        entry->payload_data = g_memdup2(text->data, text->size);
        entry->payload_len = text->size;
    }
}

static void make_object(object *o)
{
    document_write(state.documents, o->document, take, o->entry);
    o->rows = o->document->rows->len;
}

static object *object_of(export_object_list_t *list, document *doc)
{
    object *o = g_hash_table_lookup(state.objects, doc);

    if (o == NULL) {
        char *suffix = document_suffix(doc);
        o = g_new0(object, 1);
        o->document = doc;
        o->entry = g_new0(export_object_entry_t, 1);
        o->entry->pkt_num = doc->first_frame;
        o->entry->hostname = g_strdup(doc->machine);
        o->entry->content_type = g_strdup("text/csv");
        o->entry->filename = g_strdup_printf("%s-%s.csv", doc->machine, suffix);
        g_free(suffix);
        g_hash_table_insert(state.objects, doc, o);
        list->add_entry(list->gui_data, o->entry);
    }
    return o;
}

/* --- When ------------------------------------------------------------------------------------------------------ */

static void make_all(void *user _U_)
{
    GHashTableIter at;
    void *value;

    g_hash_table_iter_init(&at, state.objects);
    while (g_hash_table_iter_next(&at, NULL, &value)) {
        make_object(value);
    }
}

bool export_objects_stay(void)
{
    const char *name = g_get_prgname();

    return name && strstr(name, "tshark") != NULL;
}

static void make_at_the_end(void)
{
    if (!state.drawn_by_us) {
        GString *error = register_tap_listener("frame", &state, NULL, TL_REQUIRES_NOTHING, NULL, NULL, make_all, NULL);
        state.drawn_by_us = error == NULL;
    }
}

static bool is_time(const object *o, const packet_info *pinfo, const tapped_call *tapped)
{
    return (PINFO_FD_VISITED(pinfo) && tapped->answer->sample == tapped->answer->handle->newest) ||
           o->document->rows->len > o->rows + o->rows / 2;
}

static tap_packet_status add(void *data, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                             tap_flags_t flags _U_)
{
    const tapped_call *tapped = call;

    if (tapped->answer == NULL) {
        return TAP_PACKET_DONT_REDRAW;
    }
    if (state.documents == NULL) {
        reset();
    }
    document *doc = documents_add(state.documents, pinfo, tapped);
    if (doc == NULL) {
        return TAP_PACKET_DONT_REDRAW;
    }
    object *o = object_of(data, doc);
    if (export_objects_stay()) {
        make_at_the_end();
    } else if (is_time(o, pinfo, tapped)) {
        make_object(o);
    }
    return TAP_PACKET_REDRAW;
}

void export_objects_register(int proto)
{
    tapped_add(register_export_object(proto, add, reset));
}
