/* findings.c
 * What can be wrong with a packet, and how it is reported.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/findings.h"

#include <epan/tap.h>

/* A damaged packet can have a fault in each of a million structures. Nobody reads more than these, and each costs
 * several items of the packet's tree. */
#define MAX_FINDINGS 100

typedef struct {
    const char *name;
    int group;
    int severity;
    bool damage;
    const char *summary;
} finding_info;

#define FINDING_ROW(id, name, group, severity, damage, summary) {name, group, severity, damage, summary},
static const finding_info finding_table[NUM_FINDINGS] = {FINDINGS(FINDING_ROW)};

/* What it means for a reader and what can be done: the description of the expert field, for docs/reference.md. */
static const char *const remedies[NUM_FINDINGS] = {
    [FINDING_STUB_SHORT] = "The sender's fault, or a stub that was decrypted wrongly; what comes before counts",
    [FINDING_CAPTURE_CUT] = "Capture whole packets (no snapshot length)",
    [FINDING_ARRAY_COUNTS] = "The sender's fault, or noise; look at the three counts of the array",
    [FINDING_TEXT] = "The sender's fault; the bytes are shown as far as they are text",
    [FINDING_TRAILING_BYTES] = "A newer version of the interface, or a sender's fault; see the bytes left over",
    [FINDING_IN_SIZE_RANGE] = "A real server refuses such a call; the client should ask for less",
    [FINDING_REQUEST_MISSING] = "Capture both directions from the start; what depends on the request is not shown",
    [FINDING_SECOND_RESPONSE] =
        "A packet captured twice (editcap -d), or a call id used again; nothing is learned from it",
    [FINDING_REQUEST_CODE] = "A newer version of the interface; the buffer is shown as bytes",
    [FINDING_NO_DATA] = "The server's fault: it had room and reported success; treat it as no answer",
    [FINDING_NOT_PERFORMANCE_DATA] = "The server's fault, or a value of an ordinary key; nothing is learned from it",
    [FINDING_LENGTH] = "The sender's fault: the data is read by what is there",
    [FINDING_HANDLE_NULL] = "The client uses a handle that it never got; look for the failed OpenQueryHandle",
    [FINDING_HANDLE_CLOSED] = "The client uses a handle after closing it; the close is linked under the handle",
    [FINDING_NUMBER] = "A newer version, or a sender's fault; everything else is read as usual",
    [FINDING_SIZE] = "The sender's fault, or noise; what comes after it may be read at the wrong place",
    [FINDING_COUNT] = "The sender's fault, or noise; what comes after it may be read at the wrong place",
    [FINDING_STRING_OFFSET] = "The sender's fault; that one name is missing",
    [FINDING_STRING_OFFSET_BASE] = "Nothing to do: both ways of counting are read",
    [FINDING_BLOCK_TYPE] = "A newer version of the interface, or noise; the block is shown as bytes",
    [FINDING_INDEX] = "The server's fault; blocks are matched to counters without it",
    [FINDING_TIME] = "The server's fault, or noise; the raw numbers are shown",
    [FINDING_STATUS] = "docs/symptoms.md says what each status means for the person who asked",
    [FINDING_COUNTER_REFERENCE] = "The provider registered the counter wrongly; it cannot be calculated",
    [FINDING_SCALE] = "The provider registered the counter wrongly; nothing is scaled here anyway",
    [FINDING_COUNTER_TYPE] = "The provider's own type: the raw value is shown",
    [FINDING_CODE_PAGE] = "Ask with Unicode names; unknown bytes are shown as they are",
    [FINDING_NOT_SHOWN] = "Raise gui.max_tree_items, or export: exports and statistics are complete",
    [FINDING_ORDER_ASSUMED] = "Capture from before the client adds counters, so that QueryCounterInfo is there",
    [FINDING_NOT_DECRYPTED] = "A packet was lost, or one frame holds several sealed PDUs: docs/decryption.md",
};

void findings_register(int proto, const char *prefix, findings_expert *expert)
{
    ei_register_info *info = wmem_alloc0_array(wmem_epan_scope(), ei_register_info, NUM_FINDINGS);

    for (int i = 0; i < NUM_FINDINGS; i++) {
        expert_field unregistered = EI_INIT;
        expert->fields[i] = unregistered;
        info[i].ids = &expert->fields[i];
        info[i].eiinfo.name = wmem_strconcat(wmem_epan_scope(), prefix, ".expert.", finding_table[i].name, NULL);
        info[i].eiinfo.group = finding_table[i].group;
        info[i].eiinfo.severity = finding_table[i].severity;
        info[i].eiinfo.summary = finding_table[i].summary;
        info[i].eiinfo.hf_info.hfinfo.blurb = remedies[i];
    }
    expert_register_field_array(expert_register_protocol(proto), info, NUM_FINDINGS);
}

void findings_begin(findings_report *report, packet_info *pinfo, const findings_expert *expert)
{
    memset(report, 0, sizeof *report);
    report->pinfo = pinfo;
    report->expert = expert;
}

static void add_finding(findings_report *report, proto_item *item, finding_id finding, const char *format, va_list args)
{
    if (report->pinfo == NULL || report->muted) {
        return;
    }
    if (report->findings == MAX_FINDINGS) {
        report->not_reported++;
        return;
    }
    report->findings++;
    expert_add_info_format(report->pinfo, item, (expert_field *)&report->expert->fields[finding], "%s",
                           wmem_strdup_vprintf(report->pinfo->pool, format, args));
}

void findings_add(findings_report *report, proto_item *item, finding_id finding, const char *format, ...)
{
    va_list args;

    report->damaged |= finding_table[finding].damage;
    va_start(args, format);
    add_finding(report, item, finding, format, args);
    va_end(args);
}

void findings_note(findings_report *report, proto_item *item, finding_id finding, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_finding(report, item, finding, format, args);
    va_end(args);
}

/* What Wireshark itself shows of any finding. */
static struct {
    bool known;
    int fields[4];
    int tap;
} stock;

/* By the first packet everything is registered, and names are looked up in long lists. */
static void find_stock(void)
{
    static const char *const names[array_length(stock.fields)] = {"_ws.expert", "_ws.expert.message",
                                                                  "_ws.expert.group", "_ws.expert.severity"};

    for (unsigned i = 0; i < array_length(names); i++) {
        stock.fields[i] = proto_registrar_get_id_byname(names[i]);
    }
    stock.tap = find_tap_id("expert");
    stock.known = true;
}

bool findings_wanted(const findings_report *report, proto_tree *tree)
{
    if (tree == NULL) {
        return false;
    }
    if (!stock.known) {
        find_stock();
    }
    for (unsigned i = 0; i < NUM_FINDINGS; i++) {
        if (proto_field_is_referenced(tree, report->expert->fields[i].hf)) {
            return true;
        }
    }
    for (unsigned i = 0; i < array_length(stock.fields); i++) {
        if (stock.fields[i] != -1 && proto_field_is_referenced(tree, stock.fields[i])) {
            return true;
        }
    }
    return have_tap_listener(stock.tap);
}

void findings_end(findings_report *report, proto_item *item)
{
    if (report->not_reported > 0) {
        expert_add_info_format(report->pinfo, item, (expert_field *)&report->expert->fields[FINDING_NOT_SHOWN],
                               "%u more findings are not shown", report->not_reported);
        report->not_reported = 0;
    }
}
