/* export-objects.c
 * A PDH-CSV file for each query, as an object to be exported; and what it has in common with names as objects.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/export-objects.h"

#include "taps/taps.h"

#include "taps/document.h"
#include "taps/output.h"

/* Wireshark cuts a name that is too long at its end, where the handle is told; it writes some characters as three. */
#define LONGEST_HOST 64

/* --- Of both kinds ----------------------------------------------------------------------------------------------- */

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
        kind->list_rest(&kind->left);
    }
    if (!kind->has_said) {
        output_say_left_out(&kind->left, "columns");
        kind->has_said = true;
    }
}

static void begin(objects_kind *kind, export_object_list_t *list, bool first_look)
{
    static GHashTable *drawn; /* objects_kind that have a listener */

    objects_reset(kind);
    kind->list = list;
    kind->first_look = first_look;
    drawn = drawn ? drawn : g_hash_table_new(NULL, NULL);
    if (g_hash_table_add(drawn, kind)) {
        GString *error = register_tap_listener(TAPPED_NAME, kind, NULL, TL_REQUIRES_NOTHING, NULL, redraw, draw, NULL);
        if (error) {
            g_string_free(error, TRUE);
        }
    }
}

void objects_reset(objects_kind *kind)
{
    kind->list = NULL;
    kind->frame = 0;
    kind->has_said = false;
    tapped_left_out_clear(&kind->left);
    kind->forget();
}

/* Not everybody who looks at the packets again says so; they begin with the first then. */
bool objects_told(objects_kind *kind, export_object_list_t *list, const packet_info *pinfo, const tapped_call *tapped)
{
    if (kind->list == NULL || (!tapped->is_first_look && pinfo->num < kind->frame)) {
        begin(kind, list, tapped->is_first_look);
    }
    kind->frame = pinfo->num;
    return kind->list == list && tapped_count(&kind->left, tapped);
}

void objects_list(const objects_kind *kind, uint32_t frame, const char *host, const char *type, char *name, void *data,
                  size_t size)
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

void objects_register(objects_kind *kind, int proto, tap_packet_cb add, export_object_gui_reset_cb reset)
{
    kind->tap = register_export_object(proto, add, reset);
    tapped_add(kind->tap);
}

/* --- Documents ------------------------------------------------------------------------------------------------- */

static documents *all;

static void forget(void)
{
    if (all) {
        documents_free(all);
    }
    all = documents_new(NULL);
}

/* The host first; a name that begins with a dot would be hidden. */
static char *name_of(const document *doc)
{
    const char *end = doc->machine + MIN(strlen(doc->machine), LONGEST_HOST);
    char *suffix = document_suffix(doc);

    while (end > doc->machine && ((uint8_t)*end & 0xC0) == 0x80) {
        end--; /* not within a character */
    }
    char *name = g_strdup_printf("%s%.*s-%s.csv", *doc->machine == '.' ? "_" : "", (int)(end - doc->machine),
                                 doc->machine, suffix);
    g_free(suffix);
    return name;
}

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

    doc->is_listed = true;
    if (document_write(all, doc, take, &text) && !text.failed) {
        objects_list(kind, doc->first_frame, doc->machine, "text/csv", name_of(doc), g_memdup2(text.data, text.size),
                     text.size);
    }
    perf_csv_free(&text);
}

static void list_rest(tapped_left_out *left);

static objects_kind kind = {.forget = forget, .list_rest = list_rest};

static void list_rest(tapped_left_out *left)
{
    for (unsigned i = 0; i < all->all->len; i++) {
        document *doc = g_ptr_array_index(all->all, i);
        if (!doc->is_listed) {
            list_document(&kind, doc);
        }
    }
    documents_count_assumed(all, left);
}

static tap_packet_status add(void *list, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                             tap_flags_t flags _U_)
{
    const tapped_call *tapped = call;

    if (!objects_told(&kind, list, pinfo, tapped) || tapped->answer == NULL) {
        return TAP_PACKET_DONT_REDRAW;
    }
    document *doc = documents_add(all, pinfo, tapped);
    if (doc && !kind.first_look && tapped->answer->sample == tapped->answer->handle->newest) {
        list_document(&kind, doc);
        documents_count_assumed(all, &kind.left);
    }
    return TAP_PACKET_REDRAW;
}

static void reset(void)
{
    objects_reset(&kind);
}

void export_objects_register(int proto)
{
    objects_register(&kind, proto, add, reset);
}
