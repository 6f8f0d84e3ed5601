/* packet-pcq.c
 * Performance Counter Query Protocol [MS-PCQ]: the DCE/RPC interface PerflibV2.
 *
 * The table of its eight operations, and the way of a PDU: begin, noise or not, the operation's own function, end. What
 * an operation says is read in pcq-browse.c (0 to 2) and pcq-query.c (3 to 7). Learned is only what stood in a stub that
 * was read to its end, adds up, and is seen for the first time.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "packet-pcq.h"

#include "taps/calls-tree.h"
#include "taps/export.h"
#include "taps/graph-menu.h"
#include "taps/export-objects.h"
#include "names/names-file.h"
#include "taps/statistics.h"
#include "pcq-browse.h"
#include "pcq/pcq-data.h"
#include "pcq/pcq-fields.h"
#include "pcq-query.h"
#include "readings/graph.h"
#include "dcerpc/sealed.h"
#include "text/value-strings.h"

/* PerflibV2, da5a86c5-12c2-4943-ab30-7f74a813d853 version 1.0 ([MS-PCQ] 1.9) */
static e_guid_t uuid_perflibv2 = {0xda5a86c5, 0x12c2, 0x4943, {0xab, 0x30, 0x7f, 0x74, 0xa8, 0x13, 0xd8, 0x53}};
#define PERFLIBV2_VERSION 1

static int proto_pcq = -1;
static int hf_opnum = -1;
static int ett_pcq = -1;

static unsigned pref_sample_limit = 1024;
static const char *pref_names_file = "";
static const char *pref_graph = "";

/* X(opnum, name, functions, parameters of request and response as in dcerpc/noise.h, largest count that makes sense).
 * GUIDs are counted in EnumerateCounterSet, bytes elsewhere. */
#define PCQ_OPERATIONS(X) \
    X(0, EnumerateCounterSet, enumerate, "WS", "SSgR", 0xFFFF) \
    X(1, QueryCounterSetRegistrationInfo, registration, "WGCLS", "SSVR", 134217728) \
    X(2, EnumerateCounterSetInstances, instances, "WGS", "SSVR", 67108864) \
    X(3, OpenQueryHandle, open, "W", "HR", 0) \
    X(4, CloseQueryHandle, close, "H", "HR", 0) \
    X(5, QueryCounterInfo, info, "HS", "SSVR", PCQ_MAX_INFO) \
    X(6, QueryCounterData, data, "HS", "SSVR", PCQ_MAX_DATA) \
    X(7, ValidateCounters, validate, "HSAC", "AR", PCQ_MAX_INFO)

typedef struct {
    void (*request)(pcq_pdu *p);
    void (*response)(pcq_pdu *p);
    const char *request_shape;
    const char *response_shape;
    uint64_t largest;
} operation;

#define OPERATION_ROW(opnum, name, functions, request_shape, response_shape, largest) \
    {pcq_##functions##_request, pcq_##functions##_response, request_shape, response_shape, largest},
static const operation operations[] = {PCQ_OPERATIONS(OPERATION_ROW)};

#define OPNUM_STRING(opnum, name, ...) {opnum, #name},
static const value_string opnum_vals[] = {PCQ_OPERATIONS(OPNUM_STRING){0, NULL}};

#define OPNUM_ENUM(opnum, name, ...) OPNUM_##name = opnum,
enum { PCQ_OPERATIONS(OPNUM_ENUM) NUM_OPNUMS };

/* What makes another call the same: a handle or a registration, beside server and operation. */
static void tell_subject(pcq_pdu *p, const perf_handle *handle)
{
    pcq_record *record = p->record;

    if (handle) {
        p->tapped.subject = handle->bytes;
        p->tapped.subject_size = sizeof handle->bytes;
    } else {
        char *text = wmem_strdup_printf(pcq_pool(p), "%s %u", perf_guid_text(pcq_pool(p), record->guid), record->lcid);
        p->tapped.subject = text;
        p->tapped.subject_size = (uint32_t)strlen(text);
    }
}

static void tap_pdu(pcq_pdu *p, uint16_t opnum)
{
    const perf_call *call = &p->call;
    perf_tapped *tapped = &p->tapped;
    const perf_handle *handle = call->record->answering ? call->record->answering : call->record->handle;

    if (call->is_noise || !perf_tap_wanted()) {
        return;
    }
    tapped->operation = opnum_vals[opnum].strptr;
    tapped->is_response = !perf_call_is_request(call);
    tapped->is_repeated =
        tapped->is_response && call->record->response_frame != 0 && call->record->response_frame != call->pinfo->num;
    if (opnum == OPNUM_QueryCounterSetRegistrationInfo && pcq_request_read(p)) {
        tapped->kind = pcq_request_code_name(p);
    }
    tapped->in_size = p->record->in_size;
    tapped->adds = p->record->add;
    tapped->event = call->event;
    tapped->server = call->server;
    tapped->handle = handle;
    tell_subject(p, handle);
    perf_tap(call->pinfo, tapped);
}

static int dissect_pdu(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di, uint8_t *drep)
{
    const operation *op = &operations[di->call_data->opnum];
    pcq_pdu p;

    pcq_begin(&p, tvb, offset, pinfo, tree, di, drep);
    bool is_request = perf_call_is_request(&p.call);
    if (!perf_call_is_noise(&p.call, is_request ? op->request_shape : op->response_shape, op->largest)) {
        (is_request ? op->request : op->response)(&p);
    } else if (!is_request && di->call_data->opnum == OPNUM_ValidateCounters) {
        pcq_validate_unknown(&p);
    }
    tap_pdu(&p, di->call_data->opnum);
    return perf_call_end(&p.call, proto_tree_get_parent(tree));
}

#define DCERPC_ROW(opnum, name, ...) {opnum, #name, dissect_pdu, dissect_pdu},
static ws_dcerpc_table dcerpc_table[] = {PCQ_OPERATIONS(DCERPC_ROW){0, NULL, NULL, NULL}};

/* --- Registration ---------------------------------------------------------------------------------------------- */

static void apply_preferences(void)
{
    perf_sample_limit((uint64_t)pref_sample_limit << 20);
    names_file_choose(pref_names_file);
    graph_choose(pref_graph);
}

static void register_preferences(void)
{
    module_t *module = prefs_register_protocol(proto_pcq, apply_preferences);

    prefs_register_uint_preference(module, "sample_limit", "Memory for samples (MiB)",
                                   "Counter data is kept to calculate values from two samples. Beyond this the oldest "
                                   "are dropped.",
                                   10, &pref_sample_limit);
    prefs_register_filename_preference(module, "names_file", "Names file",
                                       "Names and types that other captures taught, written with "
                                       "\"tshark -z pcq,names,FILE\", a provider's manifest (.man), or a folder of "
                                       "both. If none is given, \"pcq_names\" in the profile's or the personal "
                                       "configuration folder is read.",
                                       &pref_names_file, FALSE);
    prefs_register_string_preference(module, "graph", "Counters for the I/O graph",
                                     "Paths, with * for any text and ; between several: the results of these counters "
                                     "are in pcq.graph and hkpd.graph too, where an I/O graph finds nothing else. "
                                     "\"\\Processor(*)\\% Processor Time\" is that counter of every machine.",
                                     &pref_graph);
    apply_preferences();
}

/* A Wireshark that brings this dissector itself keeps it. */
static bool is_taken(void)
{
    return proto_get_id_by_filter_name("pcq") != -1;
}

static void register_fields(void)
{
    static hf_register_info hf[] = {
        {&hf_opnum,
         {"Operation", "pcq.opnum", FT_UINT16, BASE_DEC, VALS(opnum_vals), 0, "Operation of PerflibV2, 0 to 7", HFILL}},
    };
    static int *ett[] = {&ett_pcq};

    proto_register_field_array(proto_pcq, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}

void proto_register_pcq(void)
{
    if (is_taken()) {
        return;
    }
    perf_strings_init();
    proto_pcq = proto_register_protocol("Performance Counter Query Protocol", "PCQ", "pcq");
    register_fields();
    pcq_call_register(proto_pcq);
    pcq_browse_register(proto_pcq);
    pcq_query_register(proto_pcq);
    pcq_fields_register(proto_pcq);
    pcq_buffers_register(proto_pcq);
    pcq_data_register(proto_pcq);
    sealed_register(proto_pcq);
    perf_state_register();
    names_file_register();
    perf_tap_register();
    csv_export_register();
    long_export_register();
    export_objects_register(proto_pcq);
    export_names_register();
    counters_table_register();
    queries_table_register();
    graph_menu_register(proto_pcq);
    register_preferences();
}

void proto_reg_handoff_pcq(void)
{
    if (proto_pcq != -1) {
        calls_tree_register();
        dcerpc_init_uuid(proto_pcq, ett_pcq, &uuid_perflibv2, PERFLIBV2_VERSION, dcerpc_table, hf_opnum);
        sealed_watch_perflib(&uuid_perflibv2, PERFLIBV2_VERSION);
    }
}
