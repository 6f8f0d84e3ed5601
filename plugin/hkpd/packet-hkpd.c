/* packet-hkpd.c
 * HKEY_PERFORMANCE_DATA, the part of the remote registry ([MS-RRP]) that answers with performance counters.
 *
 * Wireshark's winreg dissector shows such a response byte by byte, and has no table for values' data. So four entries of its table of
 * operations are replaced. Each reads the stub silently and then calls the stock function, which shows all other
 * traffic. Shown here instead are requests for values on handles of performance data, and responses whose value has such a name and is
 * a PERF_DATA_BLOCK or a list of titles.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/transport.h"
#include "tree/expert-info.h"
#include "tree/fields.h"
#include "hkpd/hkpd.h"
#include "text/value-strings.h"

#include <epan/exceptions.h>
#include <wsutil/strtoi.h>

void proto_register_hkpd(void);
void proto_reg_handoff_hkpd(void);

static int proto_hkpd = -1;
static int hf_sent_data, hf_value_name;

static int ett_hkpd = -1;

/* A value's name as a question: for objects by their indexes, for a kind of objects, for names or explanations of titles. */
typedef enum { QUESTION_OTHER, QUESTION_INDEXES, QUESTION_OBJECTS, QUESTION_NAMES, QUESTION_HELP } question_kind;

typedef struct {
    const char *name; /* as it was sent, TEXT_NAME_MAX characters at most; NULL: it was not read */
    const char *text; /* the name without spaces at its ends, in small letters; NULL as well */
    question_kind kind;
    uint32_t language; /* of titles, an LCID; 0: the name says none */
} hkpd_question;

/* Win32 errors */
#define STATUS_SUCCESS 0
#define STATUS_FILE_NOT_FOUND 2
#define STATUS_MORE_DATA 234
#define STATUS_NO_MORE_ITEMS 259

/* A call, from its request to its response and for every later look. `rpc.handle` is the handle of the request, `rpc.answering`
 * that of the response: the opened one, or the life that began behind a closed one. */
typedef struct {
    rpc_call rpc;
    uint8_t handle[PERF_HANDLE_SIZE]; /* as the request sent it; zeros: it was not read */
    hkpd_question question;
    uint32_t room; /* bytes of the client's buffer (lpcbData), 0 without a buffer */
} hkpd_call;

/* Parameters of QueryValue and EnumValue behind the name, in either direction. */
typedef struct {
    tvbuff_t *tvb;      /* the data, NULL without a buffer */
    uint32_t data_size; /* bytes of it that were captured */
    uint32_t size;      /* lpcbData */
} value_parameters;

/* Content of a response. Windows answers a size probe with a block that is a header alone. */
typedef enum { ANSWER_OTHER, ANSWER_BLOCK, ANSWER_TITLES } answer_kind;

/* A PDU while it is dissected. */
typedef struct {
    rpc_pdu pdu;
    hkpd_call *call;                  /* the same as pdu.call */
    hkpd_question question;           /* the call's; EnumValue's response names the value that it brings */
    answer_kind kind;                 /* of a response with a value */
    value_parameters value;           /* as far as they were read */
    uint8_t opened[PERF_HANDLE_SIZE]; /* the handle of a response */
    proto_tree *node;                 /* our part of the tree, and its item; NULL before the first item */
    bool shown_here;                  /* the stock function is not called */
} hkpd_pdu;

/* --- The stock dissector ------------------------------------------------------------------------------------------ */

/* winreg, 338cd001-2244-31f1-aaaa-900038001003 version 1.0 ([MS-RRP] 1.9) */
static e_guid_t uuid_winreg = {0x338cd001, 0x2244, 0x31f1, {0xaa, 0xaa, 0x90, 0x00, 0x38, 0x00, 0x10, 0x03}};
#define WINREG_VERSION 1

/* OpenPerformanceData, BaseRegCloseKey, BaseRegEnumValue and BaseRegQueryValue ([MS-RRP] 3.1.5.3, .5, .11, .17) */
#define WINREG_OPEN_HKPD 3
#define WINREG_CLOSE_KEY 5
#define WINREG_ENUM_VALUE 10
#define WINREG_QUERY_VALUE 17

static dcerpc_sub_dissector stock[WINREG_QUERY_VALUE + 1]; /* entries that were replaced, by opnum */

/* Calls the stock function for this operation. Returns the offset behind the bytes that it read. */
static int dissect_stock(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                         uint8_t *drep)
{
    const dcerpc_sub_dissector *entry = &stock[di->call_data->opnum];
    dcerpc_dissect_fnct_t *dissect = di->ptype == PDU_REQ ? entry->dissect_rqst : entry->dissect_resp;

    return dissect(tvb, offset, pinfo, tree, di, drep);
}

/* --- Names of values ---------------------------------------------------------------------------------------------- */

/* Reads the next of a list of title indexes: "2 4 238". Returns false at its end, and where there is no number of 32 bits; "238x" is 238, then the
 * end. Changes: `title`; `indexes` is behind the number and its spaces. */
static bool read_title_index(const char **indexes, uint32_t *title)
{
    const char *end = *indexes;

    if (!g_ascii_isdigit(**indexes) || !ws_strtou32(*indexes, &end, title)) {
        return false;
    }
    *indexes = end + strspn(end, " ");
    return true;
}

/* Parses a value's name as a question, in `pool`: by the word that it begins with, which hardly any other value has, or as indexes. Titles have
 * a language in hexadecimal behind the word: "counter 009". */
static hkpd_question parse_value_name(wmem_allocator_t *pool, const char *name)
{
    static const struct {
        const char *word;
        question_kind kind;
    } words[] = {{"global", QUESTION_OBJECTS}, {"costly", QUESTION_OBJECTS}, {"metadata", QUESTION_OBJECTS},
                 {"counter", QUESTION_NAMES},  {"help", QUESTION_HELP},      {"explain", QUESTION_HELP}};
    char *text = g_strstrip(g_ascii_strdown(name, -1));
    hkpd_question question = {.name = wmem_strdup(pool, text_cut(pool, name, TEXT_NAME_MAX)),
                              .text = wmem_strdup(pool, text)};
    const char *indexes = question.text, *language = strchr(indexes, ' ');
    uint32_t title;

    g_free(text);
    for (unsigned i = 0; i < array_length(words); i++) {
        question.kind = g_str_has_prefix(question.text, words[i].word) ? words[i].kind : question.kind;
    }
    if (question.kind >= QUESTION_NAMES && language && !ws_hexstrtou32(language + 1, NULL, &question.language)) {
        question.language = 0;
    }
    while (read_title_index(&indexes, &title)) {
        question.kind = *indexes == '\0' ? QUESTION_INDEXES : QUESTION_OTHER;
    }
    return question;
}

/* --- A PDU ------------------------------------------------------------------------------------------------------- */

static rpc_protocol fields = {.handle_label = "Handle",
                              .handle_number_label = "Handle number",
                              .handle_word = "handle",
                              .call_size = sizeof(hkpd_call)};

/* Ends the PDU. One that is not shown here goes to the stock function, which itself reports bytes that could not be read. Returns the stub's
 * length. Changes: a size probe's Info cannot be written from here on. */
static int end_pdu(hkpd_pdu *p)
{
    rpc_pdu *pdu = &p->pdu;

    if (p->shown_here) {
        return rpc_pdu_end(pdu, p->node);
    }
    pdu->report.damaged = false;
    pdu->is_short = false;
    rpc_pdu_end(pdu, p->node);
    /* it would call a size probe an error */
    col_set_writable(pdu->pinfo->cinfo, COL_INFO,
                     pdu->has_column && !(pdu->tapped.is_probe && rpc_pdu_get_handle(pdu)));
    return dissect_stock(pdu->tvb, pdu->offset, pdu->pinfo, pdu->tree, pdu->di, pdu->drep);
}

/* Reads the handle of a request, and finds the open handle that it is. For rpc_pdu_read(), as all functions with a `void *pdu`. */
static void read_request_handle(void *pdu)
{
    hkpd_pdu *p = pdu;
    hkpd_call *call = p->call;

    ndr_context_handle(&p->pdu.cursor, proto_registrar_get_id_byname("winreg.handle"), call->handle);
    rpc_pdu_find_handle(&p->pdu, PERF_HANDLE_HKPD, call->handle);
}

/* Reads parameters once more, into the tree: the PDU is shown here. */
static void read_aloud(hkpd_pdu *p, void (*read)(void *pdu))
{
    p->shown_here = true;
    rpc_pdu_read_stub(&p->pdu, /* is_aloud */ true);
    if (rpc_pdu_read(&p->pdu, read, p)) {
        rpc_pdu_report_trailing_bytes(&p->pdu);
    }
}

/* Adds our protocol's node behind the others of the packet, unless it is there, and reports a duplicate PDU at it. */
static void show_node(hkpd_pdu *p)
{
    if (p->node == NULL) {
        proto_item *item = proto_tree_add_item(proto_tree_get_root(p->pdu.tree), proto_hkpd, p->pdu.tvb, 0, -1, ENC_NA);
        p->node = proto_item_add_subtree(item, ett_hkpd);
        rpc_pdu_report_duplicate(&p->pdu, item);
    }
}

/* Shows the PDU's handle, if it is one of performance data, with where it was opened and closed. */
static void show_performance_key(hkpd_pdu *p)
{
    const state_handle *handle = rpc_pdu_get_handle(&p->pdu);

    if (handle == NULL) {
        return;
    }
    show_node(p);
    rpc_pdu_show_handle_number(&p->pdu, p->node, handle);
    if (p->node) {
        proto_item *item =
            proto_tree_add_bytes_with_length(p->node, fields.handle, p->pdu.tvb, 0, 0, handle->bytes, PERF_HANDLE_SIZE);
        proto_item_set_generated(item);
        proto_item_append_text(item, " (HKEY_PERFORMANCE_DATA)");
        rpc_pdu_show_handle_lifetime(&p->pdu, item, handle);
    }
}

/* --- Parameters ------------------------------------------------------------------------------------------------ */

/* Reads an RRP_UNICODE_STRING ([MS-RRP] 2.2.4): sizes in bytes, then a pointer to a conformant varying array. Returns "" for a null pointer. */
static const char *read_name(hkpd_pdu *p)
{
    buffer_cursor *cursor = &p->pdu.cursor;
    ndr_array array;

    ndr_align(cursor, ndr_count_size(cursor));
    cursor_skip(cursor, 4);
    proto_tree_add_item(cursor->tree, proto_registrar_get_id_byname("winreg.winreg_String.name_len"), cursor->tvb,
                        cursor->pos - 4, 2, cursor->encoding);
    proto_tree_add_item(cursor->tree, proto_registrar_get_id_byname("winreg.winreg_String.name_size"), cursor->tvb,
                        cursor->pos - 2, 2, cursor->encoding);
    if (!ndr_pointer(cursor, "name")) {
        return "";
    }
    ndr_array_begin(cursor, true, "Name", &array);
    tvbuff_t *tvb = ndr_elements(cursor, &array, 2);
    int size = (int)tvb_captured_length(tvb);
    const char *name = (const char *)tvb_get_string_enc(p->pdu.pool, tvb, 0, size, ENC_UTF_16 | cursor->encoding);
    proto_tree_add_string(array.tree, proto_registrar_get_id_byname("winreg.winreg_QueryValue.value_name"), tvb, 0,
                          size, name);
    proto_item_append_text(array.node, ": %s", name);
    return name;
}

/* Reads a pointer, called `what` in the tree, and its number, shown as winreg's `field`. Returns 0 for a null pointer. */
static uint32_t read_pointed_u32(hkpd_pdu *p, const char *what, const char *field)
{
    return ndr_pointer(&p->pdu.cursor, what) ? ndr_u32(&p->pdu.cursor, proto_registrar_get_id_byname(field)) : 0;
}

/* Reads type, data and sizes. A client's buffer is shown as one item. Reports a response's length that is not the data's. Changes: `value`. */
static void read_parameters(hkpd_pdu *p)
{
    buffer_cursor *cursor = &p->pdu.cursor;
    value_parameters *value = &p->value;
    ndr_array array;

    *value = (value_parameters){.tvb = NULL};
    read_pointed_u32(p, "type", "winreg.winreg_QueryValue.type");
    if (ndr_pointer(cursor, "data")) {
        ndr_array_begin(cursor, true, "Data", &array);
        value->tvb = ndr_elements(cursor, &array, 1);
        value->data_size = tvb_captured_length(value->tvb);
        proto_item_append_text(array.node, ": %s", text_counted(p->pdu.pool, array.actual_count, "byte"));
    }
    if (value->data_size > 0 && p->pdu.is_request) {
        proto_tree_add_item(cursor->tree, hf_sent_data, value->tvb, 0, -1, ENC_NA);
    }
    value->size = read_pointed_u32(p, "size", "winreg.winreg_QueryValue.data_size");
    uint32_t length = read_pointed_u32(p, "length", "winreg.winreg_QueryValue.data_length");
    if (!p->pdu.is_request && length != value->data_size) {
        expert_report_add(&p->pdu.report, cursor->item, EI_LENGTH, "*lpcbLen is %u, but %u bytes of data are there",
                          length, value->data_size);
    }
}

/* Reports a call on performance data that failed, but for two errors that are answers: a language has no titles, no value is behind the last one.
 * Needs: the status, if there is one, was read. Changes: if it is reported, the tapped call has failed. */
static void report_failed(hkpd_pdu *p)
{
    uint32_t status = p->pdu.tapped.status;
    bool is_answer =
        status == STATUS_NO_MORE_ITEMS || (status == STATUS_FILE_NOT_FOUND && p->question.kind >= QUESTION_NAMES);

    if (status != STATUS_SUCCESS && !is_answer) {
        p->pdu.tapped.has_failed = true;
        show_node(p);
        expert_report_add(&p->pdu.report, p->node, EI_CALL_FAILED, "%s failed: %s", p->pdu.tapped.operation,
                          text_win32_error(p->pdu.pool, status));
    }
}

/* --- Opening and closing of keys --------------------------------------------------------------------------------- */

/* Reads a response of OpenHKPD or CloseKey. For rpc_pdu_read(). Changes: `opened`, the status. */
static void read_handle_and_status(void *pdu)
{
    hkpd_pdu *p = pdu;

    ndr_context_handle(&p->pdu.cursor, proto_registrar_get_id_byname("winreg.handle"), p->opened);
    rpc_pdu_read_status(&p->pdu, proto_registrar_get_id_byname("winreg.werror"));
}

/* Dissects the response of OpenPerformanceData, [MS-RRP] 3.1.5.3. Changes: a success begins a handle, on the first pass. */
static void open_key_response(hkpd_pdu *p)
{
    if (rpc_pdu_may_learn(&p->pdu) && p->pdu.tapped.status == STATUS_SUCCESS) {
        p->pdu.call->answering = handle_open(PERF_HANDLE_HKPD, p->pdu.server, p->opened, p->pdu.pinfo->num, NULL);
    }
    show_performance_key(p);
    report_failed(p);
}

/* Dissects the response of BaseRegCloseKey, [MS-RRP] 3.1.5.5. */
static void close_key_response(hkpd_pdu *p)
{
    rpc_pdu_close_handle(&p->pdu);
    show_performance_key(p);
}

/* --- Requests of QueryValue and EnumValue ------------------------------------------------------------------------- */

/* More objects find no room in the Info column, and each response to the question lists them. */
#define MAX_INFO_OBJECTS 300

/* Shows the handle and the name of the value that the call asks for; in the Info column the names of objects in place of their indexes. */
static void show_question(hkpd_pdu *p)
{
    const hkpd_question *question = &p->question;
    const char *indexes = question->text;
    uint32_t title;

    show_node(p);
    show_performance_key(p);
    if (question->name == NULL) {
        return;
    }
    proto_item_set_generated(proto_tree_add_string(p->node, hf_value_name, p->pdu.tvb, 0, 0, question->name));
    proto_item_append_text(p->node, ", %s", text_cut(p->pdu.pool, question->name, TEXT_SHORT));
    for (unsigned i = 0;
         i < MAX_INFO_OBJECTS && question->kind == QUESTION_INDEXES && read_title_index(&indexes, &title); i++) {
        const metadata_key key = metadata_title_key(title);
        const metadata_entry *name = metadata_lookup(p->pdu.server, key).name.entry;
        info_add_subject(&p->pdu, "%s", metadata_format_name(p->pdu.pool, &key, name));
    }
    if (question->kind != QUESTION_INDEXES) {
        info_add_subject(&p->pdu, "%s",
                         *question->name ? text_cut(p->pdu.pool, question->name, TEXT_SHORT) : "default value");
    }
}

/* Reads the parameters of a request. Changes: the call keeps its question and buffer size, on the first pass. */
static void read_question(void *pdu)
{
    hkpd_pdu *p = pdu;
    hkpd_call *call = p->call;

    read_request_handle(p);
    if (p->pdu.opnum == WINREG_ENUM_VALUE) {
        ndr_u32(&p->pdu.cursor, 0); /* number among the key's values */
    }
    const char *name = read_name(p);
    if (p->pdu.opnum == WINREG_QUERY_VALUE && p->pdu.first_time) {
        call->question = parse_value_name(wmem_file_scope(), name);
    }
    p->question = call->question;
    read_parameters(p);
    if (p->pdu.first_time) {
        call->rpc.request_read = true;
        call->room = p->value.tvb ? p->value.size : 0;
    }
}

/* Dissects a request of QueryValue or EnumValue. The stock function shows each byte of the client's buffer as an item, and in NDR64 that of
 * Wireshark 4.0 and 4.4 looks for the name in a wrong place: so QueryValue of performance data is shown here. */
static void value_request(hkpd_pdu *p)
{
    bool is_ours = rpc_pdu_get_handle(&p->pdu) != NULL;
    if (is_ours) {
        show_question(p);
        if (p->call->room > 0) {
            info_add_subject(&p->pdu, "buffer size: %s", text_counted(p->pdu.pool, p->call->room, "byte"));
        }
        rpc_pdu_report_closed_handle(&p->pdu, p->node);
    }
    is_ours = is_ours || (p->pdu.cursor.is_ndr64 && p->question.kind != QUESTION_OTHER);
    if (is_ours && !p->pdu.is_short && p->pdu.opnum == WINREG_QUERY_VALUE) {
        read_aloud(p, read_question);
    }
}

/* --- Responses of QueryValue and EnumValue ------------------------------------------------------------------------ */

/* Reads a response of QueryValue or EnumValue. For rpc_pdu_read(). Changes: `value`, the status; of EnumValue the question. */
static void read_answer(void *pdu)
{
    hkpd_pdu *p = pdu;

    if (p->pdu.opnum == WINREG_ENUM_VALUE) {
        p->question = parse_value_name(p->pdu.pool, read_name(p));
    }
    read_parameters(p);
    rpc_pdu_read_status(&p->pdu, proto_registrar_get_id_byname("winreg.werror"));
}

/* True for a list of titles that is whole, with one title at least. */
static bool is_sound_list(tvbuff_t *tvb)
{
    hkpd_title_list list = {.tvb = tvb};

    while (!list.is_damaged && hkpd_next_title(&list)) {
    }
    return list.titles > 0 && !list.is_damaged;
}

/* True if the data begins with "PERF" in UTF-16 of either byte order. */
static bool has_signature(tvbuff_t *tvb)
{
    return tvb_memeql(tvb, 0, (const uint8_t *)"P\0E\0R\0F", PERF_SIGNATURE_SIZE) == 0 ||
           tvb_memeql(tvb, 0, (const uint8_t *)"\0P\0E\0R\0F", PERF_SIGNATURE_SIZE) == 0;
}

/* Returns the content of a response, by the value's name and not by its type. On a handle of performance data it need not be well-formed,
 * on any other it has to be. With ERROR_MORE_DATA only a bare header is a block: other bytes may be anything. */
static answer_kind find_answer_kind(const hkpd_pdu *p)
{
    tvbuff_t *tvb = p->value.tvb;
    question_kind question = p->question.kind;
    bool is_ours = rpc_pdu_get_handle(&p->pdu);
    bool is_probe = p->pdu.tapped.status == STATUS_MORE_DATA;

    if (p->value.data_size == 0 || !(is_ours || question != QUESTION_OTHER)) {
        return ANSWER_OTHER;
    }
    if (question >= QUESTION_NAMES) {
        return !is_probe && (is_ours || is_sound_list(tvb)) ? ANSWER_TITLES : ANSWER_OTHER;
    }
    if (!has_signature(tvb)) {
        return ANSWER_OTHER;
    }
    if (is_ours && !is_probe) {
        return ANSWER_BLOCK;
    }
    const perf_table *table = sample_read_table(p->pdu.pool, /* is_block */ true, tvb);
    return table->is_sound && !(is_probe && table->num_groups > 0) ? ANSWER_BLOCK : ANSWER_OTHER;
}

/* --- Neither data nor titles ----------------------------------------------------------------------------------- */

/* Describes the response to a size probe in the Info column. Servers that do not know the size send none. */
static void describe_probe(hkpd_pdu *p)
{
    uint32_t size = p->pdu.tapped.rtn_size;

    info_add_subject(&p->pdu, "size probe: needs %s", size > 0 ? text_counted(p->pdu.pool, size, "byte") : "more");
}

/* Describes a response that the stock function shows: a size probe, a failure, or a success without performance data. */
static void describe_other(hkpd_pdu *p)
{
    if (rpc_pdu_get_handle(&p->pdu) == NULL) {
        return;
    }
    show_question(p);
    if (p->pdu.tapped.is_probe) {
        describe_probe(p);
    } else if (p->pdu.is_short || p->pdu.tapped.status != STATUS_SUCCESS) {
        report_failed(p);
    } else if (p->value.data_size > 0) {
        expert_report_add(&p->pdu.report, p->node, EI_NOT_PERFORMANCE_DATA,
                          "The call succeeded, but its %u bytes are no PERF_DATA_BLOCK", p->value.data_size);
        info_add_subject(&p->pdu, "no PERF_DATA_BLOCK");
    } else {
        expert_report_add(&p->pdu.report, p->node, EI_NO_DATA,
                          "The call succeeded with room for %u bytes, but there is no data", p->call->room);
        info_add_subject(&p->pdu, "no data");
    }
}

/* --- Performance data ------------------------------------------------------------------------------------------ */

/* Returns the name of an object: "Processor (238)", or "#238" if its title is not known. */
static const char *format_object_name(const hkpd_pdu *p, uint32_t title)
{
    const metadata_key key = metadata_title_key(title);
    const metadata_entry *title_name = metadata_lookup(p->pdu.server, key).name.entry;
    const char *label = metadata_format_name(p->pdu.pool, &key, title_name);

    return title_name ? wmem_strdup_printf(p->pdu.pool, "%s (%u)", label, title) : label;
}

/* Finds the objects that were asked for by index and are absent in a well-formed sample, for the listeners. Reports those that are newly absent, or
 * there again, since the sample before. */
static void report_objects(hkpd_pdu *p)
{
    call_tap_data *tapped = &p->pdu.tapped;
    state_sample *previous = p->pdu.answer.sample->previous;
    perf_table *table = p->pdu.answer.table;
    perf_table *before = previous ? sample_get_table(previous, p->pdu.pool) : NULL;
    wmem_array_t *missing = wmem_array_new(p->pdu.pool, sizeof(const char *));
    const char *indexes = p->question.text;
    uint32_t title;

    while (table->is_sound && p->question.kind == QUESTION_INDEXES && read_title_index(&indexes, &title)) {
        bool was_there = before == NULL || !before->is_sound || perf_table_find_objects(before, title)->count > 0;
        bool is_there = perf_table_find_objects(table, title)->count > 0;
        const char *name = is_there && was_there ? NULL : format_object_name(p, title);
        if (!is_there) {
            wmem_array_append_one(missing, name);
        }
        if (is_there != was_there) {
            expert_report_add(&p->pdu.report, p->node, EI_NOT_DELIVERED, "%s: %s",
                              is_there ? "Delivered again" : "Not delivered", name);
        }
    }
    tapped->missing_objects = wmem_array_get_raw(missing);
    tapped->num_missing_objects = wmem_array_get_count(missing);
}

/* Learns the types of the counters of sound objects, but not of counters that an object has twice. */
static void learn_definitions(hkpd_pdu *p, const state_sample *sample)
{
    perf_table *table = sample->table;

    for (perf_group *group = table->groups; group < table->groups + table->num_groups; group++) {
        for (uint32_t i = 0; group->is_sound && i < group->columns; i++) {
            const perf_column *column = perf_table_column(table, group, i);
            if (perf_table_find_column(table, group, column->id, perf_column_is_base(column)) == i) {
                metadata_learn_definition(p->pdu.server, group->key, column->id, perf_column_is_base(column),
                                          column->type, p->pdu.pinfo->num);
            }
        }
    }
}

/* Learns types from a new sample. */
static void hkpd_learn_sample(hkpd_pdu *p, const state_sample *sample)
{
    p->pdu.server->is_no_windows |= sample->table->is_samba;
    learn_definitions(p, sample);
}

/* Learns the computer's name, in the form that paths have it: for its address and for the handle, the first one each; reports another one. */
static void learn_system_name(hkpd_pdu *p)
{
    state_handle *handle = rpc_pdu_get_handle(&p->pdu);
    state_server *server = p->pdu.server;
    const char *name = hkpd_computer_name(p->pdu.pool, &p->pdu.answer);

    if (name && rpc_pdu_may_learn(&p->pdu)) {
        server_learn_name(server, name);
        if (handle && handle->machine == NULL) {
            handle->machine = wmem_strdup(wmem_file_scope(), name);
        }
    }
    if (name && server->computer_name && !server_is_named(server, name)) {
        expert_report_add(&p->pdu.report, p->node, EI_SYSTEMS,
                          "SystemName is %s, but this address was %s before (several computers share it)", name,
                          server->computer_name);
    }
}

/* Dissects a response whose data is a PERF_DATA_BLOCK: keeps that of a success as a sample, learns types and computer name, shows it, and gives
 * values to listeners, none of a size probe. Needs: value.tvb; the kind of the answer is known. */
static void read_block_answer(hkpd_pdu *p)
{
    counter_response *response = &p->pdu.answer;
    bool is_success = p->pdu.tapped.status == STATUS_SUCCESS;

    const char *question = p->question.text ? p->question.text : "";
    tvbuff_t *tvb = tree_own_source(p->pdu.pinfo, p->value.tvb, "Performance data");
    const state_sample *sample =
        rpc_pdu_read_response(&p->pdu, &hkpd_value_ops, rpc_pdu_get_handle(&p->pdu), question, tvb);
    if (sample) {
        hkpd_learn_sample(p, sample);
    }
    learn_system_name(p);
    const perf_table *table = response->table;
    value_tree_show(p->node, &p->pdu.report, response, &hkpd_tree_ops);
    if (p->pdu.tapped.is_probe) {
        describe_probe(p);
        return;
    }
    if (response->sample && response->sample->frame == p->call->rpc.response_frame) { /* else it repeats that */
        report_objects(p);
    }
    rpc_pdu_report_response(&p->pdu, NULL);
    /* MetadataGlobal, for instance, only describes */
    bool has_values = table->num_faults > 0 || table->values > 0 || table->num_groups == 0;
    if (is_success && has_values) {
        p->pdu.tapped.answer = response;
        p->pdu.tapped.counters = table->num_columns;
        for (uint32_t i = 0; i < table->num_faults; i++) { /* other faults damage the report */
            p->pdu.tapped.is_damaged |= table->faults[i].kind == PERF_FAULT_OFFSET;
        }
    }
}

/* --- Titles ---------------------------------------------------------------------------------------------------- */

/* Learns the names of a list. The language is that of the value's name, else it is unknown: 0. */
static void learn_titles(hkpd_pdu *p)
{
    hkpd_title_list list = {.tvb = p->value.tvb};
    uint32_t lcid = p->question.language;

    while (hkpd_next_title(&list)) {
        if (!list.is_title) {
            continue;
        }
        const char *name = text_get(p->pdu.pool, list.tvb, list.text, list.end - 2 - list.text, TEXT_CODE_PAGE_UTF16,
                                    ENC_LITTLE_ENDIAN, TEXT_NAME_MAX);
        const metadata_entry title = {.name = name, .lcid = lcid, .is_assumed = list.is_assumed};
        if (list.index > 1 && *name) { /* the text of index 1 is the highest index */
            metadata_learn(p->pdu.server, metadata_title_key(list.index), metadata_name_kind(lcid), &title,
                           p->pdu.pinfo->num);
        }
    }
}

/* Learns and shows a list of titles. Help texts are no names. */
static void read_titles_answer(hkpd_pdu *p)
{
    tvbuff_t *tvb = tree_own_source(p->pdu.pinfo, p->value.tvb, "Performance data");

    if (rpc_pdu_may_learn(&p->pdu) && p->question.kind == QUESTION_NAMES) {
        learn_titles(p);
    }
    const hkpd_title_list list = hkpd_show_titles(tvb, p->node, &p->pdu.report);
    info_add_detail(&p->pdu, "%s, %s", text_counted(p->pdu.pool, list.titles, "title"),
                    text_counted(p->pdu.pool, p->value.data_size, "byte"));
}

/* --- The response ---------------------------------------------------------------------------------------------- */

/* Sets the sizes that listeners get. Without a buffer a success answers a size probe, too. Servers that do not know the size that is
 * needed send the buffer's, that of a header alone, or 0. */
static void set_tap_sizes(hkpd_pdu *p)
{
    call_tap_data *tapped = &p->pdu.tapped;
    uint32_t room = p->call->room;
    bool is_success = tapped->status == STATUS_SUCCESS, is_more = tapped->status == STATUS_MORE_DATA;
    bool is_unknown = is_more && (p->kind == ANSWER_BLOCK || p->value.size <= room);

    tapped->rtn_size = is_unknown ? 0 : p->value.size;
    tapped->out_size = is_success ? p->value.data_size : 0;
    tapped->is_probe = !p->pdu.is_short && (is_more || (is_success && room == 0 && tapped->out_size == 0));
}

/* Dissects a response of QueryValue or EnumValue: performance data is shown here; anything else is described beside what the stock function shows. */
static void value_response(hkpd_pdu *p)
{
    p->kind = find_answer_kind(p);
    if (p->kind == ANSWER_BLOCK && p->pdu.first_time && !handle_is_null(p->call->handle)) {
        rpc_pdu_confirm_handle(&p->pdu, PERF_HANDLE_HKPD, p->call->handle);
    }
    set_tap_sizes(p);
    if (p->kind == ANSWER_OTHER) {
        describe_other(p);
        return;
    }
    show_question(p);
    read_aloud(p, read_answer);
    if (!p->pdu.tapped.is_probe) {
        rpc_pdu_report_status(&p->pdu, p->pdu.tapped.status);
    }
    if (p->kind == ANSWER_BLOCK) {
        read_block_answer(p);
    } else {
        read_titles_answer(p);
    }
}

/* --- The protocol ------------------------------------------------------------------------------------------------- */

static ws_pref_bool pref_decode = true;

/* The operations of winreg that are looked at, by their names in the stock dissector. */
static const rpc_operation operations[] = {
    {WINREG_OPEN_HKPD, "OpenHKPD", RPC_OPENS},
    {WINREG_CLOSE_KEY, "CloseKey", RPC_CLOSES},
    {WINREG_ENUM_VALUE, "EnumValue", RPC_USES},
    {WINREG_QUERY_VALUE, "QueryValue", RPC_USES | RPC_RETURNS | RPC_SAMPLES},
    {0, NULL, 0},
};

/* Functions for a PDU: one reads its parameters silently, as far as they matter here, one dissects it then. */
typedef struct {
    void (*read)(void *pdu); /* NULL: the PDU says nothing */
    void (*dissect)(hkpd_pdu *p);
} pdu_functions;

/* Functions for request and response of these operations, in the same order. */
static const pdu_functions functions_of[][2] = {
    {{NULL, NULL}, {read_handle_and_status, open_key_response}},
    {{read_request_handle, show_performance_key}, {read_handle_and_status, close_key_response}},
    {{read_question, value_request}, {read_answer, value_response}},
    {{read_question, value_request}, {read_answer, value_response}},
};

/* True unless the user disabled `hkpd.decode`, or one of both protocols. */
static bool is_active(void)
{
    return pref_decode && proto_is_protocol_enabled(find_protocol_by_id(proto_hkpd)) &&
           proto_is_protocol_enabled(find_protocol_by_id(proto_get_id_by_filter_name("winreg")));
}

/* Hands a PDU about performance data to the listeners, and adds it to its series' timing. A response to a question for data that brings bytes and no
 * data is damaged to them. Changes: names the call's operation, by which transport.c knows it, also without listeners. */
static void hkpd_tap_pdu(hkpd_pdu *p)
{
    call_tap_data *tapped = &p->pdu.tapped;
    state_handle *handle = rpc_pdu_get_handle(&p->pdu);
    question_kind kind = p->question.kind;
    bool opens = p->pdu.opnum == WINREG_OPEN_HKPD;

    if (handle) {
        p->pdu.call->operation = tapped->operation;
    }
    if (handle == NULL && !tapped->has_failed && !(p->pdu.is_request && opens)) {
        return;
    }
    if (p->call->question.text) {
        rpc_pdu_add_timing(&p->pdu, handle, p->call->question.text);
    }
    if (!call_tap_is_wanted()) {
        return;
    }
    tapped->is_hkpd = true;
    tapped->asks_titles = kind >= QUESTION_NAMES;
    bool asks_for_data = kind == QUESTION_INDEXES || kind == QUESTION_OBJECTS;
    bool only_describes = p->kind == ANSWER_BLOCK && tapped->answer == NULL && tapped->out_size > 0;
    tapped->brings_data = handle && asks_for_data && !only_describes;
    tapped->is_damaged |= tapped->brings_data && tapped->answer == NULL && tapped->out_size > 0;
    tapped->subject = p->call->question.name;
    tapped->subject_size = tapped->subject ? (uint32_t)strlen(tapped->subject) : 0;
    rpc_pdu_tap(&p->pdu, handle);
}

/* Shows a PDU that was read, and hands it to the tap, also if the stock function throws at its end. Returns the stub's length. */
static int show_pdu(hkpd_pdu *p, const pdu_functions *functions, packet_info *pinfo)
{
    volatile int length = 0;

    TRY
    {
        if (functions->read) {
            rpc_pdu_read(&p->pdu, functions->read, p);
            p->pdu.report.pinfo = pinfo; /* findings are reported from here on */
            functions->dissect(p);
        }
        length = end_pdu(p);
    }
    FINALLY
    {
        col_set_writable(pinfo->cinfo, COL_INFO, p->pdu.has_column);
        p->pdu.report.damaged |= length == 0; /* the stock function threw */
        hkpd_tap_pdu(p);
    }
    ENDTRY;
    return length;
}

/* Dissects a PDU of a hooked operation: reads it silently, and shows it here or by the stock function. Returns the stub's length. */
static int hkpd_dissect_pdu(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                            uint8_t *drep)
{
    const rpc_operation *operation = rpc_find_operation(RPC_WINREG, di->call_data->opnum);
    hkpd_pdu p;

    DISSECTOR_ASSERT(operation); /* no other is hooked */
    if (!is_active() || rpc_is_connectionless(di)) {
        return dissect_stock(tvb, offset, pinfo, tree, di, drep);
    }
    memset(&p, 0, sizeof p);
    rpc_pdu_begin(&p.pdu, &fields, operation->name, tvb, offset, pinfo, tree, di, drep);
    p.call = (hkpd_call *)p.pdu.call;
    p.question = p.call->question;
    const pdu_functions *functions = &functions_of[operation - operations][p.pdu.is_request ? 0 : 1];
    /* the stock function would show a garbled response as if it were true */
    if (!p.pdu.is_request && rpc_pdu_get_handle(&p.pdu) &&
        rpc_pdu_report_garbled(&p.pdu, functions->read == read_answer)) {
        call_tap_queue(pinfo, &(call_tap_data){.unread = UNREAD_GARBLED});
        return rpc_pdu_end(&p.pdu, NULL);
    }
    rpc_pdu_read_stub(&p.pdu, /* is_aloud */ false);
    return show_pdu(&p, functions, pinfo);
}

/* --- Registration ---------------------------------------------------------------------------------------------- */

void proto_register_hkpd(void)
{
    static hf_register_info hf[] = {
        FIELD_BYTES(hf_sent_data, "Data sent", "hkpd.sent_data", "The client's buffer in a request"),
        FIELD_TEXT(hf_value_name, "Value name", "hkpd.value_name", "Asked for: objects, or titles in a language"),
    };
    static int *ett[] = {&ett_hkpd};

    proto_hkpd =
        proto_register_protocol("Performance Data of the Remote Registry (HKEY_PERFORMANCE_DATA)", "HKPD", "hkpd");
    proto_register_field_array(proto_hkpd, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    rpc_protocol_register(proto_hkpd, "hkpd", "handle.number", &fields);
    expert_info_register(proto_hkpd, /* is_block */ true);
    hkpd_buffers_register(proto_hkpd);
    module_t *module = prefs_register_protocol(proto_hkpd, NULL);
    prefs_register_bool_preference(module, "decode", "Decode performance data in the remote registry",
                                   "Whether HKEY_PERFORMANCE_DATA is dissected as performance data. If disabled, "
                                   "Wireshark's WINREG dissector shows its bytes.",
                                   &pref_decode);
}

/* Puts a copy in the place of the stock table of operations, which is constant: some of its entries are replaced. */
void proto_reg_handoff_hkpd(void)
{
    guid_key key = {uuid_winreg, WINREG_VERSION};
    dcerpc_uuid_value *winreg = g_hash_table_lookup(dcerpc_uuids, &key);
    unsigned count = 0;

    rpc_watch_interface(RPC_WINREG, &(rpc_watched_interface){&uuid_winreg, is_active, operations});
    while (winreg->procs[count].name) {
        count++;
    }
    dcerpc_sub_dissector *table = wmem_memdup(wmem_epan_scope(), winreg->procs, (count + 1) * sizeof *table);
    for (dcerpc_sub_dissector *entry = table; entry->name; entry++) {
        const rpc_operation *ours = rpc_find_operation(RPC_WINREG, entry->num);
        if (ours) {
            stock[entry->num] = *entry;
            entry->dissect_rqst = entry->dissect_resp = hkpd_dissect_pdu;
        }
    }
    winreg->procs = table;
}
