/* hkpd-call.c
 * What the calls of the registry have in common where performance data may be behind them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/hkpd-call.h"

#include "hkpd/winreg-hook.h"

static int proto_hkpd = -1;

static int hf_key = -1;
static int hf_value_type = -1;
static int hf_sent_data = -1;

static int ett_hkpd = -1;

/* Fields of the stock dissector. */
static int hf_winreg_value_name = -1;
static int hf_winreg_data_size = -1;
static int hf_winreg_data_length = -1;
static int hf_winreg_status = -1;

static perf_call_fields fields = {.handle_label = "Handle", .handle_word = "handle"};

static const value_string value_type_vals[] = {
    {0, "REG_NONE"},  {1, "REG_SZ"},       {2, "REG_EXPAND_SZ"}, {3, "REG_BINARY"},
    {4, "REG_DWORD"}, {7, "REG_MULTI_SZ"}, {11, "REG_QWORD"},    {0, NULL},
};

/* --- A PDU's beginning and end --------------------------------------------------------------------------------- */

void hkpd_begin(hkpd_pdu *p, tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                uint8_t *drep)
{
    p->hkpd = NULL;
    p->item = NULL;
    memset(&p->tapped, 0, sizeof p->tapped);
    perf_call_init(&p->call, &fields, tvb, offset, pinfo, tree, di, drep);
    perf_call_begin(&p->call, sizeof(hkpd_record));
    p->record = (hkpd_record *)p->call.record;
    perf_call_silently(&p->call);
}

wmem_allocator_t *hkpd_pool(const hkpd_pdu *p)
{
    return p->call.pinfo->pool;
}

uint16_t hkpd_opnum(const hkpd_pdu *p)
{
    return p->call.di->call_data->opnum;
}

int hkpd_call_stock(hkpd_pdu *p)
{
    const perf_call *call = &p->call;

    return winreg_stock(call->tvb, call->offset, call->pinfo, call->tree, call->di, call->drep);
}

void hkpd_call_stock_until(hkpd_pdu *p, uint32_t end)
{
    const perf_call *call = &p->call;

    winreg_stock_until(end, call->tvb, call->offset, call->pinfo, call->tree, call->di, call->drep);
}

/* What was read silently may have failed: the stock function says so itself. */
int hkpd_end_with_stock(hkpd_pdu *p)
{
    p->call.report.damaged = false;
    p->call.ndr.reader.failed = false;
    perf_call_end(&p->call, p->item);
    return hkpd_call_stock(p);
}

int hkpd_end(hkpd_pdu *p)
{
    perf_call_end_stub(&p->call);
    return perf_call_end(&p->call, p->item);
}

/* --- Handles --------------------------------------------------------------------------------------------------- */

hkpd_key *hkpd_key_of(const perf_handle *handle)
{
    return handle ? handle->key : NULL;
}

bool hkpd_is_shown(const perf_handle *handle)
{
    const hkpd_key *key = hkpd_key_of(handle);

    return key && key->kind <= HKPD_KEY_NLS_TEXT;
}

perf_handle *hkpd_known_handle(const hkpd_pdu *p)
{
    perf_handle *handle = p->call.record->handle;

    return handle && handle->begin <= p->call.event ? handle : NULL;
}

perf_handle *hkpd_find_open(hkpd_pdu *p, const uint8_t *bytes)
{
    perf_handle *handle = perf_handle_find(PERF_HANDLE_HKPD, p->call.server, bytes, p->call.event);

    return handle && p->call.event <= handle->end ? handle : NULL;
}

perf_handle *hkpd_open_handle(hkpd_pdu *p, const uint8_t *bytes, uint32_t begin, uint32_t frame, hkpd_key_kind kind,
                              uint32_t language)
{
    perf_handle *handle = perf_call_open_handle(&p->call, PERF_HANDLE_HKPD, bytes, begin, frame, NULL);

    handle->key = wmem_new0(wmem_file_scope(), hkpd_key);
    handle->key->kind = kind;
    handle->key->language = language;
    perf_handle_confirm(handle);
    return handle;
}

void hkpd_open_other(hkpd_pdu *p, const uint8_t *bytes)
{
    perf_call_open_handle(&p->call, PERF_HANDLE_OTHER_KEY, bytes, p->call.event, p->call.pinfo->num, NULL);
}

void hkpd_read_handle(hkpd_pdu *p, uint8_t bytes[PERF_HANDLE_SIZE])
{
    ndr_context_handle(&p->call.ndr, fields.handle, bytes);
}

void hkpd_read_asked_handle(hkpd_pdu *p)
{
    uint8_t bytes[PERF_HANDLE_SIZE];

    hkpd_read_handle(p, bytes);
    if (p->call.first_time && !p->call.ndr.reader.failed) {
        p->record->handle_read = true;
        memcpy(p->record->handle_bytes, bytes, sizeof bytes);
        p->call.record->handle = hkpd_find_open(p, bytes);
    }
}

int hkpd_handle_offset(const hkpd_pdu *p)
{
    return (p->call.offset + 3) & ~3;
}

void hkpd_show_node(hkpd_pdu *p)
{
    if (p->hkpd == NULL) {
        p->item = proto_tree_add_item(proto_tree_get_root(p->call.tree), proto_hkpd, p->call.tvb, 0, -1, ENC_NA);
        p->hkpd = proto_item_add_subtree(p->item, ett_hkpd);
    }
}

/* "HKEY_PERFORMANCE_DATA", "Perflib\009". */
static const char *key_text(const hkpd_pdu *p, const hkpd_key *key)
{
#define KEY_TEXT(key, text) text,
    static const char *const texts[HKPD_NUM_KEYS] = {HKPD_KEYS(KEY_TEXT)};

    return key->kind == HKPD_KEY_LANGUAGE ? wmem_strdup_printf(hkpd_pool(p), "%s%03X", texts[key->kind], key->language)
                                          : texts[key->kind];
}

void hkpd_show_handle(hkpd_pdu *p, const perf_handle *handle, int offset)
{
    const hkpd_key *key = hkpd_key_of(handle);

    if (key == NULL) {
        return;
    }
    perf_call_show_number(&p->call, p->hkpd, handle);
    if (p->hkpd == NULL) {
        return;
    }
    proto_item *item =
        proto_tree_add_bytes_with_length(p->hkpd, fields.handle, p->call.tvb, offset < 0 ? 0 : offset,
                                         offset < 0 ? 0 : PERF_HANDLE_SIZE, handle->bytes, PERF_HANDLE_SIZE);
    if (offset < 0) {
        proto_item_set_generated(item);
    }
    proto_tree *tree = perf_call_show_life(&p->call, item, handle);
    proto_item_append_text(item, " (%s)", key_text(p, key));
    add_generated_string(tree, hf_key, p->call.tvb, key_text(p, key));
}

/* --- Parameters ------------------------------------------------------------------------------------------------ */

uint32_t hkpd_read_status(hkpd_pdu *p)
{
    p->tapped.status = ndr_u32(&p->call.ndr, hf_winreg_status);
    p->tapped.has_status = !p->call.ndr.reader.failed;
    return p->tapped.status;
}

static const char *read_pointed_name(hkpd_pdu *p, int hf)
{
    perf_reader *reader = &p->call.ndr.reader;
    ndr_array array;

    ndr_varying_array(&p->call.ndr, &fields.ndr, "Name", &array);
    uint64_t size = 2 * array.actual_count;
    if (array.actual_count > UINT32_MAX / 2 || !reader_need(reader, size, "The name")) {
        return NULL;
    }
    const char *name = (const char *)tvb_get_string_enc(hkpd_pool(p), reader->tvb, reader->pos, (int)size,
                                                        ENC_UTF_16 | reader->encoding);
    if (hf > 0) {
        proto_tree_add_string(array.tree, hf, reader->tvb, reader->pos, (int)size, name);
        proto_item_append_text(array.node, ": %s", name);
        proto_item_set_len(array.node, (int)(reader->pos + size - array.start));
    }
    reader->pos += (uint32_t)size;
    return name;
}

const char *hkpd_read_name(hkpd_pdu *p, int hf)
{
    ndr_reader *ndr = &p->call.ndr;
    ndr_pointer pointer;

    ndr_align(ndr, ndr->ndr64 ? 8 : 4);
    reader_skip(&ndr->reader, 4);
    bool there = ndr_pointer_begin(ndr, &fields.ndr, "Name", &pointer);
    const char *name = there ? read_pointed_name(p, hf) : ndr->reader.failed ? NULL : "";
    ndr_pointer_end(ndr, &pointer);
    return name;
}

/* Returns the item; `there` says whether there is a number at all. */
static proto_item *read_pointed_u32(hkpd_pdu *p, const char *what, int hf, uint32_t *value, bool *there)
{
    ndr_reader *ndr = &p->call.ndr;
    ndr_pointer pointer;

    *value = 0;
    *there = ndr_pointer_begin(ndr, &fields.ndr, what, &pointer);
    if (*there) {
        *value = ndr_u32(ndr, hf);
        proto_item_append_text(pointer.node, ": %u", *value);
    }
    ndr_pointer_end(ndr, &pointer);
    return ndr->reader.item;
}

static void read_type(hkpd_pdu *p, hkpd_value_parameters *value)
{
    ndr_reader *ndr = &p->call.ndr;
    ndr_pointer pointer;

    if (ndr_pointer_begin(ndr, &fields.ndr, "Type", &pointer)) {
        value->type = ndr_u32(ndr, hf_value_type);
        proto_item_append_text(pointer.node, ": %s", val_to_str_const(value->type, value_type_vals, "unknown type"));
    }
    ndr_pointer_end(ndr, &pointer);
}

static void read_data(hkpd_pdu *p, hkpd_value_parameters *value)
{
    ndr_reader *ndr = &p->call.ndr;
    ndr_pointer pointer;
    ndr_array array;

    value->has_buffer = ndr_pointer_begin(ndr, &fields.ndr, "Data", &pointer);
    if (value->has_buffer) {
        ndr_varying_array(ndr, &fields.ndr, "Data", &array);
        value->data = ndr->reader.pos;
        value->tvb = ndr_elements(ndr, &array, 1);
        value->data_size = value->tvb ? tvb_captured_length(value->tvb) : 0;
        if (value->data_size == 0) {
            value->tvb = NULL;
        }
        if (pointer.node) {
            proto_item_append_text(pointer.node, ": %s", perf_counted(hkpd_pool(p), array.actual_count, "byte"));
        }
    }
    ndr_pointer_end(ndr, &pointer);
}

void hkpd_read_sizes(hkpd_pdu *p, hkpd_value_parameters *value)
{
    bool there;

    read_pointed_u32(p, "Data Size", hf_winreg_data_size, &value->size, &there);
    value->length_item = read_pointed_u32(p, "Data Length", hf_winreg_data_length, &value->length, &value->has_length);
}

void hkpd_read_value(hkpd_pdu *p, hkpd_value_parameters *value)
{
    memset(value, 0, sizeof *value);
    read_type(p, value);
    read_data(p, value);
    hkpd_read_sizes(p, value);
}

void hkpd_skip_pointed_u32(hkpd_pdu *p)
{
    uint32_t value;
    bool there;

    read_pointed_u32(p, "Number", hf_winreg_data_size, &value, &there);
}

void hkpd_show_sent_data(hkpd_pdu *p, const hkpd_value_parameters *value)
{
    proto_tree_add_item(p->call.tree, hf_sent_data, p->call.tvb, value->data, value->data_size, ENC_NA);
}

int hkpd_value_name_field(void)
{
    return hf_winreg_value_name;
}

/* --- Registration ---------------------------------------------------------------------------------------------- */

bool hkpd_call_find_stock_fields(void)
{
    hf_winreg_value_name = proto_registrar_get_id_byname("winreg.winreg_QueryValue.value_name");
    hf_winreg_data_size = proto_registrar_get_id_byname("winreg.winreg_QueryValue.data_size");
    hf_winreg_data_length = proto_registrar_get_id_byname("winreg.winreg_QueryValue.data_length");
    hf_winreg_status = proto_registrar_get_id_byname("winreg.werror");
    return hf_winreg_value_name != -1 && hf_winreg_data_size != -1 && hf_winreg_data_length != -1 &&
           hf_winreg_status != -1;
}

void hkpd_call_register(int proto)
{
    static hf_register_info hf[] = {
        {&hf_key, {"Key", "hkpd.key", FT_STRING, BASE_NONE, NULL, 0, "What the handle was opened as", HFILL}},
        {&hf_value_type,
         {"Value type", "hkpd.value_type", FT_UINT32, BASE_DEC, VALS(value_type_vals), 0,
          "REG_* type of the data, as the registry says it", HFILL}},
        {&hf_sent_data,
         {"Data sent", "hkpd.sent_data", FT_BYTES, BASE_NONE, NULL, 0,
          "The client's buffer as it is sent with a request: no performance data", HFILL}},
    };
    static int *ett[] = {&ett_hkpd};

    proto_hkpd = proto;
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    perf_call_fields_register(proto, "hkpd", "handle.number", &fields);
}
