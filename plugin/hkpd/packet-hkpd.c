/* packet-hkpd.c
 * HKEY_PERFORMANCE_DATA, the part of the remote registry ([MS-RRP]) that answers with performance counters.
 *
 * Wireshark's winreg dissector shows such an answer byte by byte and offers nothing to hang on to. So a few entries of
 * its table of operations are replaced (winreg-hook.c). Each looks at the stub and then calls the stock function, which
 * goes on showing all ordinary traffic; only an answer that holds a PERF_DATA_BLOCK or a list of titles is dissected here
 * instead.
 *
 * From the top: what the names of keys and values say; what is kept of a call, its handle and which key that is; opening
 * and closing keys; requests and answers of values; the table of operations. A PDU is read twice: silently, to see what it
 * is, and again if it is shown here instead of by the stock function.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/fields.h"
#include "hkpd/hkpd.h"
#include "text/value-strings.h"

#include <epan/exceptions.h>
#include <wsutil/strtoi.h>

void proto_register_hkpd(void);
void proto_reg_handoff_hkpd(void);

static int proto_hkpd = -1;
static int hf_key, hf_sent_data, hf_value_name;

static int ett_hkpd = -1;

/* winreg's own, for what is shown here in its place */
static int stock_handle, stock_value_name, stock_name_len, stock_name_size, stock_type, stock_data_size,
    stock_data_length, stock_status;

/* Keys whose values are performance data or titles; any other; and one of which that is not known: its opening was not read, or
 * the handle that it went out from is not known. */
typedef enum {
    KEY_DATA,
    KEY_TEXT,
    KEY_NLS_TEXT,
    KEY_PERFLIB,
    KEY_LANGUAGE, /* below Perflib */
    KEY_OTHER,
    KEY_UNKNOWN
} key_kind;

typedef struct {
    key_kind kind;
    uint32_t language; /* of KEY_LANGUAGE */
} key_name;

typedef enum { TITLES_NONE, TITLES_NAMES, TITLES_HELP } titles_kind;

#define STATUS_SUCCESS 0
#define STATUS_FILE_NOT_FOUND 2
#define STATUS_MORE_DATA 234
#define STATUS_NO_MORE_ITEMS 259

/* Which key with performance data a handle stands for. Belongs to the handle. */
typedef struct hkpd_key {
    key_name name;
    wmem_map_t *lacking; /* title indexes of objects that the newest answer did not have; only for the first pass */
} hkpd_key;

/* What is kept of a call beside rpc_record, whose `handle` is the one asked, if it is known, and whose `answering` is the one that
 * was opened. */
typedef struct {
    rpc_record call;
    bool handle_read; /* the next one holds it, else zeros */
    uint8_t handle[PERF_HANDLE_SIZE];
    const char *name;      /* value name, or name of the key to be opened; NULL if it was not read */
    uint32_t room;         /* lpcbData where there is a buffer for it, else 0 */
    wmem_array_t *objects; /* tapped_object: asked for by index, and not there, or there again; NULL: none */
} hkpd_record;

/* What QueryValue and EnumValue send: in both directions a value's name, type, data and its sizes, back a status, too. */
typedef struct {
    const char *name; /* NULL if it is not known */
    bool has_buffer;  /* the pointer to the data is not null */
    tvbuff_t *tvb;    /* the data, NULL if there is none */
    uint32_t data_size;
    uint32_t size; /* lpcbData */
    bool has_length;
    uint32_t length; /* lpcbLen */
    proto_item *length_item;
    uint32_t status;
} value_parameters;

/* A header alone: Windows answers so where the buffer is too small for more. */
typedef enum { ANSWER_OTHER, ANSWER_BLOCK, ANSWER_HEADER, ANSWER_TITLES } answer_kind;

/* One PDU while it is dissected. */
typedef struct {
    rpc_call call;
    hkpd_record *record; /* the same as call.record */
    key_kind opens;      /* if it opens a predefined key */
    answer_kind kind;    /* if it answers with a value */
    int handle_at;       /* where the handle that is shown stands in the stub; -1: it does not */
    proto_tree *hkpd;    /* ours, NULL as long as there is nothing to show */
    proto_item *item;
    findings_report aloud; /* of what was read silently */
    bool shown_here;       /* the stock function is not asked */
    bool is_probe;         /* which the stock function would call an error in the Info column */
} hkpd_pdu;

/* --- What the names of keys and values say ------------------------------------------------------------------------ */

/* "Counter", "Counters", "Help" or "Explain", then nothing or a language in hexadecimal, of 32 bits at most: "Counter 009". `language` is
 * 0 without one. */
static titles_kind titles_of(const char *name, uint32_t *language)
{
    static const char *const words[] = {"Counter", "Counters", "Help", "Explain"};
    titles_kind kind = TITLES_NONE;
    uint32_t ignored = 0;

    language = language ? language : &ignored;
    *language = 0;
    for (unsigned i = 0; name && i < array_length(words); i++) {
        size_t length = strlen(words[i]);
        bool begins = g_ascii_strncasecmp(name, words[i], length) == 0;
        if (begins &&
            (name[length] == '\0' || (name[length] == ' ' && ws_hexstrtou32(name + length + 1, NULL, language)))) {
            kind = i < 2 ? TITLES_NAMES : TITLES_HELP;
        }
    }
    return kind;
}

/* A list of title indexes: "2 4 238". */
static bool is_index_list(const char *name)
{
    return g_ascii_isdigit(*name) && name[strspn(name, "0123456789 ")] == '\0';
}

/* Names that hardly any other value has. */
static bool is_performance_name(const char *name)
{
    static const char *const names[] = {"Global",         "OLD_Global",         "Costly",
                                        "MetadataGlobal", "OLD_MetadataGlobal", "MetadataCostly"};
    for (unsigned i = 0; name && i < array_length(names); i++) {
        if (g_ascii_strcasecmp(name, names[i]) == 0) {
            return true;
        }
    }
    return name && (is_index_list(name) || titles_of(name, NULL) != TITLES_NONE);
}

/* By a key's last parts: "...\Perflib", or "...\Perflib\009", where also its parent can be the Perflib key. */
static key_name key_called(const char *name, bool below_perflib)
{
    const char *last = strrchr(name, '\\');
    const char *word = last ? last + 1 : name;
    size_t length = strlen("\\Perflib");
    key_name key = {KEY_OTHER, 0};

    if (last) {
        below_perflib = (size_t)(last - name) >= length && g_ascii_strncasecmp(last - length, "\\Perflib", length) == 0;
    }
    if (g_ascii_strcasecmp(word, "Perflib") == 0) {
        key.kind = KEY_PERFLIB;
    } else if (below_perflib &&
               (g_ascii_strcasecmp(word, "CurrentLanguage") == 0 || ws_hexstrtou32(word, NULL, &key.language))) {
        key.kind = KEY_LANGUAGE;
    }
    return key;
}

/* --- A PDU ------------------------------------------------------------------------------------------------------- */

static void note_unread_value(rpc_record *call, uint32_t event, rpc_answer answer);

static rpc_fields fields = {.handle_label = "Handle",
                            .handle_number_label = "Handle number",
                            .handle_word = "handle",
                            .record_size = sizeof(hkpd_record),
                            .note_unread = note_unread_value};

static bool has_failed(const hkpd_pdu *p)
{
    return p->call.ndr.reader.failed;
}

/* What was read silently may have failed: the stock function says so itself. */
static int end_pdu(hkpd_pdu *p)
{
    rpc_call *call = &p->call;

    if (p->shown_here) {
        call_report_rest(call);
        return call_end(call, p->item);
    }
    call->report.damaged = false;
    call->ndr.reader.failed = false;
    call_end(call, p->item);
    col_set_writable(call->pinfo->cinfo, COL_INFO, call->has_column && !p->is_probe);
    int size = winreg_stock(call->tvb, call->offset, call->pinfo, call->tree, call->di, call->drep);
    col_set_writable(call->pinfo->cinfo, COL_INFO, call->has_column);
    return size;
}

/* --- Handles --------------------------------------------------------------------------------------------------- */

/* NULL of another key, and of none. */
static hkpd_key *handle_key(const state_handle *handle)
{
    return handle ? handle->key : NULL;
}

/* True for the predefined keys. Those below HKEY_LOCAL_MACHINE are ordinary ones: their calls stay as they are. */
static bool is_shown(const state_handle *handle)
{
    const hkpd_key *key = handle_key(handle);

    return key && key->name.kind <= KEY_NLS_TEXT;
}

/* A handle that was closed before the call. */
static bool is_closed(const hkpd_pdu *p, const state_handle *handle)
{
    return handle && handle->end < p->call.record->request_event;
}

/* A life that begins with event `begin`; frame 0 if the opening was not captured. */
static state_handle *open_handle(hkpd_pdu *p, const uint8_t *bytes, uint32_t begin, uint32_t frame, key_name name)
{
    state_handle *handle = call_open_handle(&p->call, PERF_HANDLE_HKPD, bytes, begin, frame, NULL);

    handle->key = wmem_new0(wmem_file_scope(), hkpd_key);
    handle->key->name = name;
    handle_confirm(handle);
    return handle;
}

static void read_handle(hkpd_pdu *p, uint8_t bytes[PERF_HANDLE_SIZE])
{
    ndr_context_handle(&p->call.ndr, stock_handle, bytes);
    p->handle_at = has_failed(p) ? -1 : (int)p->call.ndr.reader.pos - PERF_HANDLE_SIZE;
}

static void read_asked_handle(hkpd_pdu *p)
{
    hkpd_record *record = p->record;

    read_handle(p, record->handle);
    record->handle_read = !has_failed(p);
    if (p->call.first_time && record->handle_read) {
        record->call.handle = handle_find(PERF_HANDLE_HKPD, p->call.to, record->handle);
    }
}

/* The bytes of a handle that was closed may mean another key by now: the name has to tell. */
static void drop_closed(hkpd_pdu *p, const char *name)
{
    state_handle *handle = p->call.record->handle;

    if (p->call.first_time && is_closed(p, handle) && !is_performance_name(name)) {
        p->call.record->handle = NULL;
    }
}

/* Our part of the tree, begun when there is something to show. */
static void show_node(hkpd_pdu *p)
{
    if (p->hkpd == NULL) {
        p->item = proto_tree_add_item(proto_tree_get_root(p->call.tree), proto_hkpd, p->call.tvb, 0, -1, ENC_NA);
        p->hkpd = proto_item_add_subtree(p->item, ett_hkpd);
        call_report_second(&p->call, &p->aloud, p->item);
    }
}

/* "HKEY_PERFORMANCE_DATA", "Perflib\009". */
static const char *key_text(const hkpd_pdu *p, key_name key)
{
    static const char *const texts[] = {"HKEY_PERFORMANCE_DATA", "HKEY_PERFORMANCE_TEXT", "HKEY_PERFORMANCE_NLSTEXT",
                                        "Perflib"};

    return key.kind == KEY_LANGUAGE ? wmem_strdup_printf(p->call.pool, "Perflib\\%03X", key.language) : texts[key.kind];
}

/* The handle of this call, with where it was opened and closed. */
static void show_handle(hkpd_pdu *p, const state_handle *handle)
{
    const hkpd_key *key = handle_key(handle);
    bool is_sent = p->handle_at >= 0;

    show_node(p);
    if (key == NULL) {
        return;
    }
    call_show_number(&p->call, p->hkpd, handle);
    if (p->hkpd == NULL) {
        return;
    }
    proto_item *item =
        proto_tree_add_bytes_with_length(p->hkpd, fields.handle, p->call.tvb, is_sent ? p->handle_at : 0,
                                         is_sent ? PERF_HANDLE_SIZE : 0, handle->bytes, PERF_HANDLE_SIZE);
    if (!is_sent) {
        proto_item_set_generated(item);
    }
    proto_tree *tree = call_show_life(&p->call, item, handle);
    proto_item_append_text(item, " (%s)", key_text(p, key->name));
    reader_add_generated_string(tree, hf_key, p->call.tvb, key_text(p, key->name));
}

static void show_if_ours(hkpd_pdu *p, const state_handle *handle)
{
    if (is_shown(handle)) {
        show_handle(p, handle);
    }
}

/* --- Parameters ------------------------------------------------------------------------------------------------ */

static const char *read_pointed_name(hkpd_pdu *p)
{
    ndr_reader *ndr = &p->call.ndr;
    ndr_array array;

    ndr_array_begin(ndr, true, "Name", &array);
    tvbuff_t *tvb = ndr_elements(ndr, &array, 2);
    if (has_failed(p)) {
        return NULL;
    }
    int size = (int)tvb_captured_length(tvb);
    const char *name = (const char *)tvb_get_string_enc(p->call.pool, tvb, 0, size, ENC_UTF_16 | ndr->reader.encoding);
    proto_tree_add_string(array.tree, stock_value_name, tvb, 0, size, name);
    proto_item_append_text(array.node, ": %s", name);
    return name;
}

/* RRP_UNICODE_STRING ([MS-RRP] 2.2.4): sizes in bytes, then a pointer to a conformant varying array. NULL if it could
 * not be read, "" if it is empty. */
static const char *read_name(hkpd_pdu *p)
{
    ndr_reader *ndr = &p->call.ndr;
    bounded_reader *reader = &ndr->reader;

    ndr_align(ndr, ndr->ndr64 ? 8 : 4);
    if (reader_has(reader, 4)) {
        proto_tree_add_item(reader->tree, stock_name_len, reader->tvb, reader->pos, 2, reader->encoding);
        proto_tree_add_item(reader->tree, stock_name_size, reader->tvb, reader->pos + 2, 2, reader->encoding);
    }
    reader_skip(reader, 4);
    bool there = ndr_pointer(ndr, "name");
    return there ? read_pointed_name(p) : has_failed(p) ? NULL : "";
}

/* False if there is no number at all. */
static bool read_pointed_u32(hkpd_pdu *p, const char *what, int hf, uint32_t *value)
{
    bool there = ndr_pointer(&p->call.ndr, what);

    *value = there ? ndr_u32(&p->call.ndr, hf) : 0;
    return there;
}

/* A client's buffer is shown as one item. */
static void read_data(hkpd_pdu *p, value_parameters *value)
{
    ndr_reader *ndr = &p->call.ndr;
    ndr_array array;

    ndr_array_begin(ndr, true, "Data", &array);
    tvbuff_t *tvb = ndr_elements(ndr, &array, 1);
    value->data_size = tvb ? tvb_captured_length(tvb) : 0;
    value->tvb = value->data_size > 0 ? tvb : NULL;
    proto_item_append_text(array.node, ": %s", text_counted(p->call.pool, array.actual_count, "byte"));
    if (value->tvb && p->call.is_request) {
        proto_tree_add_item(ndr->reader.tree, hf_sent_data, value->tvb, 0, -1, ENC_NA);
    }
}

static void read_parameters(hkpd_pdu *p, const char *name, value_parameters *value)
{
    uint32_t type;

    *value = (value_parameters){.name = name};
    read_pointed_u32(p, "type", stock_type, &type);
    value->has_buffer = ndr_pointer(&p->call.ndr, "data");
    if (value->has_buffer) {
        read_data(p, value);
    }
    read_pointed_u32(p, "size", stock_data_size, &value->size);
    value->has_length = read_pointed_u32(p, "length", stock_data_length, &value->length);
    value->length_item = p->call.ndr.reader.item;
}

/* A call about performance data that failed. That there is no such key, no titles in a language or no value after the last
 * is how clients learn what there is. */
static void report_failed(hkpd_pdu *p, uint32_t status, bool looks_for_something)
{
    bool is_failure = !has_failed(p) && status != STATUS_SUCCESS && status != STATUS_NO_MORE_ITEMS &&
                      !(status == STATUS_FILE_NOT_FOUND && looks_for_something);

    if (is_failure) {
        p->call.tapped.has_failed = true;
        show_node(p);
        findings_add(&p->aloud, p->item, FINDING_CALL_FAILED, "%s failed: %s", p->call.tapped.operation,
                     text_win32_error(p->call.pool, status));
    }
}

/* --- Opening and closing keys ------------------------------------------------------------------------------------- */

/* A predefined key: the request says nothing. */
static void open_request(hkpd_pdu *p _U_)
{
}

/* BaseRegOpenKey and BaseRegCreateKey ([MS-RRP] 3.1.5.15 and 3.1.5.7) begin alike. */
static void open_key_request(hkpd_pdu *p)
{
    read_asked_handle(p);
    const char *name = read_name(p);
    if (p->call.first_time && name) {
        p->record->name = wmem_strdup(wmem_file_scope(), name);
    }
    drop_closed(p, NULL);
    show_if_ours(p, p->call.record->handle);
}

/* A predefined key, or what the request asked for. What "" opens, the same key once more, or "009" says the key it went out from. */
static key_name asked_for(const hkpd_pdu *p)
{
    const state_handle *from = p->call.record->handle;
    const hkpd_key *parent = handle_key(from);
    const char *name = p->record->name;

    if (name == NULL ||
        (from == NULL && (*name == '\0' || key_called(name, true).kind != key_called(name, false).kind))) {
        return (key_name){p->opens, 0};
    }
    if (*name == '\0') {
        return parent ? parent->name : (key_name){KEY_OTHER, 0};
    }
    return key_called(name, parent && parent->name.kind == KEY_PERFLIB);
}

static void open_response(hkpd_pdu *p)
{
    rpc_record *record = p->call.record;
    uint32_t disposition;
    uint8_t bytes[PERF_HANDLE_SIZE];
    key_name asked = asked_for(p);

    read_handle(p, bytes);
    if (p->call.opnum == WINREG_CREATE_KEY) {
        read_pointed_u32(p, "disposition", stock_data_size, &disposition);
    }
    uint32_t status = call_read_status(&p->call, stock_status);
    if (call_may_learn(&p->call) && status == STATUS_SUCCESS && !call_handle_is_null(bytes)) {
        if (asked.kind < KEY_OTHER) {
            record->answering = open_handle(p, bytes, p->call.event, p->call.pinfo->num, asked);
            if (asked.kind != KEY_DATA) { /* a list of titles is called "Counter" there, as long as "Global" */
                connection_association(record->connection)->list_sizes = UINT64_MAX;
            }
        } else if (asked.kind == KEY_OTHER) {
            call_open_handle(&p->call, PERF_HANDLE_OTHER_KEY, bytes, p->call.event, p->call.pinfo->num, NULL);
        }
    }
    show_if_ours(p, record->answering);
    if (asked.kind < KEY_OTHER) {
        report_failed(p, status, true);
    }
}

/* BaseRegCloseKey, 3.1.5.5. */
static void close_key_request(hkpd_pdu *p)
{
    read_asked_handle(p);
    drop_closed(p, NULL);
    call_close_handle(&p->call);
    show_if_ours(p, p->call.record->handle);
}

static void close_key_response(hkpd_pdu *p)
{
    uint8_t bytes[PERF_HANDLE_SIZE];

    ndr_context_handle(&p->call.ndr, stock_handle, bytes);
    call_read_status(&p->call, stock_status);
    call_close_handle(&p->call);
    show_if_ours(p, p->call.record->handle);
}

/* --- Requests of QueryValue and EnumValue ------------------------------------------------------------------------- */

/* The stock function shows each byte of the data of a request as an item of its own: no more of them than these. */
#define MAX_STOCK_BYTES 4096

/* The next of a list of title indexes; false at the end. */
static bool next_index(const char **indexes, uint32_t *title)
{
    char *end = NULL;

    if (!g_ascii_isdigit(**indexes)) {
        return false;
    }
    *title = (uint32_t)g_ascii_strtoull(*indexes, &end, 10);
    *indexes = end + strspn(end, " ");
    return true;
}

/* "objects System, Process", by the titles that are known; as many as a text of the Info column could hold. */
static const char *objects_asked_for(const hkpd_pdu *p, const char *indexes)
{
    wmem_strbuf_t *words = wmem_strbuf_new(p->call.pool, "");
    unsigned count = 0;
    uint32_t title;

    for (; wmem_strbuf_get_len(words) < TEXT_NAME_MAX && next_index(&indexes, &title); count++) {
        wmem_strbuf_append_printf(words, "%s%s", count > 0 ? ", " : "",
                                  facts_title_label(p->call.pool, p->call.to->host, title, p->call.event));
    }
    return wmem_strdup_printf(p->call.pool, "object%s %s", count == 1 ? "" : "s", wmem_strbuf_get_str(words));
}

/* What the call asks: handle and value name. */
static void show_question(hkpd_pdu *p)
{
    show_handle(p, p->call.record->handle);
    if (p->record->name) {
        const char *name = *p->record->name ? p->record->name : "default value";
        const char *text = text_short(p->call.pool, is_index_list(name) ? objects_asked_for(p, name) : name);
        reader_add_generated_string(p->hkpd, hf_value_name, p->call.tvb, p->record->name);
        proto_item_append_text(p->item, ", %s", text);
        call_about(&p->call, "%s", text);
    }
}

static void read_question(hkpd_pdu *p, value_parameters *value)
{
    read_asked_handle(p);
    if (p->call.opnum == WINREG_ENUM_VALUE) {
        ndr_u32(&p->call.ndr, 0); /* its number among the key's values, which the stock function shows */
    }
    read_parameters(p, read_name(p), value);
}

/* Of a request. The stock function would show each byte of the client's buffer as an item; in NDR64 it
 * looks for the name in a wrong place (Wireshark 4.0 and 4.4). */
static bool stock_cannot_show(const hkpd_pdu *p, const value_parameters *value)
{
    const state_handle *handle = p->call.record->handle;
    bool is_long = is_shown(handle) && value->data_size > MAX_STOCK_BYTES && !has_failed(p);
    bool is_misread = p->call.ndr.ndr64 && (handle ? handle_key(handle) != NULL : is_performance_name(value->name));

    return p->call.opnum == WINREG_QUERY_VALUE && (is_long || is_misread);
}

static void value_request(hkpd_pdu *p)
{
    value_parameters value;
    hkpd_record *record = p->record;

    read_question(p, &value);
    if (p->call.first_time && value.name && p->call.opnum == WINREG_QUERY_VALUE) {
        record->name = wmem_strdup(wmem_file_scope(), value.name);
        if (p->call.asked) {
            p->call.asked->is_list = titles_of(value.name, NULL) != TITLES_NONE;
        }
    }
    if (p->call.first_time && !has_failed(p)) {
        record->room = value.has_buffer ? value.size : 0;
        record->call.request_read = true;
    }
    drop_closed(p, value.name);
    if (is_shown(record->call.handle)) {
        show_question(p);
        if (record->room > 0) {
            call_about(&p->call, "room for %s", text_counted(p->call.pool, record->room, "byte"));
        }
        if (is_closed(p, record->call.handle)) {
            findings_add(&p->aloud, p->item, FINDING_HANDLE_CLOSED, "The handle was closed in frame %u",
                         record->call.handle->closed_frame);
        }
    }
    if (stock_cannot_show(p, &value)) {
        p->shown_here = true;
        call_read_stub(&p->call, true);
        read_question(p, &value);
    }
}

/* --- Answers to QueryValue and EnumValue: performance data, titles, or neither ------------------------------------ */

/* LCID of English without a country. */
#define LANGUAGE_ENGLISH 0x009
#define LANGUAGE_MASK 0x3FF

static void read_answer(hkpd_pdu *p, value_parameters *back)
{
    read_parameters(p, p->call.opnum == WINREG_ENUM_VALUE ? read_name(p) : p->record->name, back);
    back->status = call_read_status(&p->call, stock_status);
}

/* --- What an answer is ----------------------------------------------------------------------------------------- */

/* The value name decides, not the type. A signature of eight bytes is not enough: another key's value can begin so, and a handle of
 * which nothing is known is ours only by a block that adds up. With ERROR_MORE_DATA the data may be anything. */
static answer_kind kind_of(hkpd_pdu *p, const value_parameters *back)
{
    tvbuff_t *tvb = back->tvb;
    const state_handle *handle = p->call.record->handle;
    bool is_ours = handle_key(handle) && !is_closed(p, handle);
    bool is_probe = !has_failed(p) && back->status == STATUS_MORE_DATA;
    perf_block_summary summary;
    uint32_t others;
    bool goes_on;

    if (tvb == NULL || (handle && handle_key(handle) == NULL)) {
        return ANSWER_OTHER;
    }
    if (!is_probe && titles_of(back->name, NULL) != TITLES_NONE &&
        (is_ours || (wmem_array_get_count(hkpd_titles(tvb, p->call.pool, &others, &goes_on)) > 0 && others == 0))) {
        return ANSWER_TITLES;
    }
    uint32_t size = tvb_captured_length(tvb);
    const uint8_t *bytes = tvb_get_ptr(tvb, 0, (int)size);
    if (!perf_block_is(bytes, size)) {
        return ANSWER_OTHER;
    }
    bool is_sound = (is_probe || !is_ours) && perf_block_check(bytes, size, &summary);
    if (is_probe) {
        return is_sound && summary.objects == 0 && tvb_get_letohl(tvb, 20) == 0 ? ANSWER_HEADER : ANSWER_OTHER;
    }
    return is_ours || is_sound ? ANSWER_BLOCK : ANSWER_OTHER;
}

/* What the server calls itself tells which of several machines it is. A handle of another one is another handle, or one of them is called
 * otherwise. */
static void note_system(hkpd_pdu *p, const value_parameters *back)
{
    tvbuff_t *tvb = back->tvb;
    rpc_record *record = p->call.record;
    bool is_block = p->kind == ANSWER_BLOCK && back->status == STATUS_SUCCESS;
    perf_block_walk walk;

    if (!p->call.first_time || !(is_block || p->kind == ANSWER_HEADER)) {
        return;
    }
    perf_block_init(&walk, tvb_get_ptr(tvb, 0, -1), tvb_captured_length(tvb));
    const char *name = perf_block_next(&walk) == PERF_BLOCK_HEADER ? hkpd_system_name(p->call.pool, tvb, &walk) : NULL;
    if (name) {
        call_name_server(&p->call, HOST_SYSTEM, name);
        if (record->handle && record->handle->server != p->call.to->host) {
            p->call.to->is_in_doubt |= record->handle->machine && !is_closed(p, record->handle);
            record->handle = NULL;
        }
    }
}

/* An answer with performance data tells what the handle is, if its opening was not captured. A handle that was closed and
 * is answered for was given out anew. The request belongs to it too, as a later look shows. */
static void find_handle(hkpd_pdu *p, const value_parameters *back)
{
    rpc_record *record = p->call.record;
    const hkpd_key *closed = is_closed(p, record->handle) ? handle_key(record->handle) : NULL;
    bool has_data = p->kind == ANSWER_BLOCK || p->kind == ANSWER_HEADER || (closed && p->kind == ANSWER_TITLES);
    bool has_size = closed && !has_failed(p) && back->status == STATUS_MORE_DATA;

    if (!p->call.first_time || (record->handle && !closed) || !p->record->handle_read || !(has_data || has_size)) {
        return;
    }
    record->handle = handle_find(PERF_HANDLE_HKPD, p->call.to, p->record->handle);
    if (record->handle == NULL || record->handle->end != UINT32_MAX) {
        record->handle = open_handle(p, p->record->handle, record->request_event, 0,
                                     closed ? closed->name : (key_name){KEY_DATA, 0});
    }
}

/* --- Neither data nor titles ----------------------------------------------------------------------------------- */

/* Servers that don't know the size say what the buffer has, what a header alone takes, or nothing. */
static uint32_t needed_size(const hkpd_pdu *p, const value_parameters *back)
{
    return p->kind != ANSWER_HEADER && back->size > p->record->room ? back->size : 0;
}

static void describe_probe(hkpd_pdu *p, const value_parameters *back)
{
    uint32_t needed = needed_size(p, back), size = needed > 0 ? needed : p->record->room;
    const char *than = needed > 0 || size == 0 ? "" : "more than ";

    call_about(&p->call, "size probe: needs %s%s", than, size > 0 ? text_counted(p->call.pool, size, "byte") : "more");
}

/* Success, but nothing that the key can hold. Without room for data that is the answer to a size probe. */
static void describe_success(hkpd_pdu *p, const value_parameters *back)
{
    if (back->data_size > 0) {
        if (handle_key(p->call.record->handle)->name.kind == KEY_DATA) {
            findings_add(&p->aloud, p->item, FINDING_NOT_PERFORMANCE_DATA,
                         "The call succeeded, but its %u bytes are no PERF_DATA_BLOCK", back->data_size);
            call_about(&p->call, "no PERF_DATA_BLOCK");
        }
    } else if (p->record->room > 0) {
        findings_add(&p->aloud, p->item, FINDING_NO_DATA,
                     "The call succeeded with room for %u bytes, but there is no data", p->record->room);
        call_about(&p->call, "no data");
    } else if (back->size > 0) {
        describe_probe(p, back);
    }
}

/* An answer without data of ours: the stock function shows it. */
static void describe_other(hkpd_pdu *p, const value_parameters *back)
{
    if (!is_shown(p->call.record->handle)) {
        return;
    }
    show_question(p);
    p->is_probe = !has_failed(p) && back->status == STATUS_MORE_DATA;
    if (p->is_probe) {
        describe_probe(p, back);
    } else if (!has_failed(p) && back->status == STATUS_SUCCESS) {
        describe_success(p, back);
    } else {
        report_failed(p, back->status, titles_of(back->name, NULL) != TITLES_NONE);
    }
}

/* --- Performance data ------------------------------------------------------------------------------------------ */

/* Of what was asked for by index: what is not in the answer, which adds up, and what is there again. */
static void note_objects(hkpd_pdu *p)
{
    hkpd_key *key = p->call.record->handle->key;
    wmem_array_t *objects = wmem_array_new(wmem_file_scope(), sizeof(tapped_object));
    const char *indexes = p->record->name;
    tapped_object object;

    key->lacking = key->lacking ? key->lacking : wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
    while (next_index(&indexes, &object.title)) {
        void *title = GUINT_TO_POINTER(object.title);
        bool was_there = wmem_map_lookup(key->lacking, title) == NULL;
        const state_object *newest = wmem_map_lookup(p->call.record->handle->objects, title);
        object.is_there = newest && newest->sample == p->call.record->sample;
        object.is_news = object.is_there != was_there;
        wmem_map_insert(key->lacking, title, object.is_there ? NULL : key);
        if (!object.is_there || object.is_news) {
            wmem_array_append_one(objects, object);
        }
    }
    p->record->objects = objects;
}

static void report_objects(hkpd_pdu *p)
{
    tapped_call *tapped = &p->call.tapped;

    tapped->objects = wmem_array_get_raw(p->record->objects);
    tapped->num_objects = wmem_array_get_count(p->record->objects);
    for (unsigned i = 0; i < tapped->num_objects; i++) {
        if (tapped->objects[i].is_news) {
            findings_add(&p->call.report, proto_tree_get_parent(p->hkpd), FINDING_NOT_DELIVERED, "%s: %s",
                         tapped->objects[i].is_there ? "Delivered again" : "Not delivered",
                         tapped_object_name(p->call.pool, p->call.to->host, tapped->objects[i].title, p->call.event));
        }
    }
}

/* What most of its samples call it, as far as they came: each counts for the name that leads, or against it. */
static void note_machine(state_handle *handle, const char *name)
{
    bool is_same = g_strcmp0(handle->machine, name) == 0, is_so = is_same || handle->called_so == 0;

    if (is_so && !is_same) {
        handle->machine = wmem_strdup(wmem_file_scope(), name);
        handle_note_name(handle, name);
    }
    handle->called_so += is_so ? 1 : -1;
}

/* True if it is a sample of all its objects. */
static bool keep_sample(hkpd_pdu *p, tvbuff_t *tvb, const perf_block_summary *summary)
{
    uint32_t size = tvb_captured_length(tvb);
    const uint8_t *bytes = tvb_get_ptr(tvb, 0, (int)size);
    rpc_record *record = p->call.record;
    uint32_t count;
    perf_block_walk walk;
    const uint32_t *objects = hkpd_objects(tvb, p->call.pool, summary->faults > 0, &count);

    record->sample = sample_keep(record->handle, bytes, size, p->call.event, p->call.pinfo->num);
    record->sample->request_event = record->request_event;
    bool is_whole = sample_holds(record->sample, objects, count);
    record->sample->summary.faults = summary->faults > 0 || !is_whole;
    record->sample->summary.failed = summary->values_left_out > 0 || summary->objects_left_out > 0 || !is_whole;
    perf_block_init(&walk, bytes, size);
    perf_block_next(&walk);
    if (perf_block_u32(&walk, 20) == size - walk.header.size) { /* Samba's total leaves the header out */
        host_note_no_windows(p->call.to);
    }
    const char *name = hkpd_system_name(p->call.pool, tvb, &walk);
    if (name) {
        note_machine(record->handle, name);
    }
    if (p->record->name) {
        timing_series *series = pace_find_or_create(record->handle, p->record->name);
        record->sample->late = pace_respond(series, call_seconds(&p->call), true);
    }
    return is_whole;
}

/* A sample has objects that can be relied on, or none: then nothing that was asked for is there. */
static void learn_block(hkpd_pdu *p, tvbuff_t *tvb, const perf_block_summary *summary)
{
    state_handle *handle = p->call.record->handle;
    bool is_sample = summary->sound_objects > 0 || (summary->objects == 0 && summary->faults == 0);

    if (is_sample && handle && call_note_sample(&p->call, handle, tvb)) {
        bool is_whole = keep_sample(p, tvb, summary);
        if (p->record->name && is_index_list(p->record->name) && is_whole && summary->faults == summary->read_as) {
            note_objects(p);
        }
    }
}

/* A PERF_DATA_BLOCK: kept if it is a sample, shown, and told to listeners. */
static void read_block_answer(hkpd_pdu *p, const value_parameters *back)
{
    tapped_call *tapped = &p->call.tapped;
    uint32_t size = back->data_size;
    perf_block_summary summary;

    perf_block_check(tvb_get_ptr(back->tvb, 0, (int)size), size, &summary);
    if (call_may_learn(&p->call) && back->status == STATUS_SUCCESS) {
        learn_block(p, back->tvb, &summary);
    }
    call_answer(&p->call, &hkpd_readings_layout, p->call.record->handle,
                reader_own_source(p->call.pinfo, back->tvb, "Performance data"));
    call_note_faults(&p->call, summary.faults);
    hkpd_dissect_block(p->hkpd, &p->call.report, &p->call.answer, &summary);
    if (p->call.answer.sample && p->record->objects) {
        report_objects(p);
    }
    call_report_answer(&p->call, summary.values, NULL, summary.objects, "object", size);
    /* MetadataGlobal, for instance, only describes */
    bool has_values = summary.faults > 0 || summary.sound_objects > 0 || summary.objects == 0;
    if (back->status == STATUS_SUCCESS && has_values) {
        call_tell_answer(&p->call, summary.definitions);
        tapped->values_left_out = summary.values_left_out;
        tapped->objects_left_out = summary.objects_left_out;
        tapped->has_contradictions = summary.contradictions > 0;
    }
}

/* It tells the machine, and that there is no room for more. */
static void read_header_answer(hkpd_pdu *p, const value_parameters *back)
{
    perf_block_summary summary = {.objects = 0};

    call_answer(&p->call, &hkpd_readings_layout, NULL, back->tvb);
    hkpd_dissect_block(p->hkpd, &p->call.report, &p->call.answer, &summary);
    describe_probe(p, back);
}

/* --- Titles ---------------------------------------------------------------------------------------------------- */

/* Of names, not of help texts. The value name tells the language, else the key does; 0: none does. */
static bool are_names(const rpc_record *record, const char *name, uint32_t *language, state_fact_kind *kind)
{
    const hkpd_key *key = handle_key(record->handle);
    bool are = titles_of(name, language) == TITLES_NAMES;

    if (*language == 0 && key) {
        *language = key->name.kind == KEY_TEXT ? LANGUAGE_ENGLISH : key->name.language;
    }
    *kind = (*language & LANGUAGE_MASK) == LANGUAGE_ENGLISH ? PERF_FACT_ENGLISH : PERF_FACT_LOCAL;
    return are;
}

/* A list that could not be read whole: what it told anew is unknown. */
static void note_unread_titles(const rpc_record *call, uint32_t event)
{
    const state_subject titles = facts_title_subject(0);

    facts_note_unread(call->to, &titles, PERF_FACT_ENGLISH, 0, event,
                      call->response_frame ? call->response_frame : call->request_frame,
                      call->response_frame ? NULL : &call->response_frame);
}

/* Of a request that was not read, or does not name the value (EnumValue), it may be any. */
static void note_unread_list(const rpc_record *call, uint32_t event)
{
    const hkpd_record *record = (const hkpd_record *)call;
    bool is_any = call->request_read ? record->name == NULL && record->room > 0 && handle_key(call->handle)
                                     : call->handle == NULL || handle_key(call->handle);

    if (is_any || (record->name && record->room > 0 && titles_of(record->name, NULL) == TITLES_NAMES)) {
        note_unread_titles(call, event);
    }
}

static void note_unread_value(rpc_record *call, uint32_t event, rpc_answer answer)
{
    bool is_value = call->operation && g_str_has_suffix(call->operation, "Value");

    if (answer != RPC_FAULT && (is_value || ((const hkpd_record *)call)->room > 0)) {
        note_unread_list(call, event);
    }
}

/* A list that is whole, and lacks some that the one before had: whether those are titles still, and what they stand for, is not known. One in a
 * local language says nothing of those in English, nor of another's. `language`: 0 is English, UINT32_MAX one that is not known. */
static void note_titles_gone(const hkpd_pdu *p, wmem_array_t *list, uint32_t language)
{
    state_host *host = p->call.to->host;
    wmem_array_t *before = host->titles;
    if (language != 0 && before && host->titles_language == 0) {
        return;
    }
    wmem_array_t *now = wmem_array_new(wmem_file_scope(), sizeof(uint32_t));
    wmem_map_t *titles = wmem_map_new(p->call.pool, g_direct_hash, g_direct_equal);
    const state_subject any = facts_title_subject(0);
    bool is_gone = false, is_alike = before && host->titles_language == language;

    host->titles = now;
    host->titles_language = language;
    for (unsigned i = 0; i < wmem_array_get_count(list); i++) {
        const hkpd_title *title = wmem_array_index(list, i);
        if (*title->text) {
            wmem_array_append(now, &title->index, 1);
            wmem_map_insert(titles, GUINT_TO_POINTER(title->index), titles);
        }
    }
    for (unsigned i = 0; is_alike && i < wmem_array_get_count(before); i++) {
        is_gone |= !wmem_map_contains(titles, GUINT_TO_POINTER(*(uint32_t *)wmem_array_index(before, i)));
    }
    if (before) {
        wmem_destroy_array(before);
    }
    if (is_gone || !host->is_known) {
        facts_note_unread(p->call.to, &any, PERF_FACT_ENGLISH, 0, p->call.record->request_event, 0,
                          is_gone ? NULL : &p->call.to->settled);
    }
}

static void learn_titles(hkpd_pdu *p, const value_parameters *back)
{
    uint32_t language, others, asked = p->call.record->request_event;
    const state_subject any = facts_title_subject(0);
    state_fact_kind kind;
    bool goes_on;

    if (!are_names(p->call.record, back->name, &language, &kind)) {
        return;
    }
    wmem_array_t *titles = hkpd_titles(back->tvb, p->call.pool, &others, &goes_on);
    /* of a key whose opening was not read: what it tells may contradict what other handles tell in their language */
    state_host *host = p->call.to->host;
    bool is_any = language == 0 && p->call.record->handle == NULL;
    uint8_t handle[PERF_HANDLE_SIZE] = {0};
    memcpy(handle, p->record->handle, is_any ? sizeof handle : 0);
    handle[0] |= is_any && !p->record->handle_read;
    bool is_other = (is_any && !p->record->handle_read) || memcmp(host->titles_handle, handle, sizeof handle) != 0;
    memcpy(host->titles_handle, handle, sizeof handle);
    if (others > 0 || is_other) {
        asked = p->call.event;
    }
    if (others > 0) {
        note_unread_titles(p->call.record, asked);
    } else if (is_other) {
        facts_note_unread(p->call.to, &any, PERF_FACT_ENGLISH, 0, asked, 0, NULL);
    }
    for (unsigned i = 0; i < wmem_array_get_count(titles); i++) {
        const hkpd_title *title = wmem_array_index(titles, i);
        state_fact fact = {.name = title->text, .lcid = kind == PERF_FACT_ENGLISH ? 0 : language};
        if (title->index > 1 && *title->text) { /* title 1 is not one: its text is the highest index */
            facts_learn(p->call.to, facts_title_subject(title->index), kind, &fact, asked, p->call.event,
                        p->call.pinfo->num);
        }
    }
    if (others == 0) { /* behind what is told: that is renewed */
        note_titles_gone(p, titles, kind == PERF_FACT_ENGLISH ? 0 : language ? language : UINT32_MAX);
    }
    if (goes_on) {
        facts_note_unread(p->call.to, &any, kind, 0, state_event_next(), 0, NULL);
    }
}

static void read_titles_answer(hkpd_pdu *p, const value_parameters *back)
{
    tvbuff_t *tvb = reader_own_source(p->call.pinfo, back->tvb, "Performance data");

    if (call_may_learn(&p->call) && back->status == STATUS_SUCCESS) {
        learn_titles(p, back);
    }
    uint32_t others, titles = hkpd_dissect_titles(tvb, p->hkpd, &p->call.report, &others);
    p->call.tapped.lacks_titles |= others > 0 && titles_of(back->name, NULL) == TITLES_NAMES;
    call_info(&p->call, "%s, %s", text_counted(p->call.pool, titles, "title"),
              text_counted(p->call.pool, back->data_size, "byte"));
}

/* --- The response ---------------------------------------------------------------------------------------------- */

/* Without room for data, success is the answer to a size probe. Some servers need more room, and do not say how much. */
static void tell_sizes(hkpd_pdu *p, const value_parameters *back)
{
    tapped_call *tapped = &p->call.tapped;

    tapped->has_sizes = !has_failed(p);
    tapped->rtn_size = back->status == STATUS_MORE_DATA ? needed_size(p, back) : back->size;
    tapped->out_size = back->status == STATUS_SUCCESS ? back->data_size : 0;
    bool answers_probe = back->status == STATUS_SUCCESS && p->record->room == 0 &&
                         (tapped->rtn_size > 0 || p->call.record->request_read);
    tapped->is_probe =
        tapped->has_sizes && tapped->out_size == 0 && (back->status == STATUS_MORE_DATA || answers_probe);
}

static void check_length(hkpd_pdu *p, const value_parameters *back)
{
    if (!has_failed(p) && back->has_length && back->length != back->data_size) {
        findings_add(&p->call.report, back->length_item, FINDING_LENGTH,
                     "*lpcbLen is %u, but %u bytes of data are there", back->length, back->data_size);
    }
}

static void show_answer(hkpd_pdu *p, value_parameters *back)
{
    p->shown_here = true;
    show_question(p);
    call_read_stub(&p->call, true);
    read_answer(p, back);
    check_length(p, back);
    if (p->kind == ANSWER_HEADER) {
        read_header_answer(p, back);
        return;
    }
    call_report_status(&p->call, back->status);
    if (p->kind == ANSWER_BLOCK) {
        read_block_answer(p, back);
    } else {
        read_titles_answer(p, back);
    }
}

static void value_response(hkpd_pdu *p)
{
    value_parameters back;

    read_answer(p, &back);
    p->kind = kind_of(p, &back);
    note_system(p, &back);
    find_handle(p, &back);
    tell_sizes(p, &back);
    const state_handle *handle = p->call.record->handle;
    p->call.tapped.lacks_titles =
        p->call.report.damaged && (handle == NULL || handle_key(handle)) && titles_of(back.name, NULL) == TITLES_NAMES;
    bool is_unknown = (!p->call.record->request_read || back.name == NULL) && p->kind == ANSWER_OTHER &&
                      back.status == STATUS_SUCCESS;
    if (p->call.first_time && (p->call.tapped.lacks_titles || is_unknown)) {
        note_unread_list(p->call.record, p->call.event);
    }
    if (p->kind == ANSWER_OTHER) {
        describe_other(p, &back);
    } else {
        show_answer(p, &back);
    }
}

/* --- The protocol ------------------------------------------------------------------------------------------------- */

/* Largest size of a value ([MS-RRP] 3.1.5.17). */
#define MAX_VALUE 0x4000000

static ws_pref_bool pref_decode = true;

typedef void (*pdu_function)(hkpd_pdu *p);

/* Of winreg, by number: where no function is for the request the stock one stays; the shape is as in dcerpc/ndr.h. Of all
 * predefined keys but three it is known only that they are not ours. */
static const struct {
    const char *name; /* as the stock dissector has it; NULL: not looked at */
    pdu_function request;
    pdu_function response;
    const char *response_shape;
    key_kind opens;
    unsigned does; /* dcerpc/pdus.h; 0: a sealed call of it is none of ours */
} operations[] = {
    [0] = {"OpenHKCR", NULL, open_response, "HR", KEY_OTHER, 0},
    [1] = {"OpenHKCU", NULL, open_response, "HR", KEY_OTHER, 0},
    [2] = {"OpenHKLM", NULL, open_response, "HR", KEY_OTHER, 0},
    [3] = {"OpenHKPD", open_request, open_response, "HR", KEY_DATA, RPC_OPENS},
    [4] = {"OpenHKU", NULL, open_response, "HR", KEY_OTHER, 0},
    [5] = {"CloseKey", close_key_request, close_key_response, "HR", KEY_UNKNOWN, RPC_CLOSES},
    [WINREG_CREATE_KEY] = {"CreateKey", open_key_request, open_response, "HpLR", KEY_UNKNOWN, 0},
    [WINREG_ENUM_VALUE] = {"EnumValue", value_request, value_response, "LpWpCpVpSpSR", KEY_UNKNOWN,
                           RPC_USES | RPC_LISTS},
    [15] = {"OpenKey", open_key_request, open_response, "HR", KEY_UNKNOWN, 0},
    [WINREG_QUERY_VALUE] = {"QueryValue", value_request, value_response, "pCpVpSpSR", KEY_UNKNOWN,
                            RPC_USES | RPC_RETURNS | RPC_SAMPLES | RPC_LISTS},
    [27] = {"OpenHKCC", NULL, open_response, "HR", KEY_OTHER, 0},
    [28] = {"OpenHKDD", NULL, open_response, "HR", KEY_OTHER, 0},
    [32] = {"OpenHKPT", open_request, open_response, "HR", KEY_TEXT, RPC_OPENS},
    [33] = {"OpenHKPN", open_request, open_response, "HR", KEY_NLS_TEXT, RPC_OPENS},
};

static bool is_active(void)
{
    return pref_decode && proto_is_protocol_enabled(find_protocol_by_id(proto_hkpd));
}

/* A response about performance data that was not decrypted: the stock function would show it as if it were true. */
static bool is_noise(hkpd_pdu *p, const char *shape)
{
    return !p->call.is_request && is_shown(p->call.record->handle) && call_report_noise(&p->call, shape, MAX_VALUE);
}

/* What a value's name asks for, in words that are few. */
static const char *question_kind(const hkpd_record *record)
{
    const char *name = record->name;

    return name == NULL                           ? NULL
           : titles_of(name, NULL) != TITLES_NONE ? "titles"
           : g_ascii_isdigit(*name)               ? "objects by their indexes"
           : is_performance_name(name)            ? name
                                                  : "other values";
}

/* Not for titles, and what came is none of another key's values. */
static bool asks_for_data(const hkpd_pdu *p, const state_handle *handle)
{
    const hkpd_key *key = handle_key(handle);
    bool is_asked_for = p->call.opnum == WINREG_ENUM_VALUE || is_performance_name(p->record->name);

    return key && key->name.kind == KEY_DATA && is_asked_for && titles_of(p->record->name, NULL) == TITLES_NONE &&
           (p->call.tapped.answer || p->call.tapped.out_size == 0 ||
            (p->call.opnum == WINREG_QUERY_VALUE && p->kind == ANSWER_OTHER));
}

static void tap_pdu(hkpd_pdu *p)
{
    const rpc_record *record = p->call.record;
    tapped_call *tapped = &p->call.tapped;
    /* what a request opens its response tells: on a later look it is no other */
    state_handle *handle = record->handle || p->call.is_request ? record->handle : record->answering;

    if (p->opens < KEY_OTHER || handle_key(handle)) {
        p->call.record->operation = p->call.tapped.operation;
    }
    if (handle_key(handle) == NULL) {
        if (!p->call.tapped.has_failed && !(p->call.is_request && p->opens < KEY_OTHER)) {
            return;
        }
        handle = NULL; /* the key of performance data is not given yet, or was not */
    }
    if (p->record->name) {
        call_pace(&p->call, handle, p->record->name);
    }
    if (!tapped_wanted()) {
        return;
    }
    tapped->is_hkpd = true;
    tapped->kind = question_kind(p->record);
    tapped->brings_data = asks_for_data(p, handle);
    p->call.report.damaged |= tapped->brings_data && tapped->answer == NULL && tapped->out_size > 0;
    tapped->subject = p->record->name;
    tapped->subject_size = p->record->name ? (uint32_t)strlen(p->record->name) : 0;
    call_hand_over(&p->call, handle);
}

static int dissect_pdu(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di, uint8_t *drep)
{
    uint16_t opnum = di->call_data->opnum;
    hkpd_pdu p;
    volatile int length = 0;

    DISSECTOR_ASSERT(opnum < array_length(operations)); /* no other is hooked */
    if (!is_active() || call_is_connectionless(di)) {
        return winreg_stock(tvb, offset, pinfo, tree, di, drep);
    }
    memset(&p, 0, sizeof p);
    call_begin(&p.call, &fields, operations[opnum].name, tvb, offset, pinfo, tree, di, drep);
    p.opens = operations[opnum].opens;
    p.handle_at = -1;
    p.record = (hkpd_record *)p.call.record;
    p.aloud = (findings_report){.pinfo = pinfo, .expert = &fields.expert};
    if (is_noise(&p, operations[opnum].response_shape)) {
        tapped_hand_over(pinfo, &(tapped_call){.unread = TAPPED_NOISE});
        return call_end(&p.call, NULL);
    }
    call_read_stub(&p.call, false);
    TRY
    {
        (p.call.is_request ? operations[opnum].request : operations[opnum].response)(&p);
        length = end_pdu(&p);
    }
    FINALLY /* what the stock function throws at its end was a call too */
    {
        p.call.report.damaged |= length == 0;
        tap_pdu(&p);
    }
    ENDTRY;
    return length;
}

static void hook(void)
{
    static dcerpc_sub_dissector entries[array_length(operations)];
    static rpc_operation sealed[array_length(operations) + 1];
    unsigned count = 0;

    for (unsigned i = 0; i < array_length(operations); i++) {
        if (operations[i].does != 0) {
            sealed[count++] = (rpc_operation){(uint16_t)i, operations[i].name, operations[i].does};
        }
        entries[i] = (dcerpc_sub_dissector){(uint16_t)i, operations[i].name, operations[i].request ? dissect_pdu : NULL,
                                            dissect_pdu};
    }
    winreg_hook_install(entries, array_length(entries), sealed, is_active);
}

/* --- Registration ---------------------------------------------------------------------------------------------- */

static void register_fields(void)
{
    static hf_register_info hf[] = {
        FIELD_TEXT(hf_key, "Key", "hkpd.key", "What the handle was opened as"),
        FIELD_BYTES(hf_sent_data, "Data sent", "hkpd.sent_data",
                    "The client's buffer as it is sent with a request: no performance data"),
        FIELD_TEXT(hf_value_name, "Value name", "hkpd.value_name",
                   "What was asked for: objects, or titles in a language"),
    };
    static int *ett[] = {&ett_hkpd};

    proto_register_field_array(proto_hkpd, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    call_fields_register(proto_hkpd, "hkpd", "handle.number", &fields);
}

void proto_register_hkpd(void)
{
    proto_hkpd =
        proto_register_protocol("Performance Data of the Remote Registry (HKEY_PERFORMANCE_DATA)", "HKPD", "hkpd");
    register_fields();
    hkpd_buffers_register(proto_hkpd);
    module_t *module = prefs_register_protocol(proto_hkpd, NULL);
    prefs_register_bool_preference(module, "decode", "Decode performance data in the remote registry",
                                   "Answers with performance data are dissected whole instead of byte by byte. "
                                   "Without this the registry is dissected as Wireshark does by itself.",
                                   &pref_decode);
}

/* Nothing is hooked where the stock dissector is not as expected. */
void proto_reg_handoff_hkpd(void)
{
    static const struct {
        int *hf;
        const char *name;
    } fields_of_winreg[] = {
        {&stock_handle, "winreg.handle"},
        {&stock_value_name, "winreg.winreg_QueryValue.value_name"},
        {&stock_name_len, "winreg.winreg_String.name_len"},
        {&stock_name_size, "winreg.winreg_String.name_size"},
        {&stock_type, "winreg.winreg_QueryValue.type"},
        {&stock_data_size, "winreg.winreg_QueryValue.data_size"},
        {&stock_data_length, "winreg.winreg_QueryValue.data_length"},
        {&stock_status, "winreg.werror"},
    };
    bool has_all = true;

    for (unsigned i = 0; i < array_length(fields_of_winreg); i++) {
        *fields_of_winreg[i].hf = proto_registrar_get_id_byname(fields_of_winreg[i].name);
        has_all = has_all && *fields_of_winreg[i].hf != -1;
    }
    if (has_all) {
        hook();
    }
}
