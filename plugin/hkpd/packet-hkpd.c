/* packet-hkpd.c
 * HKEY_PERFORMANCE_DATA, the part of the remote registry ([MS-RRP]) that answers with performance counters.
 *
 * Wireshark's winreg dissector shows such an answer byte by byte and offers nothing to hang on to. So a few entries of
 * its table of operations are replaced (winreg-hook.c). Each looks at the stub and then calls the stock function, which
 * goes on showing all ordinary traffic; only an answer that holds a PERF_DATA_BLOCK or a list of titles is dissected here
 * instead.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/packet-hkpd.h"

#include "hkpd/hkpd-buffers.h"
#include "hkpd/hkpd-keys.h"
#include "hkpd/hkpd-query.h"
#include "hkpd/hkpd-titles.h"
#include "hkpd/winreg-hook.h"
#include "text/value-strings.h"

/* Largest size of a value ([MS-RRP] 3.1.5.17). */
#define MAX_VALUE 0x4000000

static int proto_hkpd = -1;

static ws_pref_bool pref_decode = true;

/* X(opnum, stock name, function for the request and for the response, parameters of the response as in dcerpc/noise.h) */
#define HKPD_OPERATIONS(X) \
    X(WINREG_OPEN_HKCR, "OpenHKCR", NULL, hkpd_open_other_response, "HR") \
    X(WINREG_OPEN_HKCU, "OpenHKCU", NULL, hkpd_open_other_response, "HR") \
    X(WINREG_OPEN_HKLM, "OpenHKLM", NULL, hkpd_open_other_response, "HR") \
    X(WINREG_OPEN_HKPD, "OpenHKPD", NULL, hkpd_open_data_response, "HR") \
    X(WINREG_OPEN_HKU, "OpenHKU", NULL, hkpd_open_other_response, "HR") \
    X(WINREG_CLOSE_KEY, "CloseKey", hkpd_close_key_request, hkpd_close_key_response, "HR") \
    X(WINREG_CREATE_KEY, "CreateKey", hkpd_open_key_request, hkpd_create_key_response, "HpLR") \
    X(WINREG_ENUM_VALUE, "EnumValue", hkpd_value_request, hkpd_value_response, "LpWpCpVpSpSR") \
    X(WINREG_OPEN_KEY, "OpenKey", hkpd_open_key_request, hkpd_open_key_response, "HR") \
    X(WINREG_QUERY_VALUE, "QueryValue", hkpd_value_request, hkpd_value_response, "pCpVpSpSR") \
    X(WINREG_OPEN_HKCC, "OpenHKCC", NULL, hkpd_open_other_response, "HR") \
    X(WINREG_OPEN_HKDD, "OpenHKDD", NULL, hkpd_open_other_response, "HR") \
    X(WINREG_OPEN_HKPT, "OpenHKPT", NULL, hkpd_open_text_response, "HR") \
    X(WINREG_OPEN_HKPN, "OpenHKPN", NULL, hkpd_open_nls_text_response, "HR")

typedef int (*pdu_function)(hkpd_pdu *p);

static const struct {
    uint16_t opnum;
    const char *name;
    pdu_function request;
    pdu_function response;
    const char *response_shape;
} operations[] = {
#define OPERATION_ROW(opnum, name, request, response, shape) {opnum, name, request, response, shape},
    HKPD_OPERATIONS(OPERATION_ROW)};

static bool is_active(void)
{
    return pref_decode && proto_is_protocol_enabled(find_protocol_by_id(proto_hkpd));
}

/* A response about performance data that was not decrypted: the stock function would show it as if it were true. */
static bool is_noise(hkpd_pdu *p, const char *shape)
{
    bool noise = !perf_call_is_request(&p->call) && hkpd_is_shown(p->call.record->handle) &&
                 perf_call_is_noise(&p->call, shape, MAX_VALUE);

    if (!noise) {
        perf_call_silently(&p->call);
    }
    return noise;
}

/* What a value's name asks for, in words that are few. */
static const char *kind_of(const hkpd_record *record)
{
    uint32_t language;

    if (record->name == NULL) {
        return NULL;
    }
    if (hkpd_titles_of(record->name, &language) != HKPD_TITLES_NONE) {
        return "titles";
    }
    if (g_ascii_isdigit(*record->name)) {
        return "objects by their indexes";
    }
    return hkpd_is_performance_name(record->name) ? record->name : "other values";
}

static void tap_pdu(hkpd_pdu *p, unsigned operation)
{
    const perf_call_record *record = p->call.record;
    perf_tapped *tapped = &p->tapped;
    const perf_handle *handle = record->handle ? record->handle : record->answering;

    if (hkpd_key_of(handle) == NULL || !perf_tap_wanted()) {
        return;
    }
    tapped->is_hkpd = true;
    tapped->operation = operations[operation].name;
    tapped->is_response = !perf_call_is_request(&p->call);
    tapped->is_repeated =
        tapped->is_response && record->response_frame != 0 && record->response_frame != p->call.pinfo->num;
    tapped->kind = kind_of(p->record);
    tapped->in_size = p->record->room;
    tapped->event = p->call.event;
    tapped->server = p->call.server;
    tapped->handle = handle;
    tapped->subject = p->record->name;
    tapped->subject_size = p->record->name ? (uint32_t)strlen(p->record->name) : 0;
    perf_tap(p->call.pinfo, tapped);
}

static int dissect_pdu(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di, uint8_t *drep)
{
    hkpd_pdu p;
    unsigned i = 0;

    if (!is_active()) {
        return winreg_stock(tvb, offset, pinfo, tree, di, drep);
    }
    while (operations[i].opnum != di->call_data->opnum) {
        i++;
    }
    hkpd_begin(&p, tvb, offset, pinfo, tree, di, drep);
    if (is_noise(&p, operations[i].response_shape)) {
        return perf_call_end(&p.call, NULL);
    }
    int length = (perf_call_is_request(&p.call) ? operations[i].request : operations[i].response)(&p);
    tap_pdu(&p, i);
    return length;
}

/* Where no function is for the request the stock one stays. */
static void hook(void)
{
#define HOOK_ROW(opnum, name, request, response, shape) {opnum, name, dissect_pdu, dissect_pdu},
    static dcerpc_sub_dissector entries[] = {HKPD_OPERATIONS(HOOK_ROW)};

    for (unsigned i = 0; i < array_length(entries); i++) {
        if (operations[i].request == NULL) {
            entries[i].dissect_rqst = NULL;
        }
    }
    winreg_hook_install(entries, array_length(entries));
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
    hkpd_call_register(proto_hkpd);
    hkpd_query_register(proto_hkpd);
    hkpd_buffers_register(proto_hkpd);
    hkpd_titles_register(proto_hkpd);
    winreg_hook_register();
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

    if (!done && proto_hkpd != -1 && hkpd_call_find_stock_fields()) {
        done = true;
        hook();
    }
}
