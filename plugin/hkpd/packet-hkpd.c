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
#include "tap/tapped.h"
#include "dcerpc/call.h"
#include "tree/fields.h"
#include "hkpd/hkpd.h"
#include "text/value-strings.h"

#include <epan/exceptions.h>

void proto_register_hkpd(void);
void proto_reg_handoff_hkpd(void);

static int proto_hkpd = -1;
static int hf_key, hf_value_type, hf_sent_data, hf_winreg_value_name, hf_winreg_name_len, hf_winreg_name_size,
    hf_winreg_type, hf_winreg_data_size, hf_winreg_data_length, hf_winreg_status, hf_value_name, hf_retry_of;

static int ett_hkpd = -1;

/* Keys whose values are performance data or titles; any other; and one of which that is not known: its opening was not read, or
 * the handle that it went out from is not known. */
typedef enum {
    HKPD_KEY_DATA,
    HKPD_KEY_TEXT,
    HKPD_KEY_NLS_TEXT,
    HKPD_KEY_PERFLIB,
    HKPD_KEY_LANGUAGE, /* below Perflib */
    HKPD_KEY_OTHER,
    HKPD_KEY_UNKNOWN
} hkpd_key_kind;

typedef struct {
    hkpd_key_kind kind;
    uint32_t language; /* of HKPD_KEY_LANGUAGE */
} hkpd_key_name;

typedef enum { HKPD_TITLES_NONE, HKPD_TITLES_NAMES, HKPD_TITLES_HELP } hkpd_titles_kind;

#define STATUS_SUCCESS 0
#define STATUS_FILE_NOT_FOUND 2
#define STATUS_MORE_DATA 234
#define STATUS_NO_MORE_ITEMS 259

/* Which key with performance data a handle stands for. Belongs to the handle. */
typedef struct hkpd_key {
    hkpd_key_name name;
    /* the last answer, as long as it was ERROR_MORE_DATA; only for the first pass */
    const char *too_small_name;
    uint32_t too_small_frame; /* of its request */
    wmem_map_t *lacking;      /* title indexes of objects that the newest answer did not have */
} hkpd_key;

/* What is kept of a call beside rpc_record, whose `handle` is the one asked, if it is a key with performance data,
 * and whose `answering` is the one that was opened. */
typedef struct {
    rpc_record call;
    bool handle_read; /* the next one holds it */
    uint8_t handle_bytes[PERF_HANDLE_SIZE];
    const char *name; /* value name, or name of the key to be opened; NULL if it was not read */
    uint32_t room;    /* lpcbData where there is a buffer for it, else 0 */
    /* set on the first pass */
    state_handle *closed; /* instead of call.handle: one that was closed before */
    uint32_t retry_of;    /* request of the same that was answered with ERROR_MORE_DATA, 0 if there is none */
    state_sample *sample;
    wmem_array_t *objects; /* tapped_object: asked for by index, and not there, or there again; NULL: none */
} hkpd_record;

/* One PDU while it is dissected. */
typedef struct {
    rpc_call call;
    hkpd_record *record; /* the same as call.record */
    hkpd_key_kind opens; /* if it opens a predefined key */
    proto_tree *hkpd;    /* ours, NULL as long as there is nothing to show */
    proto_item *item;
    findings_report aloud; /* of what was read silently */
} hkpd_pdu;

/* Type, data, its sizes: what QueryValue and EnumValue send in both directions. */
typedef struct {
    uint32_t type;
    bool has_buffer; /* the pointer to the data is not null */
    tvbuff_t *tvb;   /* the data, NULL if there is none */
    uint32_t data;   /* where it begins in the stub */
    uint32_t data_size;
    uint32_t size; /* lpcbData */
    bool has_length;
    uint32_t length; /* lpcbLen */
    proto_item *length_item;
} hkpd_value_parameters;

/* --- What the names of keys and values say ------------------------------------------------------------------------ */

/* "009": hexadecimal; one of more than 32 bits is none, on every system. */
static bool is_language(const char *text, uint32_t *language)
{
    char *behind;
    uint64_t number = g_ascii_strtoull(text, &behind, 16);
    bool is = behind > text && *behind == '\0' && number <= UINT32_MAX;

    *language = is ? (uint32_t)number : 0;
    return is;
}

/* "Counter", "Counters", "Help" or "Explain", then nothing or a language: "Counter 009"; `language` may be NULL. */
static hkpd_titles_kind hkpd_titles_of(const char *name, uint32_t *language)
{
    static const struct {
        const char *word;
        hkpd_titles_kind kind;
    } words[] = {{"Counters", HKPD_TITLES_NAMES},
                 {"Counter", HKPD_TITLES_NAMES},
                 {"Help", HKPD_TITLES_HELP},
                 {"Explain", HKPD_TITLES_HELP}};

    uint32_t unasked = 0;

    language = language ? language : &unasked;
    *language = 0;
    for (unsigned i = 0; name && i < array_length(words); i++) {
        size_t length = strlen(words[i].word);
        if (g_ascii_strncasecmp(name, words[i].word, length) == 0) {
            const char *rest = name + length;
            if (*rest == '\0' || (*rest == ' ' && is_language(rest, language))) {
                return words[i].kind;
            }
        }
    }
    return HKPD_TITLES_NONE;
}

/* A list of title indexes: "2 4 238". */
static bool is_index_list(const char *name)
{
    return g_ascii_isdigit(*name) && name[strspn(name, "0123456789 ")] == '\0';
}

/* Names that hardly any other value has. */
static bool hkpd_is_performance_name(const char *name)
{
    static const char *const names[] = {"Global",         "OLD_Global",         "Costly",
                                        "MetadataGlobal", "OLD_MetadataGlobal", "MetadataCostly"};
    for (unsigned i = 0; name && i < array_length(names); i++) {
        if (g_ascii_strcasecmp(name, names[i]) == 0) {
            return true;
        }
    }
    return name && (is_index_list(name) || hkpd_titles_of(name, NULL) != HKPD_TITLES_NONE);
}

/* By a key's last parts: "...\Perflib", or "...\Perflib\009", where also its parent can be the Perflib key. */
static hkpd_key_name key_called(const char *name, bool below_perflib)
{
    const char *last = strrchr(name, '\\');
    const char *word = last ? last + 1 : name;
    size_t length = strlen("\\Perflib");
    hkpd_key_name key = {HKPD_KEY_OTHER, 0};

    if (last) {
        below_perflib = (size_t)(last - name) >= length && g_ascii_strncasecmp(last - length, "\\Perflib", length) == 0;
    }
    if (g_ascii_strcasecmp(word, "Perflib") == 0) {
        key.kind = HKPD_KEY_PERFLIB;
    } else if (below_perflib &&
               (g_ascii_strcasecmp(word, "CurrentLanguage") == 0 || is_language(word, &key.language))) {
        key.kind = HKPD_KEY_LANGUAGE;
    }
    return key;
}

static void answer_unread(rpc_record *call, uint32_t event);

static rpc_fields fields = {.handle_label = "Handle",
                            .handle_number_label = "Handle number",
                            .handle_word = "handle",
                            .answer_unread = answer_unread};

static const value_string value_type_vals[] = {
    {0, "REG_NONE"},  {1, "REG_SZ"},       {2, "REG_EXPAND_SZ"}, {3, "REG_BINARY"},
    {4, "REG_DWORD"}, {7, "REG_MULTI_SZ"}, {11, "REG_QWORD"},    {0, NULL},
};

/* --- A PDU's beginning and end --------------------------------------------------------------------------------- */

static wmem_allocator_t *hkpd_pool(const hkpd_pdu *p)
{
    return p->call.pinfo->pool;
}

static uint16_t hkpd_opnum(const hkpd_pdu *p)
{
    return p->call.di->call_data->opnum;
}

/* What was read silently may have failed: the stock function says so itself. It would call a size probe an error in the Info
 * column. */
static int end_with_stock(hkpd_pdu *p, bool is_probe)
{
    rpc_call *call = &p->call;

    call->report.damaged = false;
    call->ndr.reader.failed = false;
    call_end(call, p->item);
    if (is_probe) {
        col_set_writable(call->pinfo->cinfo, COL_INFO, FALSE);
    }
    int size = winreg_stock(call->tvb, call->offset, call->pinfo, call->tree, call->di, call->drep);
    if (is_probe) {
        col_set_writable(call->pinfo->cinfo, COL_INFO, call->has_column);
    }
    return size;
}

static int hkpd_end(hkpd_pdu *p)
{
    call_report_rest(&p->call);
    return call_end(&p->call, p->item);
}

/* --- Handles --------------------------------------------------------------------------------------------------- */

static hkpd_key *hkpd_key_of(const state_handle *handle)
{
    return handle ? handle->key : NULL;
}

/* True for the predefined keys. Those below HKEY_LOCAL_MACHINE are ordinary ones: their calls stay as they are. */
static bool hkpd_is_shown(const state_handle *handle)
{
    const hkpd_key *key = hkpd_key_of(handle);

    return key && key->name.kind <= HKPD_KEY_NLS_TEXT;
}

/* The life of a handle that is known, as of this PDU, to be one with performance data. */
static state_handle *hkpd_known_handle(const hkpd_pdu *p)
{
    state_handle *handle = p->call.record->handle;

    return handle && handle->begin <= p->call.event ? handle : NULL;
}

/* The life that is open at this moment, of a key with performance data or another. */
static state_handle *hkpd_find_open(hkpd_pdu *p, const uint8_t *bytes)
{
    state_handle *handle = call_find_handle(&p->call, PERF_HANDLE_HKPD, bytes);

    return handle && p->call.event <= handle->end ? handle : NULL;
}

/* A life that begins with event `begin`; frame 0 if the opening was not captured. */
static state_handle *hkpd_open_handle(hkpd_pdu *p, const uint8_t *bytes, uint32_t begin, uint32_t frame,
                                      hkpd_key_name name)
{
    state_handle *handle = call_open_handle(&p->call, PERF_HANDLE_HKPD, bytes, begin, frame, NULL);

    handle->key = wmem_new0(wmem_file_scope(), hkpd_key);
    handle->key->name = name;
    handle_confirm(handle);
    return handle;
}

static void hkpd_read_asked_handle(hkpd_pdu *p)
{
    uint8_t bytes[PERF_HANDLE_SIZE];

    ndr_context_handle(&p->call.ndr, fields.handle, bytes);
    if (p->call.first_time && !p->call.ndr.reader.failed) {
        p->record->handle_read = true;
        memcpy(p->record->handle_bytes, bytes, sizeof bytes);
        p->call.record->handle = hkpd_find_open(p, bytes);
    }
}

static int hkpd_handle_offset(const hkpd_pdu *p)
{
    return (p->call.offset + 3) & ~3;
}

/* Our part of the tree, begun when there is something to show. */
static void hkpd_show_node(hkpd_pdu *p)
{
    if (p->hkpd == NULL) {
        p->item = proto_tree_add_item(proto_tree_get_root(p->call.tree), proto_hkpd, p->call.tvb, 0, -1, ENC_NA);
        p->hkpd = proto_item_add_subtree(p->item, ett_hkpd);
        call_report_second(&p->call, &p->aloud, p->item);
    }
}

/* "HKEY_PERFORMANCE_DATA", "Perflib\009". */
static const char *key_text(const hkpd_pdu *p, hkpd_key_name key)
{
    static const char *const texts[] = {"HKEY_PERFORMANCE_DATA", "HKEY_PERFORMANCE_TEXT", "HKEY_PERFORMANCE_NLSTEXT",
                                        "Perflib"};

    return key.kind == HKPD_KEY_LANGUAGE ? wmem_strdup_printf(hkpd_pool(p), "Perflib\\%03X", key.language)
                                         : texts[key.kind];
}

/* The handle of this call, with where it was opened and closed. `offset` is where it stands in the stub, -1 if it does
 * not. */
static void hkpd_show_handle(hkpd_pdu *p, const state_handle *handle, int offset)
{
    const hkpd_key *key = hkpd_key_of(handle);

    hkpd_show_node(p);
    if (key == NULL) {
        return;
    }
    call_show_number(&p->call, p->hkpd, handle);
    if (p->hkpd == NULL) {
        return;
    }
    proto_item *item =
        proto_tree_add_bytes_with_length(p->hkpd, fields.handle, p->call.tvb, offset < 0 ? 0 : offset,
                                         offset < 0 ? 0 : PERF_HANDLE_SIZE, handle->bytes, PERF_HANDLE_SIZE);
    if (offset < 0) {
        proto_item_set_generated(item);
    }
    proto_tree *tree = call_show_life(&p->call, item, handle);
    proto_item_append_text(item, " (%s)", key_text(p, key->name));
    reader_add_generated_string(tree, hf_key, p->call.tvb, key_text(p, key->name));
}

static void show_if_ours(hkpd_pdu *p, const state_handle *handle, int offset)
{
    if (hkpd_is_shown(handle)) {
        hkpd_show_handle(p, handle, offset);
    }
}

/* --- Parameters ------------------------------------------------------------------------------------------------ */

static const char *read_pointed_name(hkpd_pdu *p, int hf)
{
    ndr_reader *ndr = &p->call.ndr;
    ndr_array array;

    ndr_array_begin(ndr, &fields.ndr, true, "Name", &array);
    tvbuff_t *tvb = ndr_elements(ndr, &array, 2);
    if (ndr->reader.failed) {
        return NULL;
    }
    int size = (int)tvb_captured_length(tvb);
    const char *name = (const char *)tvb_get_string_enc(hkpd_pool(p), tvb, 0, size, ENC_UTF_16 | ndr->reader.encoding);
    if (hf > 0) {
        proto_tree_add_string(array.tree, hf, tvb, 0, size, name);
        proto_item_append_text(array.node, ": %s", name);
    }
    return name;
}

/* RRP_UNICODE_STRING ([MS-RRP] 2.2.4): sizes in bytes, then a pointer to a conformant varying array. NULL if it could
 * not be read, "" if it is empty. */
static const char *hkpd_read_name(hkpd_pdu *p, int hf)
{
    ndr_reader *ndr = &p->call.ndr;

    ndr_align(ndr, ndr->ndr64 ? 8 : 4);
    if (hf > 0 && reader_has(&ndr->reader, 4)) {
        uint32_t at = ndr->reader.pos;
        proto_tree_add_item(ndr->reader.tree, hf_winreg_name_len, ndr->reader.tvb, at, 2, ndr->reader.encoding);
        proto_tree_add_item(ndr->reader.tree, hf_winreg_name_size, ndr->reader.tvb, at + 2, 2, ndr->reader.encoding);
    }
    reader_skip(&ndr->reader, 4);
    bool there = ndr_pointer(ndr, &fields.ndr, "name");
    return there ? read_pointed_name(p, hf) : ndr->reader.failed ? NULL : "";
}

/* False if there is no number at all. */
static bool read_pointed_u32(hkpd_pdu *p, const char *what, int hf, uint32_t *value)
{
    bool there = ndr_pointer(&p->call.ndr, &fields.ndr, what);

    *value = there ? ndr_u32(&p->call.ndr, hf) : 0;
    return there;
}

static void read_data(hkpd_pdu *p, hkpd_value_parameters *value)
{
    ndr_reader *ndr = &p->call.ndr;
    ndr_array array;

    value->has_buffer = ndr_pointer(ndr, &fields.ndr, "data");
    if (value->has_buffer) {
        ndr_array_begin(ndr, &fields.ndr, true, "Data", &array);
        value->data = ndr->reader.pos;
        value->tvb = ndr_elements(ndr, &array, 1);
        value->data_size = value->tvb ? tvb_captured_length(value->tvb) : 0;
        if (value->data_size == 0) {
            value->tvb = NULL;
        }
        proto_item_append_text(array.node, ": %s", text_counted(hkpd_pool(p), array.actual_count, "byte"));
    }
}

static void read_sizes(hkpd_pdu *p, hkpd_value_parameters *value)
{
    read_pointed_u32(p, "size", hf_winreg_data_size, &value->size);
    value->has_length = read_pointed_u32(p, "length", hf_winreg_data_length, &value->length);
    value->length_item = p->call.ndr.reader.item;
}

static void hkpd_read_value(hkpd_pdu *p, hkpd_value_parameters *value)
{
    memset(value, 0, sizeof *value);
    read_pointed_u32(p, "type", hf_value_type, &value->type);
    read_data(p, value);
    read_sizes(p, value);
}

/* A call about performance data that failed. That there is no such key, no titles in a language or no value behind the last
 * is how clients learn what there is. */
static void report_failed(hkpd_pdu *p, uint32_t status, bool looks_for_something)
{
    bool is_failure = !p->call.ndr.reader.failed && status != STATUS_SUCCESS && status != STATUS_NO_MORE_ITEMS &&
                      !(status == STATUS_FILE_NOT_FOUND && looks_for_something);

    if (is_failure) {
        p->call.has_failed = true;
        hkpd_show_node(p);
        findings_add(&p->aloud, p->item, FINDING_CALL_FAILED, "%s failed: %s", p->call.operation,
                     text_win32_error(hkpd_pool(p), status));
    }
}

/* --- Opening and closing keys ------------------------------------------------------------------------------------- */

/* A predefined key: the request says nothing. */
static int hkpd_open_request(hkpd_pdu *p)
{
    return end_with_stock(p, false);
}

/* BaseRegOpenKey and BaseRegCreateKey ([MS-RRP] 3.1.5.15 and 3.1.5.7) begin alike. */
static int hkpd_open_key_request(hkpd_pdu *p)
{
    hkpd_read_asked_handle(p);
    const char *name = hkpd_read_name(p, 0);
    if (p->call.first_time && name) {
        p->record->name = wmem_strdup(wmem_file_scope(), name);
    }
    show_if_ours(p, hkpd_known_handle(p), hkpd_handle_offset(p));
    return end_with_stock(p, false);
}

/* A predefined key, or what the request asked for. An empty name opens the same key once more. */
static hkpd_key_name asked_for(const hkpd_pdu *p)
{
    const state_handle *from = p->call.record->handle;
    const hkpd_key *parent = hkpd_key_of(from);
    const char *name = p->record->name;

    if (name == NULL || (*name == '\0' && from == NULL)) {
        return (hkpd_key_name){p->opens, 0};
    }
    if (*name == '\0') {
        return parent ? parent->name : (hkpd_key_name){HKPD_KEY_OTHER, 0};
    }
    return key_called(name, parent && parent->name.kind == HKPD_KEY_PERFLIB);
}

static int hkpd_open_response(hkpd_pdu *p)
{
    rpc_record *record = p->call.record;
    uint32_t disposition;
    uint8_t bytes[PERF_HANDLE_SIZE];
    hkpd_key_name asked = asked_for(p);

    ndr_context_handle(&p->call.ndr, fields.handle, bytes);
    if (hkpd_opnum(p) == WINREG_CREATE_KEY) {
        read_pointed_u32(p, "disposition", hf_winreg_data_size, &disposition);
    }
    uint32_t status = call_read_status(&p->call, hf_winreg_status);
    if (call_may_learn(&p->call) && status == STATUS_SUCCESS && !call_handle_is_null(bytes)) {
        if (asked.kind < HKPD_KEY_OTHER) {
            record->answering = hkpd_open_handle(p, bytes, p->call.event, p->call.pinfo->num, asked);
        } else if (asked.kind == HKPD_KEY_OTHER) {
            call_open_handle(&p->call, PERF_HANDLE_OTHER_KEY, bytes, p->call.event, p->call.pinfo->num, NULL);
        }
    }
    show_if_ours(p, record->answering, hkpd_handle_offset(p));
    if (asked.kind < HKPD_KEY_OTHER) {
        report_failed(p, status, true);
    }
    return end_with_stock(p, false);
}

/* BaseRegCloseKey, 3.1.5.5. */
static int hkpd_close_key_request(hkpd_pdu *p)
{
    hkpd_read_asked_handle(p);
    if (call_may_learn(&p->call) && p->call.record->handle) {
        handle_close(p->call.record->handle, p->call.event, p->call.pinfo->num);
    }
    show_if_ours(p, hkpd_known_handle(p), hkpd_handle_offset(p));
    return end_with_stock(p, false);
}

static int hkpd_close_key_response(hkpd_pdu *p)
{
    uint8_t bytes[PERF_HANDLE_SIZE];
    state_handle *handle = p->call.record->handle;

    ndr_context_handle(&p->call.ndr, fields.handle, bytes);
    uint32_t status = call_read_status(&p->call, hf_winreg_status);
    if (call_may_learn(&p->call) && status != STATUS_SUCCESS && handle &&
        handle->end == p->call.record->request_event) {
        handle_close(handle, UINT32_MAX, 0);
    }
    show_if_ours(p, hkpd_known_handle(p), -1);
    return end_with_stock(p, false);
}

/* --- Requests of QueryValue and EnumValue ------------------------------------------------------------------------- */

/* The stock function shows each byte of the data of a request as an item of its own: no more of them than these. */
#define MAX_STOCK_BYTES 4096

/* The same value was asked for before, and the buffer was too small. */
static void find_retry(hkpd_pdu *p)
{
    const hkpd_key *key = hkpd_key_of(p->call.record->handle);

    if (p->call.first_time && key && p->record->name && key->too_small_name &&
        g_ascii_strcasecmp(key->too_small_name, p->record->name) == 0) {
        p->record->retry_of = key->too_small_frame;
    }
}

/* A handle that was closed and is asked all the same. Its bytes may mean another key by now: the name has to tell. */
static void report_closed(hkpd_pdu *p, const char *name)
{
    hkpd_record *record = p->record;

    if (p->call.first_time && record->handle_read && record->call.handle == NULL && hkpd_is_performance_name(name)) {
        record->closed = call_find_handle(&p->call, PERF_HANDLE_HKPD, record->handle_bytes);
    }
    if (hkpd_is_shown(record->closed) && hkpd_known_handle(p) == NULL) {
        hkpd_show_handle(p, record->closed, hkpd_handle_offset(p));
        findings_add(&p->aloud, p->item, FINDING_HANDLE_CLOSED, "The handle was closed in frame %u",
                     record->closed->closed_frame);
    }
}

/* "objects System, Process", by the titles that are known; as many as a text of the Info column could hold. */
static const char *objects_asked_for(const hkpd_pdu *p, const char *indexes)
{
    wmem_strbuf_t *words = wmem_strbuf_new(hkpd_pool(p), "");
    const char *separator = "";
    char *end;

    for (const char *at = indexes; g_ascii_isdigit(*at) && strlen(wmem_strbuf_get_str(words)) < TEXT_NAME_MAX;
         at = end + strspn(end, " ")) {
        uint32_t title = (uint32_t)g_ascii_strtoull(at, &end, 10);
        wmem_strbuf_append_printf(words, "%s%s", separator,
                                  facts_title_label(hkpd_pool(p), p->call.server, title, p->call.event));
        separator = ", ";
    }
    const char *others = indexes + strspn(indexes, "0123456789");
    return wmem_strdup_printf(hkpd_pool(p), "%s %s", others[strspn(others, " ")] ? "objects" : "object",
                              wmem_strbuf_get_str(words));
}

/* What the call asks: handle, value name, and whether it was asked before. `handle_at` as in hkpd_show_handle(). */
static void hkpd_show_question(hkpd_pdu *p, int handle_at)
{
    hkpd_show_handle(p, hkpd_known_handle(p), handle_at);
    if (p->record->name) {
        const char *name = *p->record->name ? p->record->name : "default value";
        const char *text = text_short(hkpd_pool(p), is_index_list(name) ? objects_asked_for(p, name) : name);
        proto_item_set_generated(proto_tree_add_string(p->hkpd, hf_value_name, p->call.tvb, 0, 0, p->record->name));
        proto_item_append_text(p->item, ", %s", text);
        call_about(&p->call, "%s", text);
    }
    if (p->record->retry_of != 0) {
        reader_add_generated_uint(p->hkpd, hf_retry_of, p->call.tvb, p->record->retry_of);
    }
}

/* The stock function shows what comes before the data, each byte of which it would show as an item. In NDR64 it would look for the
 * name in a wrong place (Wireshark 4.0 and 4.4): it shows the handle alone. */
static int show_query(hkpd_pdu *p, const hkpd_value_parameters *sent)
{
    rpc_call *call = &p->call;
    uint32_t behind_handle = (uint32_t)hkpd_handle_offset(p) + PERF_HANDLE_SIZE;
    uint32_t end = call->ndr.ndr64 ? behind_handle : sent->data;
    hkpd_value_parameters value = *sent;

    winreg_stock_until(end, call->tvb, call->offset, call->pinfo, call->tree, call->di, call->drep);
    call_aloud(call);
    call->ndr.reader.pos = end;
    if (call->ndr.ndr64) {
        hkpd_read_name(p, hf_winreg_value_name);
        if (read_pointed_u32(p, "type", 0, &value.type) && !call->ndr.reader.failed) {
            proto_tree_add_item(call->tree, hf_winreg_type, call->ndr.reader.tvb, call->ndr.reader.pos - 4, 4, ENC_NA);
        }
        read_data(p, &value);
    } else {
        reader_skip(&call->ndr.reader, sent->data_size);
    }
    if (value.tvb) {
        proto_tree_add_item(call->tree, hf_sent_data, value.tvb, 0, -1, ENC_NA);
    }
    read_sizes(p, &value);
    return hkpd_end(p);
}

static int hkpd_value_request(hkpd_pdu *p)
{
    hkpd_value_parameters value;
    bool is_query = hkpd_opnum(p) == WINREG_QUERY_VALUE;
    hkpd_record *record = p->record;

    hkpd_read_asked_handle(p);
    if (!is_query) {
        ndr_u32(&p->call.ndr, 0); /* its number among the key's values, which the stock function shows */
    }
    const char *name = hkpd_read_name(p, 0);
    if (p->call.first_time && name && is_query) {
        record->name = wmem_strdup(wmem_file_scope(), name);
    }
    hkpd_read_value(p, &value);
    if (p->call.first_time && !p->call.ndr.reader.failed) {
        record->room = value.has_buffer ? value.size : 0;
        record->call.request_read = true;
    }
    find_retry(p);
    report_closed(p, name);
    bool shown = hkpd_is_shown(hkpd_known_handle(p));
    if (shown) {
        hkpd_show_question(p, hkpd_handle_offset(p));
        if (record->room > 0) {
            call_about(&p->call, "room for %s%s", text_counted(hkpd_pool(p), record->room, "byte"),
                       record->retry_of != 0 ? " now" : "");
        }
    }
    bool is_long = shown && value.data_size > MAX_STOCK_BYTES && !p->call.ndr.reader.failed;
    const state_handle *handle = hkpd_known_handle(p);
    bool may_be_ours = handle ? hkpd_key_of(handle) != NULL : hkpd_is_performance_name(name);
    bool is_misread = p->call.ndr.ndr64 && may_be_ours;
    return is_query && (is_long || is_misread) ? show_query(p, &value) : end_with_stock(p, false);
}

/* --- Answers to QueryValue and EnumValue: performance data, titles, or neither ------------------------------------ */

/* LCID of English without a country. */
#define LANGUAGE_ENGLISH 0x009
#define LANGUAGE_MASK 0x3FF

/* A header alone: Windows answers so where the buffer is too small for more. */
typedef enum { ANSWER_OTHER, ANSWER_BLOCK, ANSWER_HEADER, ANSWER_TITLES } answer_kind;

typedef struct {
    hkpd_value_parameters value;
    uint32_t status;
    const char *name; /* of the value; NULL if it is not known */
    answer_kind kind;
} answer;

static void read_answer(hkpd_pdu *p, answer *back, int name_field)
{
    memset(back, 0, sizeof *back);
    back->name = p->record->name;
    if (hkpd_opnum(p) == WINREG_ENUM_VALUE) {
        back->name = hkpd_read_name(p, name_field);
    }
    hkpd_read_value(p, &back->value);
    back->status = call_read_status(&p->call, hf_winreg_status);
}

/* --- What an answer is ----------------------------------------------------------------------------------------- */

static bool is_list_of_titles(tvbuff_t *tvb, wmem_allocator_t *pool)
{
    uint32_t others, titles = wmem_array_get_count(hkpd_titles(tvb, pool, &others));

    return titles > 0 && others == 0;
}

/* With ERROR_MORE_DATA the data may be anything. */
static answer_kind kind_of_probe(tvbuff_t *tvb)
{
    uint32_t size = tvb_captured_length(tvb);
    const uint8_t *bytes = tvb_get_ptr(tvb, 0, (int)size);
    perf_block_summary summary;
    bool is_sound = perf_block_is(bytes, size) && perf_block_check(bytes, size, &summary);

    return is_sound && summary.objects == 0 && tvb_get_letohl(tvb, 20) == 0 ? ANSWER_HEADER : ANSWER_OTHER;
}

/* The value name decides, not the type. A signature of eight bytes is not
 * enough: another key's value can begin so, and a handle of which nothing is known is ours only by a block that adds up. */
static answer_kind kind_of(hkpd_pdu *p, const answer *back)
{
    tvbuff_t *tvb = back->value.tvb;
    const state_handle *handle = hkpd_known_handle(p);
    bool is_ours = hkpd_key_of(handle) != NULL;

    if (tvb == NULL || (handle && !is_ours)) {
        return ANSWER_OTHER;
    }
    if (!p->call.ndr.reader.failed && back->status == STATUS_MORE_DATA) {
        return kind_of_probe(tvb);
    }
    if (hkpd_titles_of(back->name, NULL) != HKPD_TITLES_NONE && (is_ours || is_list_of_titles(tvb, hkpd_pool(p)))) {
        return ANSWER_TITLES;
    }
    perf_block_summary summary;
    uint32_t size = tvb_captured_length(tvb);
    const uint8_t *bytes = tvb_get_ptr(tvb, 0, (int)size);
    bool is_block = perf_block_is(bytes, size) && (is_ours || perf_block_check(bytes, size, &summary));
    return is_block ? ANSWER_BLOCK : ANSWER_OTHER;
}

/* An answer with performance data tells what the handle is, if its opening was not captured. A handle that was closed and
 * is answered for was given out anew. The request belongs to it too, as a later look shows. */
static void find_handle(hkpd_pdu *p, const answer *back)
{
    hkpd_record *record = p->record;
    const hkpd_key *closed = hkpd_key_of(record->closed);
    bool has_data =
        back->kind == ANSWER_BLOCK || back->kind == ANSWER_HEADER || (closed && back->kind == ANSWER_TITLES);
    bool has_size = closed && !p->call.ndr.reader.failed && back->status == STATUS_MORE_DATA;

    if (!p->call.first_time || record->call.handle || !record->handle_read || !(has_data || has_size)) {
        return;
    }
    record->call.handle = hkpd_find_open(p, record->handle_bytes);
    if (record->call.handle == NULL) {
        record->call.handle = hkpd_open_handle(p, record->handle_bytes, record->call.request_event, 0,
                                               closed ? closed->name : (hkpd_key_name){HKPD_KEY_DATA, 0});
    }
}

/* What the server calls itself tells which of several machines it is. A handle of another one is another handle. */
static void note_system(hkpd_pdu *p, const answer *back)
{
    tvbuff_t *tvb = back->value.tvb;
    rpc_record *record = p->call.record;
    perf_block_walk walk;

    perf_block_init(&walk, tvb_get_ptr(tvb, 0, -1), tvb_captured_length(tvb));
    const char *name = perf_block_next(&walk) == PERF_BLOCK_HEADER ? hkpd_system_name(hkpd_pool(p), tvb, &walk) : NULL;
    if (name) {
        call_name_server(&p->call, HOST_SYSTEM, name);
        record->handle = record->handle && record->handle->server != p->call.server ? NULL : record->handle;
    }
}

static void note_outcome(hkpd_pdu *p, const answer *back)
{
    hkpd_key *key = hkpd_key_of(p->call.record->handle);

    if (call_may_learn(&p->call) && key && hkpd_opnum(p) == WINREG_QUERY_VALUE) {
        key->too_small_name = back->status == STATUS_MORE_DATA ? p->record->name : NULL;
        key->too_small_frame = p->call.record->request_frame;
    }
}

/* --- Neither data nor titles ----------------------------------------------------------------------------------- */

/* Servers that don't know the size say what the buffer has, what a header alone takes, or nothing. */
static uint32_t needed_size(const hkpd_pdu *p, const answer *back)
{
    return back->kind != ANSWER_HEADER && back->value.size > p->record->room ? back->value.size : 0;
}

static void describe_probe(hkpd_pdu *p, const answer *back)
{
    uint32_t needed = needed_size(p, back), size = needed > 0 ? needed : p->record->room;
    const char *than = needed > 0 || size == 0 ? "" : "more than ";

    call_about(&p->call, "size probe: needs %s%s", than, size > 0 ? text_counted(hkpd_pool(p), size, "byte") : "more");
}

/* Success, but nothing that the key can hold. Without room for data that is the answer to a size probe. */
static void describe_success(hkpd_pdu *p, const answer *back)
{
    const state_handle *handle = hkpd_known_handle(p);

    if (back->value.data_size > 0) {
        if (hkpd_key_of(handle)->name.kind == HKPD_KEY_DATA) {
            findings_add(&p->aloud, p->item, FINDING_NOT_PERFORMANCE_DATA,
                         "The call succeeded, but its %u bytes are no PERF_DATA_BLOCK", back->value.data_size);
            call_about(&p->call, "no PERF_DATA_BLOCK");
        }
    } else if (p->record->room > 0) {
        findings_add(&p->aloud, p->item, FINDING_NO_DATA,
                     "The call succeeded with room for %u bytes, but there is no data", p->record->room);
        call_about(&p->call, "no data");
    } else if (back->value.size > 0) {
        describe_probe(p, back);
    }
}

/* An answer without data of ours: the stock function shows it. */
static int read_other_answer(hkpd_pdu *p, const answer *back)
{
    if (hkpd_is_shown(hkpd_known_handle(p))) {
        hkpd_show_question(p, -1);
        if (!p->call.ndr.reader.failed && back->status == STATUS_MORE_DATA) {
            describe_probe(p, back);
            return end_with_stock(p, true);
        }
        if (!p->call.ndr.reader.failed && back->status == STATUS_SUCCESS) {
            describe_success(p, back);
        } else {
            report_failed(p, back->status, hkpd_titles_of(back->name, NULL) != HKPD_TITLES_NONE);
        }
    }
    return end_with_stock(p, false);
}

/* --- Performance data ------------------------------------------------------------------------------------------ */

static void note_machine(state_handle *handle, const char *name)
{
    if (name && (handle->machine == NULL || strcmp(handle->machine, name) != 0)) {
        handle->machine = wmem_strdup(wmem_file_scope(), name);
        handle_note_name(handle, name);
    }
}

static wmem_map_t *titles_in(hkpd_pdu *p, tvbuff_t *tvb)
{
    wmem_map_t *titles = wmem_map_new(hkpd_pool(p), g_direct_hash, g_direct_equal);
    perf_block_walk walk;

    perf_block_init(&walk, tvb_get_ptr(tvb, 0, -1), tvb_captured_length(tvb));
    while (perf_block_next_object(&walk)) {
        wmem_map_insert(titles, GUINT_TO_POINTER(walk.object.index), titles);
    }
    return titles;
}

/* Of what was asked for by index: what is not in the answer, which adds up, and what is there again. */
static void note_objects(hkpd_pdu *p, tvbuff_t *tvb)
{
    hkpd_key *key = p->call.record->handle->key;
    wmem_map_t *titles = titles_in(p, tvb);
    char *end;

    key->lacking = key->lacking ? key->lacking : wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
    for (const char *at = p->record->name; g_ascii_isdigit(*at); at = end + strspn(end, " ")) {
        tapped_object object = {.title = (uint32_t)g_ascii_strtoull(at, &end, 10)};
        void *title = GUINT_TO_POINTER(object.title);
        bool was_there = wmem_map_lookup(key->lacking, title) == NULL;
        object.is_there = wmem_map_contains(titles, title);
        object.is_news = object.is_there != was_there;
        wmem_map_insert(key->lacking, title, object.is_there ? NULL : key);
        if (!object.is_there || object.is_news) {
            p->record->objects =
                p->record->objects ? p->record->objects : wmem_array_new(wmem_file_scope(), sizeof object);
            wmem_array_append_one(p->record->objects, object);
        }
    }
}

static void report_objects(hkpd_pdu *p)
{
    const tapped_object *objects = p->call.tapped.objects;

    for (unsigned i = 0; i < p->call.tapped.num_objects; i++) {
        if (objects[i].is_news) {
            findings_add(&p->call.report, proto_tree_get_parent(p->hkpd), FINDING_NOT_DELIVERED, "%s: %s",
                         objects[i].is_there ? "Delivered again" : "Not delivered",
                         tapped_object_name(hkpd_pool(p), p->call.server, objects[i].title, p->call.event));
        }
    }
}

static void keep_sample(hkpd_pdu *p, tvbuff_t *tvb)
{
    uint32_t size = tvb_captured_length(tvb);
    const uint8_t *bytes = tvb_get_ptr(tvb, 0, (int)size);
    rpc_record *record = p->call.record;
    uint32_t count;
    perf_block_walk walk;
    const state_object_place *places = hkpd_object_places(tvb, hkpd_pool(p), &count);

    p->record->sample = sample_keep(record->handle, bytes, size, p->call.event, p->call.pinfo->num);
    p->record->sample->request_event = record->request_event;
    sample_holds(p->record->sample, places, count);
    perf_block_init(&walk, bytes, size);
    perf_block_next(&walk);
    if (perf_block_u32(&walk, 20) == size - walk.header.size) { /* Samba's total leaves the header out */
        host_note_no_windows(p->call.to);
    }
    note_machine(record->handle, hkpd_system_name(hkpd_pool(p), tvb, &walk));
    if (p->record->name) {
        const perf_point clocks = hkpd_clocks(&walk);
        pace_sample(p->record->sample, p->record->name, &clocks, call_seconds(&p->call));
    }
}

/* A PERF_DATA_BLOCK: kept if it is a sample, shown, and told to listeners. */
static void read_block_answer(hkpd_pdu *p, const answer *back, bool learn)
{
    static const unsigned clocks[] = {56, 72};
    uint32_t size = tvb_captured_length(back->value.tvb);
    perf_block_summary summary;

    perf_block_check(tvb_get_ptr(back->value.tvb, 0, (int)size), size, &summary);
    /* a sample has objects that can be relied on, or none: then nothing that was asked for is there */
    bool is_whole = summary.faults == 0, is_sample = summary.sound_objects > 0 || (summary.objects == 0 && is_whole);
    bool only_describes = is_whole && !is_sample; /* MetadataGlobal, for instance */
    if (learn && is_sample && p->call.record->handle &&
        call_note_sample(&p->call, p->call.record->handle, back->value.tvb, clocks)) {
        keep_sample(p, back->value.tvb);
        if (p->record->name && is_index_list(p->record->name) && summary.faults == summary.read_as) {
            note_objects(p, back->value.tvb);
        }
    }
    p->call.answer = (readings_answer){
        .layout = &hkpd_readings_layout,
        .server = p->call.server,
        .request_event = p->call.record->request_event,
        .event = p->call.event,
        .is_repeated = call_is_repeated(&p->call),
        .sample = p->call.record->response_frame == p->call.pinfo->num ? p->record->sample : NULL,
        .tvb = reader_own_source(p->call.pinfo, back->value.tvb, "Performance data"),
    };
    hkpd_dissect_block(p->hkpd, &p->call.report, &p->call.answer, &summary);
    if (p->call.answer.sample && p->record->objects) {
        p->call.tapped.objects = wmem_array_get_raw(p->record->objects);
        p->call.tapped.num_objects = wmem_array_get_count(p->record->objects);
        report_objects(p);
    }
    call_report_answer(&p->call, summary.values, NULL, summary.objects, "object", back->value.data_size);
    if (back->status == STATUS_SUCCESS && !only_describes) {
        p->call.answer.handle = p->call.record->handle;
        p->call.tapped.answer = &p->call.answer;
        p->call.tapped.has_counters = p->call.answer.sample != NULL;
        p->call.tapped.counters = summary.definitions;
        p->call.tapped.values_left_out = summary.values_left_out;
        p->call.tapped.objects_left_out = summary.objects_left_out;
        p->call.tapped.has_contradictions = summary.contradictions > 0;
    }
}

/* It tells the machine, and that there is no room for more. */
static void read_header_answer(hkpd_pdu *p, const answer *back)
{
    perf_block_summary summary = {.objects = 0};
    const readings_answer header = {
        .layout = &hkpd_readings_layout,
        .server = p->call.server,
        .event = p->call.event,
        .tvb = back->value.tvb,
    };

    hkpd_dissect_block(p->hkpd, &p->call.report, &header, &summary);
    describe_probe(p, back);
}

/* --- Titles ---------------------------------------------------------------------------------------------------- */

/* Of names, not of help texts. The value name tells the language, else the key does; 0: none does. */
static bool are_names(const rpc_record *record, const char *name, uint32_t *language, state_fact_kind *kind)
{
    const hkpd_key *key = hkpd_key_of(record->handle);
    bool are = hkpd_titles_of(name, language) == HKPD_TITLES_NAMES;

    if (*language == 0 && key) {
        *language = key->name.kind == HKPD_KEY_TEXT ? LANGUAGE_ENGLISH : key->name.language;
    }
    *kind = (*language & LANGUAGE_MASK) == LANGUAGE_ENGLISH ? PERF_FACT_ENGLISH : PERF_FACT_LOCAL;
    return are;
}

/* A list that could not be read whole: nobody knows what it told anew. */
static void lose_titles(const rpc_record *record, const char *name, uint32_t event)
{
    uint32_t language;
    state_fact_kind kind;

    if (are_names(record, name, &language, &kind)) {
        facts_lose(record->to, facts_title_subject(PERF_NO_ID), true, kind, event, record->response_frame);
    }
}

/* A response that no operation is handed. */
static void answer_unread(rpc_record *call, uint32_t event)
{
    const hkpd_record *record = (const hkpd_record *)call;

    if (record->name && record->room > 0 && call->copied == NULL) {
        lose_titles(call, record->name, event);
    }
}

static void learn_titles(hkpd_pdu *p, const answer *back)
{
    uint32_t language, others = 0;
    state_fact_kind kind;
    wmem_array_t *titles = are_names(p->call.record, back->name, &language, &kind)
                               ? hkpd_titles(back->value.tvb, hkpd_pool(p), &others)
                               : NULL;

    if (others > 0) {
        lose_titles(p->call.record, back->name, p->call.event);
    }
    for (unsigned i = 0; titles && i < wmem_array_get_count(titles); i++) {
        const hkpd_title *title = wmem_array_index(titles, i);
        state_fact fact = {.name = title->text, .lcid = kind == PERF_FACT_ENGLISH ? 0 : language};
        if (title->index > 1 && *title->text) { /* title 1 is not one: its text is the highest index */
            facts_learn(p->call.to, facts_title_subject(title->index), kind, &fact, p->call.event, p->call.pinfo->num);
        }
    }
}

static void read_titles_answer(hkpd_pdu *p, const answer *back, bool learn)
{
    tvbuff_t *tvb = reader_own_source(p->call.pinfo, back->value.tvb, "Performance data");

    if (learn) {
        learn_titles(p, back);
    }
    uint32_t others, titles = hkpd_dissect_titles(tvb, p->hkpd, &p->call.report, &others);
    p->call.tapped.lacks_titles |= others > 0 && hkpd_titles_of(back->name, NULL) == HKPD_TITLES_NAMES;
    call_info(&p->call, "%s, %s", text_counted(hkpd_pool(p), titles, "title"),
              text_counted(hkpd_pool(p), back->value.data_size, "byte"));
}

/* --- The response ---------------------------------------------------------------------------------------------- */

/* Without room for data, success is the answer to a size probe. Some servers need more room, and do not say how much. */
static void tell_sizes(hkpd_pdu *p, const answer *back)
{
    tapped_call *tapped = &p->call.tapped;

    tapped->has_sizes = !p->call.ndr.reader.failed;
    tapped->rtn_size = back->status == STATUS_MORE_DATA ? needed_size(p, back) : back->value.size;
    tapped->out_size = back->status == STATUS_SUCCESS ? back->value.data_size : 0;
    bool answers_probe = back->status == STATUS_SUCCESS && p->record->room == 0 && tapped->rtn_size > 0;
    tapped->is_probe =
        tapped->has_sizes && tapped->out_size == 0 && (back->status == STATUS_MORE_DATA || answers_probe);
}

static void check_length(hkpd_pdu *p, const answer *back)
{
    const hkpd_value_parameters *value = &back->value;

    if (!p->call.ndr.reader.failed && value->has_length && value->length != value->data_size) {
        findings_add(&p->call.report, value->length_item, FINDING_LENGTH,
                     "*lpcbLen is %u, but %u bytes of data are there", value->length, value->data_size);
    }
}

static int hkpd_value_response(hkpd_pdu *p)
{
    answer back;

    read_answer(p, &back, 0);
    back.kind = kind_of(p, &back);
    bool is_block = back.kind == ANSWER_BLOCK && back.status == STATUS_SUCCESS;
    if (p->call.first_time && (is_block || back.kind == ANSWER_HEADER)) {
        note_system(p, &back);
    }
    find_handle(p, &back);
    note_outcome(p, &back);
    tell_sizes(p, &back);
    p->call.tapped.lacks_titles = p->call.ndr.reader.failed && hkpd_key_of(hkpd_known_handle(p)) &&
                                  hkpd_titles_of(back.name, NULL) == HKPD_TITLES_NAMES;
    if (p->call.first_time && p->call.tapped.lacks_titles) {
        lose_titles(p->call.record, back.name, p->call.event);
    }
    if (back.kind == ANSWER_OTHER) {
        return read_other_answer(p, &back);
    }
    bool learn = call_may_learn(&p->call) && back.status == STATUS_SUCCESS;
    answer_kind kind = back.kind;
    hkpd_show_question(p, -1);
    call_aloud(&p->call);
    read_answer(p, &back, hf_winreg_value_name);
    check_length(p, &back);
    if (kind == ANSWER_HEADER) {
        back.kind = kind;
        read_header_answer(p, &back);
        return hkpd_end(p);
    }
    call_report_status(&p->call, back.status);
    if (kind == ANSWER_BLOCK) {
        read_block_answer(p, &back, learn);
    } else {
        read_titles_answer(p, &back, learn);
    }
    return hkpd_end(p);
}

/* --- The protocol ------------------------------------------------------------------------------------------------- */

/* Largest size of a value ([MS-RRP] 3.1.5.17). */
#define MAX_VALUE 0x4000000

static ws_pref_bool pref_decode = true;

typedef int (*pdu_function)(hkpd_pdu *p);

/* Of winreg, by number: where no function is for the request the stock one stays; the shape is as in dcerpc/ndr.h. Of all
 * predefined keys but three it is known only that they are not ours. */
static const struct {
    const char *name; /* as the stock dissector has it; NULL: not looked at */
    pdu_function request;
    pdu_function response;
    const char *response_shape;
    hkpd_key_kind opens;
} operations[] = {
    [0] = {"OpenHKCR", NULL, hkpd_open_response, "HR", HKPD_KEY_OTHER},
    [1] = {"OpenHKCU", NULL, hkpd_open_response, "HR", HKPD_KEY_OTHER},
    [2] = {"OpenHKLM", NULL, hkpd_open_response, "HR", HKPD_KEY_OTHER},
    [3] = {"OpenHKPD", hkpd_open_request, hkpd_open_response, "HR", HKPD_KEY_DATA},
    [4] = {"OpenHKU", NULL, hkpd_open_response, "HR", HKPD_KEY_OTHER},
    [5] = {"CloseKey", hkpd_close_key_request, hkpd_close_key_response, "HR", HKPD_KEY_UNKNOWN},
    [WINREG_CREATE_KEY] = {"CreateKey", hkpd_open_key_request, hkpd_open_response, "HpLR", HKPD_KEY_UNKNOWN},
    [WINREG_ENUM_VALUE] = {"EnumValue", hkpd_value_request, hkpd_value_response, "LpWpCpVpSpSR", HKPD_KEY_UNKNOWN},
    [15] = {"OpenKey", hkpd_open_key_request, hkpd_open_response, "HR", HKPD_KEY_UNKNOWN},
    [WINREG_QUERY_VALUE] = {"QueryValue", hkpd_value_request, hkpd_value_response, "pCpVpSpSR", HKPD_KEY_UNKNOWN},
    [27] = {"OpenHKCC", NULL, hkpd_open_response, "HR", HKPD_KEY_OTHER},
    [28] = {"OpenHKDD", NULL, hkpd_open_response, "HR", HKPD_KEY_OTHER},
    [32] = {"OpenHKPT", hkpd_open_request, hkpd_open_response, "HR", HKPD_KEY_TEXT},
    [33] = {"OpenHKPN", hkpd_open_request, hkpd_open_response, "HR", HKPD_KEY_NLS_TEXT},
};

static bool is_active(void)
{
    return pref_decode && proto_is_protocol_enabled(find_protocol_by_id(proto_hkpd));
}

/* A response about performance data that was not decrypted: the stock function would show it as if it were true. */
static bool is_noise(hkpd_pdu *p, const char *shape)
{
    bool noise = !call_is_request(&p->call) && hkpd_is_shown(p->call.record->handle) &&
                 call_report_noise(&p->call, shape, MAX_VALUE);

    if (!noise) {
        call_silently(&p->call);
    }
    return noise;
}

/* What a value's name asks for, in words that are few. */
static const char *question_kind(const hkpd_record *record)
{
    const char *name = record->name;

    return name == NULL                                     ? NULL
           : hkpd_titles_of(name, NULL) != HKPD_TITLES_NONE ? "titles"
           : g_ascii_isdigit(*name)                         ? "objects by their indexes"
           : hkpd_is_performance_name(name)                 ? name
                                                            : "other values";
}

/* Not for titles, and what came is none of another key's values. */
static bool asks_for_data(const hkpd_pdu *p, const state_handle *handle)
{
    const hkpd_key *key = hkpd_key_of(handle);

    bool is_asked_for = hkpd_opnum(p) == WINREG_ENUM_VALUE || hkpd_is_performance_name(p->record->name);

    return key && key->name.kind == HKPD_KEY_DATA && is_asked_for &&
           hkpd_titles_of(p->record->name, NULL) == HKPD_TITLES_NONE &&
           (p->call.tapped.answer || p->call.tapped.out_size == 0);
}

static void tap_pdu(hkpd_pdu *p)
{
    const rpc_record *record = p->call.record;
    tapped_call *tapped = &p->call.tapped;
    bool is_request = call_is_request(&p->call);
    /* what a request opens its response tells: on a later look it is no other */
    state_handle *handle = record->handle || is_request ? record->handle : record->answering;

    if (p->opens < HKPD_KEY_OTHER || hkpd_key_of(handle)) {
        p->call.record->operation = p->call.operation;
    }
    if (hkpd_key_of(handle) == NULL) {
        if (!p->call.has_failed && !(is_request && p->opens < HKPD_KEY_OTHER)) {
            return;
        }
        handle = NULL; /* the key of performance data is not given yet, or was not */
    }
    if (p->record->name) {
        call_pace(&p->call, handle, p->record->name, p->record->sample);
    }
    if (!tapped_wanted()) {
        return;
    }
    tapped->is_hkpd = true;
    tapped->kind = question_kind(p->record);
    tapped->brings_data = asks_for_data(p, handle);
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
    p.hkpd = NULL;
    p.item = NULL;
    p.opens = operations[opnum].opens;
    call_begin(&p.call, &fields, operations[opnum].name, sizeof(hkpd_record), tvb, offset, pinfo, tree, di, drep);
    p.record = (hkpd_record *)p.call.record;
    findings_begin(&p.aloud, pinfo, &fields.expert);
    if (is_noise(&p, operations[opnum].response_shape)) {
        tapped_hand_over_unread(pinfo, TAPPED_NOISE);
        return call_end(&p.call, NULL);
    }
    TRY
    {
        length = (call_is_request(&p.call) ? operations[opnum].request : operations[opnum].response)(&p);
    }
    FINALLY /* what the stock function throws at its end was a call too */
    {
        tap_pdu(&p);
    }
    ENDTRY;
    return length;
}

static void hook(void)
{
    static dcerpc_sub_dissector entries[array_length(operations)];

    for (unsigned i = 0; i < array_length(operations); i++) {
        entries[i].num = (uint16_t)i;
        entries[i].name = operations[i].name;
        entries[i].dissect_rqst = operations[i].request ? dissect_pdu : NULL;
        entries[i].dissect_resp = dissect_pdu;
    }
    winreg_hook_install(entries, array_length(entries), is_active);
}

/* --- Registration ---------------------------------------------------------------------------------------------- */

static void register_fields(void)
{
    static hf_register_info hf[] = {
        FIELD_TEXT(hf_key, "Key", "hkpd.key", "What the handle was opened as"),
        FIELD(hf_value_type, "Value type", "hkpd.value_type", FT_UINT32, BASE_DEC, VALS(value_type_vals),
              "REG_* type of the data, as the registry says it"),
        FIELD_BYTES(hf_sent_data, "Data sent", "hkpd.sent_data",
                    "The client's buffer as it is sent with a request: no performance data"),
        FIELD_TEXT(hf_value_name, "Value name", "hkpd.value_name",
                   "What was asked for: objects, or titles in a language"),
        FIELD_FRAME(hf_retry_of, "Retry of", "hkpd.retry_of",
                    "The request of the same value that was answered with ERROR_MORE_DATA"),
    };
    static int *ett[] = {&ett_hkpd};

    proto_register_field_array(proto_hkpd, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    call_fields_register(proto_hkpd, "hkpd", "handle.number", &fields);
}

void proto_register_hkpd(void)
{
    if (proto_get_id_by_filter_name("hkpd") != -1) {
        return;
    }
    text_value_strings_init();
    state_register();
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
    static bool done;

    if (done || proto_hkpd == -1) {
        return;
    }
    done = true;
    hf_winreg_value_name = proto_registrar_get_id_byname("winreg.winreg_QueryValue.value_name");
    hf_winreg_name_len = proto_registrar_get_id_byname("winreg.winreg_String.name_len");
    hf_winreg_name_size = proto_registrar_get_id_byname("winreg.winreg_String.name_size");
    hf_winreg_type = proto_registrar_get_id_byname("winreg.winreg_QueryValue.type");
    hf_winreg_data_size = proto_registrar_get_id_byname("winreg.winreg_QueryValue.data_size");
    hf_winreg_data_length = proto_registrar_get_id_byname("winreg.winreg_QueryValue.data_length");
    hf_winreg_status = proto_registrar_get_id_byname("winreg.werror");
    if (hf_winreg_value_name != -1 && hf_winreg_name_len != -1 && hf_winreg_name_size != -1 && hf_winreg_type != -1 &&
        hf_winreg_data_size != -1 && hf_winreg_data_length != -1 && hf_winreg_status != -1) {
        hook();
    }
}
