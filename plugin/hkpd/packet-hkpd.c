/* packet-hkpd.c
 * HKEY_PERFORMANCE_DATA, the part of the remote registry ([MS-RRP]) that answers with performance counters.
 *
 * Wireshark's winreg dissector shows such an answer byte by byte and offers nothing to hang on to. So a few entries of
 * its table of operations are replaced by functions of this file. Each looks at the stub and then calls the stock
 * function, which goes on showing all ordinary traffic; only an answer that holds a PERF_DATA_BLOCK or a list of titles
 * is dissected here instead.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/packet-hkpd.h"

#include "hkpd/hkpd-buffers.h"
#include "hkpd/hkpd-titles.h"
#include "tree/ndr.h"
#include "tree/sealed.h"
#include "tree/strings.h"

#include <epan/exceptions.h>

/* winreg, 338cd001-2244-31f1-aaaa-900038001003 version 1.0 ([MS-RRP] 1.9) */
static e_guid_t uuid_winreg = {0x338cd001, 0x2244, 0x31f1, {0xaa, 0xaa, 0x90, 0x00, 0x38, 0x00, 0x10, 0x03}};
#define WINREG_VERSION 1

#define STATUS_SUCCESS 0
#define STATUS_MORE_DATA 234

/* The stock function shows each byte of the data of a request as an item of its own: no more of them than these. */
#define MAX_STOCK_BYTES 4096

/* LCID of English without a country. */
#define LANGUAGE_ENGLISH 0x009
#define LANGUAGE_MASK 0x3FF

static int proto_hkpd = -1;

static int hf_handle = -1;
static int hf_handle_opened_in = -1;
static int hf_handle_closed_in = -1;
static int hf_key = -1;
static int hf_value_name = -1;
static int hf_retry_of = -1;
static int hf_value_type = -1;
static int hf_sent_data = -1;
static int hf_referent = -1;
static int hf_max_count = -1;
static int hf_offset = -1;
static int hf_actual_count = -1;
static int hf_enum_index = -1;
static int hf_status = -1;
static int hf_rest = -1;

static int ett_hkpd = -1;
static int ett_winreg = -1;
static int ett_handle = -1;

/* Fields of the stock dissector. */
static int hf_winreg_value_name = -1;
static int hf_winreg_data_size = -1;
static int hf_winreg_data_length = -1;

static perf_expert expert;
static ndr_count_fields count_fields;
static ws_pref_bool pref_decode = true;

static const value_string value_type_vals[] = {
    {0, "REG_NONE"},  {1, "REG_SZ"},       {2, "REG_EXPAND_SZ"}, {3, "REG_BINARY"},
    {4, "REG_DWORD"}, {7, "REG_MULTI_SZ"}, {11, "REG_QWORD"},    {0, NULL},
};

/* --- State ----------------------------------------------------------------------------------------------------- */

/* Keys whose values are performance data or titles. */
#define HKPD_KEYS(X) \
    X(DATA, "HKEY_PERFORMANCE_DATA") \
    X(TEXT, "HKEY_PERFORMANCE_TEXT") \
    X(NLS_TEXT, "HKEY_PERFORMANCE_NLSTEXT") \
    X(PERFLIB, "Perflib") \
    X(LANGUAGE, "Perflib with a language")

#define KEY_ENUM(key, text) KEY_##key,
#define KEY_TEXT(key, text) text,
typedef enum { HKPD_KEYS(KEY_ENUM) NUM_KEYS } key_kind;
static const char *const key_text[NUM_KEYS] = {HKPD_KEYS(KEY_TEXT)};

/* What is known of a handle beyond its life (perf_handle). */
typedef struct {
    key_kind kind;
    uint32_t language; /* of KEY_LANGUAGE */
    /* the last answer, as long as it was ERROR_MORE_DATA; only for the first pass */
    const char *too_small_name;
    uint32_t too_small_frame; /* of its request */
} key_info;

/* What is kept of a call, from its request to its response and for every later look at either. */
typedef struct {
    /* the request as far as it was read */
    bool handle_read;
    uint8_t handle_bytes[PERF_HANDLE_SIZE];
    const char *name; /* value name, or name of the key to be opened; NULL if it was not read */
    uint32_t room;    /* lpcbData, 0 if it was not read */
    /* set on the first pass */
    uint32_t request_event;
    uint32_t request_frame;
    uint32_t response_event;
    uint32_t response_frame;
    perf_handle *handle; /* of a key with performance data: the one asked */
    perf_handle *opened; /* the one that was opened */
    perf_handle *closed; /* instead of it: one that was closed before */
    uint32_t retry_of;   /* request of the same that was answered with ERROR_MORE_DATA, 0 if there is none */
    perf_sample *sample;
} call_record;

/* Both are emptied with the file. */
static wmem_map_t *records; /* dcerpc_call_value -> call_record, filled by begin() */
static wmem_map_t *keys;    /* perf_handle -> key_info, filled by open_handle() */

/* One PDU while it is dissected. It is read twice: silently, to see what it is, and again if it is shown here. */
typedef struct {
    ndr_reader ndr;
    perf_report report;
    tvbuff_t *tvb;
    int offset;
    packet_info *pinfo;
    proto_tree *tree; /* winreg's */
    dcerpc_info *di;
    uint8_t *drep;
    call_record *record;
    perf_server *server;
    uint32_t event;
    bool first_time;  /* what it teaches may be learned */
    proto_tree *hkpd; /* ours, NULL as long as there is nothing to show */
    proto_item *item;
} pdu;

/* --- The stock functions --------------------------------------------------------------------------------------- */

#define OPNUM_CLOSE_KEY 5
#define OPNUM_ENUM_VALUE 10
#define OPNUM_OPEN_KEY 15
#define OPNUM_QUERY_VALUE 17
#define OPNUM_OPEN_DATA 3
#define OPNUM_OPEN_TEXT 32
#define OPNUM_OPEN_NLS_TEXT 33
#define NUM_OPNUMS 34

static dcerpc_sub_dissector stock[NUM_OPNUMS];

static bool is_request(const pdu *p)
{
    return p->di->ptype == PDU_REQ;
}

static int call_stock_on(pdu *p, tvbuff_t *tvb)
{
    const dcerpc_sub_dissector *entry = &stock[p->di->call_data->opnum];

    if (is_request(p)) {
        return entry->dissect_rqst ? entry->dissect_rqst(tvb, p->offset, p->pinfo, p->tree, p->di, p->drep) : p->offset;
    }
    return entry->dissect_resp ? entry->dissect_resp(tvb, p->offset, p->pinfo, p->tree, p->di, p->drep) : p->offset;
}

static int call_stock(pdu *p)
{
    return call_stock_on(p, p->tvb);
}

/* Lets the stock function show the stub up to `end` alone: it stops where it misses something. */
static void call_stock_until(pdu *p, uint32_t end)
{
    tvbuff_t *part = tvb_new_subset_length(p->tvb, 0, (int)end);

    TRY
    {
        call_stock_on(p, part);
    }
    CATCH_BOUNDS_ERRORS
    {
    }
    ENDTRY;
}

/* --- A PDU's beginning and end --------------------------------------------------------------------------------- */

static bool is_active(void)
{
    return pref_decode && proto_is_protocol_enabled(find_protocol_by_id(proto_hkpd));
}

static call_record *record_of(dcerpc_info *di)
{
    call_record *record = wmem_map_lookup(records, di->call_data);

    if (record == NULL) {
        record = wmem_new0(wmem_file_scope(), call_record);
        wmem_map_insert(records, di->call_data, record);
    }
    return record;
}

/* A PDU takes its event when it is first seen, and keeps it. */
static void take_event(pdu *p)
{
    uint32_t *event = is_request(p) ? &p->record->request_event : &p->record->response_event;

    if (*event == 0 && !PINFO_FD_VISITED(p->pinfo)) {
        *event = perf_next_event();
        p->first_time = true;
        if (is_request(p)) {
            p->record->request_frame = p->pinfo->num;
        } else {
            p->record->response_frame = p->pinfo->num;
        }
    }
    p->event = *event;
}

/* Reads from the start, silently: nothing is shown, findings only count. */
static void read_silently(pdu *p)
{
    perf_report_init(&p->report, NULL, &expert);
    ndr_init(&p->ndr, p->tvb, (uint32_t)p->offset, NULL, &p->report, p->di, p->drep);
}

/* Reads from the start, into the tree. */
static void read_aloud(pdu *p)
{
    perf_report_init(&p->report, p->pinfo, &expert);
    ndr_init(&p->ndr, p->tvb, (uint32_t)p->offset, p->tree, &p->report, p->di, p->drep);
}

static void begin(pdu *p, tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                  uint8_t *drep)
{
    memset(p, 0, sizeof *p);
    p->tvb = tvb;
    p->offset = offset;
    p->pinfo = pinfo;
    p->tree = tree;
    p->di = di;
    p->drep = drep;
    if (!is_active()) {
        return;
    }
    p->record = record_of(di);
    p->server = perf_server_get(is_request(p) ? &pinfo->dst : &pinfo->src);
    take_event(p);
    read_silently(p);
}

static void append_info(pdu *p, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void append_info(pdu *p, const char *format, ...)
{
    va_list args;

    if (!col_get_writable(p->pinfo->cinfo, COL_INFO)) {
        return;
    }
    va_start(args, format);
    char *text = wmem_strdup_vprintf(p->pinfo->pool, format, args);
    va_end(args);
    col_append_sep_str(p->pinfo->cinfo, COL_INFO, NULL, text);
}

/* True if what was read of the stub was there, adds up and may be learned from. */
static bool may_learn(const pdu *p)
{
    return p->first_time && !p->report.damaged && !p->ndr.reader.failed;
}

static int end(pdu *p)
{
    perf_reader *reader = &p->ndr.reader;
    uint32_t left = reader_left(reader);

    if (!reader->failed && left >= (p->ndr.ndr64 ? 8U : 4U)) {
        proto_item *item = proto_tree_add_item(p->tree, hf_rest, reader->tvb, reader->pos, left, ENC_NA);
        perf_found(&p->report, item, FINDING_TRAILING_BYTES, "%u bytes are left behind the last parameter", left);
    }
    if (p->report.damaged) {
        append_info(p, "[does not add up]");
    }
    perf_report_end(&p->report, p->item);
    return (int)tvb_reported_length(reader->tvb);
}

/* --- Names of values and keys ---------------------------------------------------------------------------------- */

typedef enum { TITLES_NONE, TITLES_NAMES, TITLES_HELP } titles_kind;

/* "Counter", "Counters", "Help" or "Explain", then nothing or a language: "Counter 009". */
static titles_kind titles_of(const char *name, uint32_t *language)
{
    static const struct {
        const char *word;
        titles_kind kind;
    } words[] = {
        {"Counters", TITLES_NAMES}, {"Counter", TITLES_NAMES}, {"Help", TITLES_HELP}, {"Explain", TITLES_HELP}};

    *language = 0;
    for (unsigned i = 0; name && i < array_length(words); i++) {
        size_t length = strlen(words[i].word);
        if (g_ascii_strncasecmp(name, words[i].word, length) == 0) {
            const char *rest = name + length;
            char *behind;
            if (*rest == '\0') {
                return words[i].kind;
            }
            *language = (uint32_t)strtoul(rest, &behind, 16);
            if (*rest == ' ' && behind > rest && *behind == '\0') {
                return words[i].kind;
            }
        }
    }
    return TITLES_NONE;
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
    uint32_t language;

    for (unsigned i = 0; name && i < array_length(names); i++) {
        if (g_ascii_strcasecmp(name, names[i]) == 0) {
            return true;
        }
    }
    return name && (is_index_list(name) || titles_of(name, &language) != TITLES_NONE);
}

/* A key's last parts: "...\Perflib" or "...\Perflib\009". */
static bool perflib_key(const char *name, bool below_perflib, key_kind *kind, uint32_t *language)
{
    const char *last = strrchr(name, '\\');
    const char *word = last ? last + 1 : name;
    char *behind;

    *language = 0;
    *kind = KEY_PERFLIB;
    if (g_ascii_strcasecmp(word, "Perflib") == 0) {
        return true;
    }
    *kind = KEY_LANGUAGE;
    size_t length = strlen("\\Perflib");
    bool below = last ? (size_t)(last - name) >= length && g_ascii_strncasecmp(last - length, "\\Perflib", length) == 0
                      : below_perflib;
    if (!below) {
        return false;
    }
    *language = (uint32_t)strtoul(word, &behind, 16);
    return g_ascii_strcasecmp(word, "CurrentLanguage") == 0 || (behind > word && *behind == '\0');
}

/* --- Parameters ------------------------------------------------------------------------------------------------ */

/* A unique pointer's referent id; true if something is there. */
static bool read_pointer(pdu *p)
{
    return ndr_count(&p->ndr, hf_referent) != 0 && !p->ndr.reader.failed;
}

static void align_structure(pdu *p)
{
    ndr_align(&p->ndr, p->ndr.ndr64 ? 8 : 4);
}

/* RRP_UNICODE_STRING ([MS-RRP] 2.2.4): sizes in bytes, then a pointer to a conformant varying array. NULL if it could
 * not be read, "" if it is empty. */
static const char *read_name(pdu *p, int hf)
{
    perf_reader *reader = &p->ndr.reader;
    ndr_counts counts;

    align_structure(p);
    reader_skip(reader, 4);
    if (!read_pointer(p)) {
        return reader->failed ? NULL : "";
    }
    ndr_varying_counts(&p->ndr, &count_fields, &counts);
    uint64_t size = 2 * counts.actual_count;
    if (counts.actual_count > UINT32_MAX / 2 || !reader_need(reader, size, "The name")) {
        return NULL;
    }
    const char *name = (const char *)tvb_get_string_enc(p->pinfo->pool, reader->tvb, reader->pos, (int)size,
                                                        ENC_UTF_16 | reader->encoding);
    if (hf > 0) {
        proto_tree_add_string(reader->tree, hf, reader->tvb, reader->pos, (int)size, name);
    }
    reader->pos += (uint32_t)size;
    return name;
}

/* Type, data, its sizes: what QueryValue and EnumValue send in both directions. */
typedef struct {
    uint32_t type;
    tvbuff_t *tvb;   /* the data, NULL if there is none */
    uint32_t size;   /* lpcbData */
    uint32_t length; /* lpcbLen */
    uint32_t data;   /* offset of the data in the stub */
    uint32_t data_size;
} value_parameters;

static uint32_t read_pointed_u32(pdu *p, int hf)
{
    return read_pointer(p) ? ndr_u32(&p->ndr, hf) : 0;
}

static void read_value_data(pdu *p, value_parameters *value)
{
    ndr_counts counts;

    if (!read_pointer(p)) {
        return;
    }
    ndr_varying_counts(&p->ndr, &count_fields, &counts);
    value->data = p->ndr.reader.pos;
    value->tvb = ndr_elements(&p->ndr, &counts, 1, "The data");
    value->data_size = value->tvb ? tvb_captured_length(value->tvb) : 0;
    if (value->data_size == 0) {
        value->tvb = NULL;
    }
}

static void read_value(pdu *p, value_parameters *value)
{
    memset(value, 0, sizeof *value);
    value->type = read_pointed_u32(p, hf_value_type);
    read_value_data(p, value);
    value->size = read_pointed_u32(p, hf_winreg_data_size);
    value->length = read_pointed_u32(p, hf_winreg_data_length);
}

/* --- Handles --------------------------------------------------------------------------------------------------- */

static key_info *key_of(const perf_handle *handle)
{
    return handle ? wmem_map_lookup(keys, handle) : NULL;
}

/* The life of a handle that is known, as of this PDU, to be one with performance data. */
static perf_handle *known_handle(const pdu *p)
{
    perf_handle *handle = p->record->handle;

    return handle && handle->begin <= p->event ? handle : NULL;
}

static perf_handle *find_open(pdu *p, const uint8_t *bytes)
{
    perf_handle *handle = perf_handle_find(PERF_HANDLE_HKPD, p->server, bytes, p->event);

    return handle && p->event <= handle->end ? handle : NULL;
}

static perf_handle *open_handle(pdu *p, const uint8_t *bytes, uint32_t frame, key_kind kind, uint32_t language)
{
    key_info *key = wmem_new0(wmem_file_scope(), key_info);

    perf_handle *handle = perf_handle_open(PERF_HANDLE_HKPD, p->server, bytes, p->event, frame, NULL);
    key->kind = kind;
    key->language = language;
    wmem_map_insert(keys, handle, key);
    return handle;
}

/* Keys below HKEY_LOCAL_MACHINE are ordinary ones: their calls stay as they are. */
static bool is_shown(const perf_handle *handle)
{
    const key_info *key = key_of(handle);

    return key && key->kind <= KEY_NLS_TEXT;
}

static void show_node(pdu *p)
{
    if (p->hkpd == NULL) {
        p->item = proto_tree_add_item(proto_tree_get_root(p->tree), proto_hkpd, p->tvb, 0, -1, ENC_NA);
        p->hkpd = proto_item_add_subtree(p->item, ett_hkpd);
    }
}

/* The handle of this call, with where it was opened and closed. `offset` is where it stands in the stub, -1 if it does
 * not. */
static void show_handle(pdu *p, const perf_handle *handle, int offset)
{
    const key_info *key = key_of(handle);

    if (p->hkpd == NULL || handle == NULL) {
        return;
    }
    proto_item *item =
        proto_tree_add_bytes_with_length(p->hkpd, hf_handle, p->tvb, offset < 0 ? 0 : offset,
                                         offset < 0 ? 0 : PERF_HANDLE_SIZE, handle->bytes, PERF_HANDLE_SIZE);
    proto_tree *tree = proto_item_add_subtree(item, ett_handle);
    if (offset < 0) {
        proto_item_set_generated(item);
    }
    if (key) {
        proto_item_append_text(item, " (%s)", key_text[key->kind]);
        add_generated_string(tree, hf_key, p->tvb, key_text[key->kind]);
    }
    if (handle->opened_frame != 0) {
        add_generated_uint(tree, hf_handle_opened_in, p->tvb, handle->opened_frame);
    }
    if (handle->closed_frame != 0) {
        add_generated_uint(tree, hf_handle_closed_in, p->tvb, handle->closed_frame);
    }
}

/* The handle of a request. */
static void read_handle(pdu *p)
{
    uint8_t bytes[PERF_HANDLE_SIZE];

    ndr_context_handle(&p->ndr, hf_handle, bytes);
    if (p->first_time && !p->ndr.reader.failed) {
        p->record->handle_read = true;
        memcpy(p->record->handle_bytes, bytes, sizeof bytes);
        p->record->handle = find_open(p, bytes);
    }
}

static int handle_offset(const pdu *p)
{
    return (p->offset + 3) & ~3;
}

/* --- Opening and closing --------------------------------------------------------------------------------------- */

/* The response that opens a key. Only if it is one with performance data it is looked at. */
static int opened(pdu *p, bool is_ours, key_kind kind, uint32_t language)
{
    uint8_t bytes[PERF_HANDLE_SIZE];
    static const uint8_t null_handle[PERF_HANDLE_SIZE];

    ndr_context_handle(&p->ndr, hf_handle, bytes);
    uint32_t status = ndr_u32(&p->ndr, hf_status);
    if (p->first_time) {
        if (is_ours && may_learn(p) && status == STATUS_SUCCESS && memcmp(bytes, null_handle, sizeof bytes) != 0) {
            p->record->opened = open_handle(p, bytes, p->pinfo->num, kind, language);
        }
    }
    if (is_shown(p->record->opened)) {
        show_node(p);
        show_handle(p, p->record->opened, handle_offset(p));
    }
    return call_stock(p);
}

static int open_response(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                         uint8_t *drep)
{
    pdu p;
    uint32_t opnum = di->call_data->opnum;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    if (p.record == NULL) {
        return call_stock(&p);
    }
    return opened(&p, true,
                  opnum == OPNUM_OPEN_DATA   ? KEY_DATA
                  : opnum == OPNUM_OPEN_TEXT ? KEY_TEXT
                                             : KEY_NLS_TEXT,
                  0);
}

/* BaseRegOpenKey, 3.1.5.15. */
static int open_key_request(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                            uint8_t *drep)
{
    pdu p;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    if (p.record == NULL) {
        return call_stock(&p);
    }
    read_handle(&p);
    const char *name = read_name(&p, 0);
    if (p.first_time && name) {
        p.record->name = wmem_strdup(wmem_file_scope(), name);
    }
    if (is_shown(known_handle(&p))) {
        show_node(&p);
        show_handle(&p, known_handle(&p), handle_offset(&p));
        if (p.ndr.ndr64) {
            /* as in show_request64() */
            call_stock_until(&p, (uint32_t)handle_offset(&p) + PERF_HANDLE_SIZE);
            return (int)tvb_reported_length(tvb);
        }
    }
    return call_stock(&p);
}

static int open_key_response(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                             uint8_t *drep)
{
    pdu p;
    key_kind kind = KEY_DATA;
    uint32_t language = 0;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    if (p.record == NULL) {
        return call_stock(&p);
    }
    const key_info *parent = p.first_time ? key_of(p.record->handle) : NULL;
    const char *name = p.record->name;
    bool is_ours = name && perflib_key(name, parent && parent->kind == KEY_PERFLIB, &kind, &language);
    if (name && *name == '\0' && parent) {
        /* an empty name opens the same key once more */
        kind = parent->kind;
        language = parent->language;
        is_ours = true;
    }
    return opened(&p, is_ours, kind, language);
}

/* BaseRegCloseKey, 3.1.5.5. */
static int close_request(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                         uint8_t *drep)
{
    pdu p;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    if (p.record == NULL) {
        return call_stock(&p);
    }
    read_handle(&p);
    if (may_learn(&p) && p.record->handle) {
        perf_handle_close(p.record->handle, p.event, pinfo->num);
    }
    if (is_shown(known_handle(&p))) {
        show_node(&p);
        show_handle(&p, known_handle(&p), handle_offset(&p));
    }
    return call_stock(&p);
}

static int close_response(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                          uint8_t *drep)
{
    pdu p;
    uint8_t bytes[PERF_HANDLE_SIZE];

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    if (p.record == NULL) {
        return call_stock(&p);
    }
    ndr_context_handle(&p.ndr, hf_handle, bytes);
    uint32_t status = ndr_u32(&p.ndr, hf_status);
    if (may_learn(&p) && status != STATUS_SUCCESS && p.record->handle) {
        perf_handle_not_closed(p.record->handle);
    }
    if (is_shown(known_handle(&p))) {
        show_node(&p);
        show_handle(&p, known_handle(&p), -1);
    }
    return call_stock(&p);
}

/* --- QueryValue and EnumValue: the request --------------------------------------------------------------------- */

/* The same value was asked for before, and the buffer was too small. */
static void find_retry(pdu *p)
{
    const key_info *key = key_of(p->record->handle);

    if (p->first_time && key && p->record->name && key->too_small_name &&
        g_ascii_strcasecmp(key->too_small_name, p->record->name) == 0) {
        p->record->retry_of = key->too_small_frame;
    }
}

/* A handle that was closed and is asked all the same. Its bytes may mean another key by now: the name has to tell. */
static void report_closed(pdu *p, const char *name)
{
    call_record *record = p->record;
    perf_report report;

    if (p->first_time && record->handle_read && record->handle == NULL && is_performance_name(name)) {
        record->closed = perf_handle_find(PERF_HANDLE_HKPD, p->server, record->handle_bytes, p->event);
    }
    if (is_shown(record->closed)) {
        perf_report_init(&report, p->pinfo, &expert);
        show_node(p);
        show_handle(p, record->closed, handle_offset(p));
        perf_found(&report, p->item, FINDING_HANDLE_CLOSED, "The handle was closed in frame %u",
                   record->closed->closed_frame);
    }
}

static void show_question(pdu *p, int handle_at)
{
    show_node(p);
    show_handle(p, known_handle(p), handle_at);
    if (p->record->name) {
        proto_item_set_generated(proto_tree_add_string(p->hkpd, hf_value_name, p->tvb, 0, 0, p->record->name));
        proto_item_append_text(p->item, ", %s", *p->record->name ? p->record->name : "default value");
        append_info(p, "%s", *p->record->name ? p->record->name : "default value");
    }
    if (p->record->retry_of != 0) {
        add_generated_uint(p->hkpd, hf_retry_of, p->tvb, p->record->retry_of);
    }
}

/* NDR64: the stock function shows the handle, and would look for the name in a wrong place (Wireshark 4.0 and 4.4). */
static int show_request64(pdu *p)
{
    uint32_t handle_end = (uint32_t)handle_offset(p) + PERF_HANDLE_SIZE;
    value_parameters value;

    call_stock_until(p, handle_end);
    read_aloud(p);
    p->ndr.reader.pos = handle_end;
    if (p->di->call_data->opnum == OPNUM_ENUM_VALUE) {
        ndr_u32(&p->ndr, hf_enum_index);
    }
    read_name(p, hf_winreg_value_name);
    read_value(p, &value);
    if (value.data_size > 0) {
        proto_tree_add_item(p->tree, hf_sent_data, p->tvb, value.data, value.data_size, ENC_NA);
    }
    return end(p);
}

/* The stock function shows what stands before the data that the client sends along, which it would show byte by
 * byte. */
static int show_request_with_data(pdu *p, const value_parameters *value)
{
    call_stock_until(p, value->data);
    proto_tree_add_item(p->tree, hf_sent_data, p->tvb, value->data, value->data_size, ENC_NA);
    read_aloud(p);
    p->ndr.reader.pos = value->data + value->data_size;
    read_pointed_u32(p, hf_winreg_data_size);
    read_pointed_u32(p, hf_winreg_data_length);
    return end(p);
}

static int value_request(pdu *p)
{
    value_parameters value;

    read_handle(p);
    if (p->di->call_data->opnum == OPNUM_ENUM_VALUE) {
        ndr_u32(&p->ndr, hf_enum_index);
    }
    const char *name = read_name(p, 0);
    if (p->first_time && name && p->di->call_data->opnum == OPNUM_QUERY_VALUE) {
        p->record->name = wmem_strdup(wmem_file_scope(), name);
    }
    read_value(p, &value);
    if (p->first_time && !p->ndr.reader.failed) {
        p->record->room = value.size;
    }
    find_retry(p);
    report_closed(p, name);
    bool shown = is_shown(known_handle(p));
    if (shown) {
        show_question(p, handle_offset(p));
        if (p->record->room > 0) {
            append_info(p, "room for %u bytes%s", p->record->room, p->record->retry_of != 0 ? " now" : "");
        }
    }
    if (p->ndr.ndr64 && (key_of(known_handle(p)) || is_performance_name(name))) {
        return show_request64(p);
    }
    return shown && value.data_size > MAX_STOCK_BYTES && !p->ndr.reader.failed ? show_request_with_data(p, &value)
                                                                               : call_stock(p);
}

static int query_request(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                         uint8_t *drep)
{
    pdu p;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    return p.record ? value_request(&p) : call_stock(&p);
}

/* --- QueryValue and EnumValue: the response -------------------------------------------------------------------- */

typedef enum { ANSWER_OTHER, ANSWER_BLOCK, ANSWER_TITLES } answer_kind;

typedef struct {
    value_parameters value;
    uint32_t status;
    const char *name; /* of the value; NULL if it is not known */
    answer_kind kind;
} answer;

static void read_answer(pdu *p, answer *back, int name_field)
{
    memset(back, 0, sizeof *back);
    back->name = p->record->name;
    if (p->di->call_data->opnum == OPNUM_ENUM_VALUE) {
        back->name = read_name(p, name_field);
    }
    read_value(p, &back->value);
    back->status = ndr_u32(&p->ndr, hf_status);
}

/* The value name decides, not the type. With ERROR_MORE_DATA the data may be anything. */
static answer_kind kind_of(pdu *p, const answer *back)
{
    uint32_t language;
    tvbuff_t *tvb = back->value.tvb;

    if (tvb == NULL || (!p->ndr.reader.failed && back->status == STATUS_MORE_DATA)) {
        return ANSWER_OTHER;
    }
    if (titles_of(back->name, &language) != TITLES_NONE &&
        (key_of(known_handle(p)) || hkpd_check_titles(tvb, p->pinfo->pool, NULL, NULL))) {
        return ANSWER_TITLES;
    }
    uint32_t size = tvb_captured_length(tvb);
    return perf_block_is(tvb_get_ptr(tvb, 0, (int)size), size) ? ANSWER_BLOCK : ANSWER_OTHER;
}

/* An answer with performance data tells what the handle is, if its opening was not captured. */
static void find_handle(pdu *p, const answer *back)
{
    if (p->first_time && back->kind == ANSWER_BLOCK && p->record->handle == NULL && p->record->handle_read) {
        p->record->handle = find_open(p, p->record->handle_bytes);
        if (p->record->handle == NULL) {
            p->record->handle = open_handle(p, p->record->handle_bytes, 0, KEY_DATA, 0);
        }
    }
}

static void note_outcome(pdu *p, const answer *back)
{
    key_info *key = key_of(p->record->handle);

    if (!may_learn(p) || key == NULL || p->di->call_data->opnum != OPNUM_QUERY_VALUE) {
        return;
    }
    key->too_small_name = back->status == STATUS_MORE_DATA ? p->record->name : NULL;
    key->too_small_frame = p->record->request_frame;
}

/* An answer without data of ours: the stock function shows it. */
static int other_answer(pdu *p, const answer *back)
{
    if (is_shown(known_handle(p))) {
        show_question(p, -1);
        if (!p->ndr.reader.failed && back->status == STATUS_MORE_DATA) {
            append_info(p, p->record->room > 0 ? "more than %u bytes" : "more data", p->record->room);
        }
    }
    return call_stock(p);
}

static void keep_sample(pdu *p, tvbuff_t *tvb)
{
    uint32_t size = tvb_captured_length(tvb);
    uint32_t count;
    const uint32_t *indexes = hkpd_object_indexes(tvb, p->pinfo->pool, &count);

    p->record->sample =
        perf_sample_keep(p->record->handle, tvb_get_ptr(tvb, 0, (int)size), size, p->event, p->pinfo->num);
    perf_sample_holds(p->record->sample, indexes, count);
}

static void init_context(pdu *p, hkpd_context *context)
{
    memset(context, 0, sizeof *context);
    context->report = &p->report;
    context->server = p->server;
    context->event = p->event;
}

static void describe_block(pdu *p, const answer *back, hkpd_context *context)
{
    const perf_block_summary *summary = &context->summary;

    if (!col_get_writable(p->pinfo->cinfo, COL_INFO)) {
        return;
    }
    append_info(p, "%u objects, %u values, %u bytes", summary->objects, summary->values, back->value.data_size);
    const char *first = hkpd_first_value(back->value.tvb, context);
    if (first) {
        append_info(p, "%s", first);
        if (summary->values > 1) {
            append_info(p, "%u more", summary->values - 1);
        }
    }
}

static void block_answer(pdu *p, const answer *back, bool learn)
{
    hkpd_context context;

    init_context(p, &context);
    bool sound = hkpd_check_block(back->value.tvb, &context);
    if (learn && sound && p->record->handle) {
        keep_sample(p, back->value.tvb);
    }
    context.sample = p->record->response_frame == p->pinfo->num ? p->record->sample : NULL;
    hkpd_dissect_block(own_data_source(p->pinfo, back->value.tvb, "Performance data"), p->hkpd, &context);
    describe_block(p, back, &context);
}

/* --- Titles ---------------------------------------------------------------------------------------------------- */

typedef struct {
    pdu *p;
    perf_fact_kind kind;
    uint32_t language;
} title_lesson;

/* Title 1 is not one: its text is the highest index. */
static void learn_title(uint32_t title_index, const char *text, void *user)
{
    title_lesson *lesson = user;
    perf_subject subject = {{0}, title_index};
    perf_fact fact;

    if (title_index > 1 && *text) {
        memset(&fact, 0, sizeof fact);
        fact.name = text;
        fact.lcid = lesson->kind == PERF_FACT_ENGLISH ? 0 : lesson->language;
        perf_learn(lesson->p->server, &subject, lesson->kind, &fact, lesson->p->event, lesson->p->pinfo->num);
    }
}

/* The value name tells the language, else the key does. */
static void learn_titles(pdu *p, const answer *back)
{
    const key_info *key = key_of(p->record->handle);
    title_lesson lesson = {p, PERF_FACT_LOCAL, 0};

    if (titles_of(back->name, &lesson.language) != TITLES_NAMES ||
        !hkpd_check_titles(back->value.tvb, p->pinfo->pool, NULL, NULL)) {
        return;
    }
    if (lesson.language == 0 && key) {
        lesson.language = key->kind == KEY_TEXT ? LANGUAGE_ENGLISH : key->language;
    }
    if ((lesson.language & LANGUAGE_MASK) == LANGUAGE_ENGLISH) {
        lesson.kind = PERF_FACT_ENGLISH;
    }
    hkpd_check_titles(back->value.tvb, p->pinfo->pool, learn_title, &lesson);
}

static void titles_answer(pdu *p, const answer *back, bool learn)
{
    hkpd_context context;

    init_context(p, &context);
    if (learn) {
        learn_titles(p, back);
    }
    hkpd_dissect_titles(own_data_source(p->pinfo, back->value.tvb, "Performance data"), p->hkpd, &context);
    append_info(p, "%u titles, %u bytes", context.titles, back->value.data_size);
}

static int value_response(pdu *p)
{
    answer back;

    read_answer(p, &back, 0);
    back.kind = kind_of(p, &back);
    find_handle(p, &back);
    note_outcome(p, &back);
    if (back.kind == ANSWER_OTHER) {
        return other_answer(p, &back);
    }
    bool learn = may_learn(p) && back.status == STATUS_SUCCESS;
    answer_kind kind = back.kind;
    show_question(p, -1);
    read_aloud(p);
    read_answer(p, &back, hf_value_name);
    if (!p->ndr.reader.failed && back.status != STATUS_SUCCESS) {
        perf_found(&p->report, p->ndr.reader.item, FINDING_STATUS, "The call failed: %s",
                   win32_error_name(p->pinfo->pool, back.status));
        append_info(p, "%s", win32_error_name(p->pinfo->pool, back.status));
    }
    if (kind == ANSWER_BLOCK) {
        block_answer(p, &back, learn);
    } else {
        titles_answer(p, &back, learn);
    }
    return end(p);
}

static int query_response(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                          uint8_t *drep)
{
    pdu p;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    return p.record ? value_response(&p) : call_stock(&p);
}

/* --- The hook -------------------------------------------------------------------------------------------------- */

/* What replaces the entries of the stock table. NULL leaves the stock function in place. */
static const dcerpc_sub_dissector hooked[] = {
    {OPNUM_OPEN_DATA, "OpenHKPD", NULL, open_response},
    {OPNUM_CLOSE_KEY, "CloseKey", close_request, close_response},
    {OPNUM_ENUM_VALUE, "EnumValue", query_request, query_response},
    {OPNUM_OPEN_KEY, "OpenKey", open_key_request, open_key_response},
    {OPNUM_QUERY_VALUE, "QueryValue", query_request, query_response},
    {OPNUM_OPEN_TEXT, "OpenHKPT", NULL, open_response},
    {OPNUM_OPEN_NLS_TEXT, "OpenHKPN", NULL, open_response},
};

static void hook_entry(dcerpc_sub_dissector *entry)
{
    for (unsigned i = 0; i < array_length(hooked); i++) {
        if (entry->num == hooked[i].num && strcmp(entry->name, hooked[i].name) == 0) {
            stock[entry->num] = *entry;
            entry->dissect_rqst = hooked[i].dissect_rqst ? hooked[i].dissect_rqst : entry->dissect_rqst;
            entry->dissect_resp = hooked[i].dissect_resp ? hooked[i].dissect_resp : entry->dissect_resp;
        }
    }
}

/* A copy of the stock table with our entries: the table itself is constant. */
static dcerpc_sub_dissector *hooked_table(void)
{
    ws_dcerpc_table *table = dcerpc_get_proto_sub_dissector(&uuid_winreg, WINREG_VERSION);
    unsigned count = 0;

    if (table == NULL) {
        return NULL;
    }
    while (table[count].name) {
        count++;
    }
    dcerpc_sub_dissector *copy = wmem_memdup(wmem_epan_scope(), table, (count + 1) * sizeof *copy);
    for (unsigned i = 0; i < count; i++) {
        hook_entry(&copy[i]);
    }
    return copy;
}

/* With dcerpc_uuids the copy takes the table's place; without it the interface is registered again, which draws
 * a warning that two dissectors have one name. */
static void install(dcerpc_sub_dissector *table)
{
#ifdef HAVE_DCERPC_UUIDS
    guid_key key = {uuid_winreg, WINREG_VERSION};
    dcerpc_uuid_value *value = g_hash_table_lookup(dcerpc_uuids, &key);

    if (value) {
        value->procs = table;
    }
#else
    dcerpc_init_uuid(proto_get_id_by_filter_name("winreg"), ett_winreg, &uuid_winreg, WINREG_VERSION, table,
                     dcerpc_get_proto_hf_opnum(&uuid_winreg, WINREG_VERSION));
#endif
}

/* --- Registration ---------------------------------------------------------------------------------------------- */

static void register_fields(void)
{
    static hf_register_info hf[] = {
        {&hf_handle,
         {"Handle", "hkpd.handle", FT_BYTES, BASE_NONE, NULL, 0, "Context handle, as little-endian sends it", HFILL}},
        {&hf_handle_opened_in,
         {"Opened in", "hkpd.handle.opened_in", FT_FRAMENUM, BASE_NONE, NULL, 0, "The response that opened it", HFILL}},
        {&hf_handle_closed_in,
         {"Closed in", "hkpd.handle.closed_in", FT_FRAMENUM, BASE_NONE, NULL, 0, "CloseKey request", HFILL}},
        {&hf_key, {"Key", "hkpd.key", FT_STRING, BASE_NONE, NULL, 0, "What the handle was opened as", HFILL}},
        {&hf_value_name,
         {"Value name", "hkpd.value_name", FT_STRING, BASE_NONE, NULL, 0,
          "What was asked for: objects, or titles in a language", HFILL}},
        {&hf_retry_of,
         {"Retry of", "hkpd.retry_of", FT_FRAMENUM, BASE_NONE, NULL, 0,
          "The request of the same value that was answered with ERROR_MORE_DATA", HFILL}},
        {&hf_value_type, {"Value type", "hkpd.value_type", FT_UINT32, BASE_DEC, VALS(value_type_vals), 0, NULL, HFILL}},
        {&hf_sent_data,
         {"Data sent", "hkpd.sent_data", FT_BYTES, BASE_NONE, NULL, 0,
          "The client's buffer as it is sent with a request: no performance data", HFILL}},
        {&hf_referent, {"Referent ID", "hkpd.referent_id", FT_UINT64, BASE_HEX, NULL, 0, NULL, HFILL}},
        {&hf_max_count,
         {"Max count", "hkpd.array.max_count", FT_UINT64, BASE_DEC, NULL, 0, "Elements that an NDR array has room for",
          HFILL}},
        {&hf_offset,
         {"Offset", "hkpd.array.offset", FT_UINT64, BASE_DEC, NULL, 0, "First element that is sent", HFILL}},
        {&hf_actual_count,
         {"Actual count", "hkpd.array.actual_count", FT_UINT64, BASE_DEC, NULL, 0, "Elements that are sent", HFILL}},
        {&hf_enum_index, {"Number of the value", "hkpd.enum_index", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_rest, {"Bytes left over", "hkpd.rest", FT_BYTES, BASE_NONE, NULL, 0, NULL, HFILL}},
    };
    static int *ett[] = {&ett_hkpd, &ett_winreg, &ett_handle};

    proto_register_field_array(proto_hkpd, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    count_fields = (ndr_count_fields){hf_max_count, hf_offset, hf_actual_count};
}

void proto_register_hkpd(void)
{
    if (proto_get_id_by_filter_name("hkpd") != -1) {
        return;
    }
    perf_strings_init();
    perf_state_register();
    proto_hkpd =
        proto_register_protocol("Performance Data of the Remote Registry (HKEY_PERFORMANCE_DATA)", "HKPD", "hkpd");
    register_fields();
    hkpd_buffers_register(proto_hkpd);
    hkpd_titles_register(proto_hkpd);
    perf_expert_register(proto_hkpd, "hkpd", &expert);
    records = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), g_direct_hash, g_direct_equal);
    keys = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), g_direct_hash, g_direct_equal);
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

    hf_winreg_value_name = proto_registrar_get_id_byname("winreg.winreg_QueryValue.value_name");
    hf_winreg_data_size = proto_registrar_get_id_byname("winreg.winreg_QueryValue.data_size");
    hf_winreg_data_length = proto_registrar_get_id_byname("winreg.winreg_QueryValue.data_length");
    hf_status = proto_registrar_get_id_byname("winreg.werror");
    if (done || proto_hkpd == -1 || hf_winreg_value_name == -1 || hf_winreg_data_size == -1 ||
        hf_winreg_data_length == -1 || hf_status == -1) {
        return;
    }
    dcerpc_sub_dissector *table = hooked_table();
    done = true;
    if (table && stock[OPNUM_QUERY_VALUE].name) {
        install(table);
        sealed_watch_winreg(&uuid_winreg, WINREG_VERSION);
    }
}
