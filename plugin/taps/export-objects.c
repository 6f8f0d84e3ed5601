/* export-objects.c
 * Export objects of two kinds: a PDH-CSV file for each query, and the names file.
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
#include "taps/taps.h"

#include "names/names-file.h"
#include "taps/document.h"
#include "taps/output.h"

#include <epan/export_object.h>
#include <epan/tap.h>

#define NAMES_FILTER_NAME "pcq-names"

/* Wireshark cuts a name that is too long at its end, where the handle is told; it writes some characters as three. */
#define LONGEST_HOST 64

/* A kind, and the one list of it that is filled. */
typedef struct objects_kind {
    void (*list_rest)(struct objects_kind *kind); /* lists what is not listed yet, and counts what was assumed */
    int tap;
    documents *documents;       /* that objects are made of, NULL as long as there was no answer */
    bool is_listed;             /* the names are */
    export_object_list_t *list; /* NULL before the first call */
    uint32_t frame;             /* that was told last */
    bool first_look;            /* of its packets */
    bool has_said;
    bool is_drawn; /* it has a listener for that */
    tapped_left_out left;
} objects_kind;

/* --- Of both kinds ----------------------------------------------------------------------------------------------- */

static GSList *kinds; /* objects_kind */

static tap_packet_status redraw(void *kind _U_, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *tapped _U_,
                                tap_flags_t flags _U_)
{
    return TAP_PACKET_REDRAW;
}

/* A window may be gone, and its list with it. */
static void draw(void *data)
{
    objects_kind *kind = data;

    if (kind->list == NULL || !have_tap_listener(kind->tap)) {
        return;
    }
    if (kind->first_look) {
        kind->list_rest(kind);
    }
    if (!kind->has_said) {
        output_say_left_out(&kind->left, "columns");
        kind->has_said = true;
    }
}

static void clear(objects_kind *kind)
{
    kind->list = NULL;
    kind->frame = 0;
    kind->has_said = false;
    kind->left = (tapped_left_out){.any_read = false};
    kind->is_listed = false;
    if (kind->documents) {
        documents_free(g_steal_pointer(&kind->documents));
    }
}

/* Each call that a list is told; false if nothing is to be done with it. Not everybody who looks at the packets again says so;
 * they begin with the first then. */
static bool is_told(objects_kind *kind, export_object_list_t *list, const packet_info *pinfo, const tapped_call *tapped)
{
    if (kind->list == NULL || (!tapped->is_first_look && pinfo->num < kind->frame)) {
        clear(kind);
        kind->list = list;
        kind->first_look = tapped->is_first_look;
        if (!kind->is_drawn) {
            kind->is_drawn = true;
            output_listen(TAPPED_NAME, kind, NULL, NULL, redraw, draw);
        }
    }
    kind->frame = pinfo->num;
    if (kind->list == list) {
        tapped_count(&kind->left, tapped);
    }
    return kind->list == list;
}

/* Lists an object; the strings and `data` are Wireshark's then. */
static void list_object(const objects_kind *kind, uint32_t frame, const char *host, const char *type, char *name,
                        void *data, size_t size)
{
    export_object_entry_t *entry = g_new0(export_object_entry_t, 1);

    entry->pkt_num = frame;
    entry->hostname = g_strdup(host);
    entry->content_type = g_strdup(type);
    entry->filename = name;
    entry->payload_data = data;
    entry->payload_len = size;
    kind->list->add_entry(kind->list->gui_data, entry);
}

/* Who asked for objects, and there was not even a call, has not been told so: nobody was called. */
static void say_nothing_came(void)
{
    static const tapped_left_out nothing;

    for (GSList *at = kinds; at; at = at->next) {
        const objects_kind *kind = at->data;
        if (have_tap_listener(kind->tap) && kind->list == NULL) {
            output_say_left_out(&nothing, "");
        }
    }
}

static void register_kind(objects_kind *kind, int proto, tap_packet_cb add, export_object_gui_reset_cb reset)
{
    if (kinds == NULL) {
        register_shutdown_routine(say_nothing_came);
    }
    kinds = g_slist_prepend(kinds, kind);
    kind->tap = register_export_object(proto, add, reset);
    tapped_add(kind->tap);
}

/* --- Documents ------------------------------------------------------------------------------------------------- */

/* Keeps the text, which becomes the object at the end. */
static void take(void *user, perf_csv *text, bool whole)
{
    if (whole) {
        *(perf_csv *)user = *text;
        memset(text, 0, sizeof *text);
    }
}

static void list_document(const objects_kind *kind, document *doc)
{
    perf_csv text = {0};
    const char *end = doc->machine + MIN(strlen(doc->machine), LONGEST_HOST);

    while (end > doc->machine && ((uint8_t)*end & 0xC0) == 0x80) {
        end--; /* not within a character */
    }
    doc->is_listed = true;
    if (document_write(kind->documents, doc, take, &text) && !text.failed) {
        /* the host first; a name that begins with a dot would be hidden */
        char *suffix = document_suffix(doc);
        char *name = g_strdup_printf("%s%.*s-%s.csv", *doc->machine == '.' ? "_" : "", (int)(end - doc->machine),
                                     doc->machine, suffix);
        list_object(kind, doc->first_frame, doc->machine, "text/csv", name, g_memdup2(text.data, text.size), text.size);
        g_free(suffix);
    }
    perf_csv_free(&text);
}

static void list_documents(objects_kind *kind)
{
    for (unsigned i = 0; kind->documents && i < kind->documents->all->len; i++) {
        document *doc = g_ptr_array_index(kind->documents->all, i);
        if (!doc->is_listed) {
            list_document(kind, doc);
        }
    }
    if (kind->documents) {
        documents_count_assumed(kind->documents, &kind->left);
    }
}

static objects_kind document_kind = {.list_rest = list_documents};

static tap_packet_status add_document(void *list, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                                      tap_flags_t flags _U_)
{
    const tapped_call *tapped = call;
    objects_kind *kind = &document_kind;

    if (!is_told(kind, list, pinfo, tapped) || tapped->answer == NULL) {
        return TAP_PACKET_DONT_REDRAW;
    }
    kind->documents = kind->documents ? kind->documents : documents_new(NULL);
    document *doc = documents_add(kind->documents, pinfo, tapped);
    if (doc && !kind->first_look && tapped->answer->sample == tapped->answer->handle->newest) {
        list_document(kind, doc);
        documents_count_assumed(kind->documents, &kind->left);
    }
    return TAP_PACKET_REDRAW;
}

static void reset_documents(void)
{
    clear(&document_kind);
}

/* --- Names -------------------------------------------------------------------------------------------------------- */

static void list_names(objects_kind *kind)
{
    char *text = kind->is_listed ? NULL : names_file_text();

    if (text) {
        kind->is_listed = true;
        list_object(kind, kind->frame, NULL, "text/plain", g_strdup("pcq_names"), text, strlen(text));
    }
}

static objects_kind names_kind = {.list_rest = list_names};

/* Seen again, a capture has taught all that it will with its first call. */
static tap_packet_status add_names(void *list, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                                   tap_flags_t flags _U_)
{
    const tapped_call *tapped = call;

    if (is_told(&names_kind, list, pinfo, tapped) && !tapped->unread && !names_kind.first_look) {
        list_names(&names_kind);
    }
    return TAP_PACKET_REDRAW;
}

static void reset_names(void)
{
    clear(&names_kind);
}

/* Export objects belong to protocols, and each has one kind: so there is a protocol that has nothing else. */
void export_objects_register(int proto)
{
    register_kind(&document_kind, proto, add_document, reset_documents);
    if (proto_get_id_by_filter_name(NAMES_FILTER_NAME) == -1) {
        proto =
            proto_register_protocol("Names of performance counters, to be exported", "PCQ-NAMES", NAMES_FILTER_NAME);
        register_kind(&names_kind, proto, add_names, reset_names);
    }
}
