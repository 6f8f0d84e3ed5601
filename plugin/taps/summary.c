/* summary.c
 * `-z pcq,summary[,json|FILE]`: one sentence for each monitor, worst first, and for each thing that is wrong with it; as JSON for scripts.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/monitors.h"
#include "taps/output.h"

#include <epan/stat_tap_ui.h>
#include <wsutil/json_dumper.h>
#include <wsutil/report_message.h>

#define STATISTIC "pcq,summary"

#define CONNECTED "tcp.srcport in {135, 139, 445} && tcp.flags.syn == 1 && tcp.flags.ack == 1"

/* Why there may be no call, or the first one, no answer, that could be read: what is said of the first such frame. */
enum { CUT, NOT_ANSWERED = 2 };
static const struct {
    const char *text, *filter;
} signs[] = {
    {"frames were cut short: capture without a snapshot length", "frame.cap_len < frame.len"},
    {"the server did not let the client connect: nobody listens there, or a firewall says no",
     "tcp.srcport in {135, 139, 445} && tcp.flags.reset == 1 && tcp.seq == 1 && tcp.ack == 1"},
    {"the server did not answer: a firewall says nothing, or there is no such machine",
     "tcp.dstport in {135, 139, 445} && tcp.flags.syn == 1 && tcp.analysis.retransmission"},
    {"SMB3 encrypts the calls, and no key opens them: docs/decryption.md",
     "smb2.header.transform.flags.encrypted == 1 && !smb2.cmd"},
    {"the logon failed: name, password or clock are wrong, or the account is locked",
     "smb2.cmd == 1 && smb2.nt_status >= 0xc0000000 && smb2.nt_status != 0xc0000016"},
    {"a share was not given, perhaps IPC$, which pipes need", "smb2.cmd == 3 && smb2.nt_status >= 0xc0000000"},
    {"access denied to a pipe: the account may not log on from the network, or has no rights on it",
     "smb2.cmd == 5 && smb2.share_type == 2 && smb2.nt_status == 0xc0000022"},
    {"a pipe is not there: if it is winreg, the service Remote Registry does not run",
     "smb2.cmd == 5 && smb2.share_type == 2 && (smb2.nt_status == 0xc0000034 || smb2.nt_status == 0xc00000ac)"},
    {"access denied to other calls of winreg: the account has no rights on it, or on a key", "winreg.werror == 5"},
    {"the server refused the bind: it does not have the interface, or not for this logon",
     "dcerpc.pkt_type == 13 || (dcerpc.pkt_type == 12 && dcerpc.cn_ack_result != 0)"},
    {"answers of a connection whose bind or requests were not captured: capture from before the client connects, "
     "both "
     "directions",
     "dcerpc.pkt_type == 2 && !dcerpc.opnum"},
};

typedef struct {
    uint64_t count;
    uint32_t frame; /* the first, */
    uint32_t port;  /* and where it came from */
} sign_seen;

/* One -z. */
typedef struct {
    char *path;
    bool is_json;
    monitors *monitors;
    tapped_left_out left;
    sign_seen signs[G_N_ELEMENTS(signs)];
} summary;

static void append_filter(GString *text, unsigned finding, uint32_t frame)
{
    if (monitor_finding_kinds[finding].filter) {
        g_string_append(text, monitor_finding_kinds[finding].filter);
    } else {
        g_string_append_printf(text, "frame.number == %u", frame);
    }
}

/* "2 calls failed, first OpenQueryHandle: ERROR_ACCESS_DENIED (no rights …)" */
static void append_finding(GString *text, const monitor *of, unsigned finding)
{
    const monitor_finding_kind *kind = &monitor_finding_kinds[finding];
    const monitor_finding *found = &of->findings[finding];

    g_string_append_printf(text, "%" PRIu64 " %s%s", found->count, found->count == 1 ? kind->one : kind->several,
                           kind->rest);
    if (found->what) {
        g_string_append_printf(text, ", first %s", found->what);
    }
}

static void append_seconds(GString *text, double seconds)
{
    if (seconds < 1) {
        g_string_append_printf(text, "%.1f ms", 1000 * seconds);
    } else {
        g_string_append_printf(text, "%.3f s", seconds);
    }
}

/* "10 samples, each 1.004 s, none late, answered in 3.4 ms (slowest 9.0 ms, frame 30)" */
static void append_pace(GString *text, const monitor *of)
{
    uint64_t late = of->findings[MONITOR_ASKED_LATE].count + of->findings[MONITOR_ANSWERED_LATE].count;

    if (of->samples == 0) {
        g_string_append(text,
                        of->number > 0 && of->probes > 1 && of->unanswered == 0 &&
                                of->findings[MONITOR_CALL_FAILED].count == 0
                            ? "no samples: each time the client offers less room than the server needs"
                        : of->number > 0 ? "no samples: a query was opened, and no answer has its counter data"
                        : of->unanswered > 0 && !of->is_answered ? "no samples: no answer to its calls was captured"
                        : of->unanswered > 0 || of->is_sealed ? "no samples: no answer with counter data was captured"
                                                              : "no samples: no query was opened");
        return;
    }
    g_string_append_printf(text, "%" PRIu64 " %s", of->samples, of->samples == 1 ? "sample" : "samples");
    if (of->pace.intervals.count > 0) {
        g_string_append(text, ", each ");
        append_seconds(text, perf_spread_median(&of->pace.intervals));
        g_string_append_printf(text, late > 0 ? ", %" PRIu64 " late" : ", none late", late);
    }
    if (of->responses.count > 0) {
        g_string_append(text, ", answered in ");
        append_seconds(text, perf_spread_median(&of->responses));
        g_string_append(text, " (slowest ");
        append_seconds(text, of->slowest);
        g_string_append_printf(text, ", frame %u)", of->slowest_frame);
    }
    if (of->handles > 1) {
        g_string_append_printf(text, ", in %" PRIu64 " queries one after the other", of->handles);
    }
    if (of->is_sealed) {
        g_string_append(text, ", sealed: intervals by the capture's clock");
        g_string_append(text, of->handles > 1 ? ", one monitor by the sizes of its requests" : "");
    }
}

/* --- Text ------------------------------------------------------------------------------------------------------ */

/* It explains what stands behind it. */
static bool notes_come_first(const tapped_left_out *left)
{
    return left->samples == 0 || left->unread[0].why || left->requests > left->responses + 1;
}

/* Of notes and signs the first, the second … as of one list; NULL behind the last. To be freed. */
static char *note_of(const summary *s, unsigned number)
{
    bool none_is_read = !s->left.any_read && s->left.unread[0].why == NULL;

    for (unsigned i = 0; notes_come_first(&s->left) && i < G_N_ELEMENTS(signs); i++) {
        if (s->signs[i].count > 0 && (i == CUT || none_is_read) && number-- == 0) {
            return g_strdup_printf("%s; %" PRIu64 ", first frame %u, %s", signs[i].text, s->signs[i].count,
                                   s->signs[i].frame, signs[i].filter);
        }
    }
    return tapped_note(&s->left, "values", number, TAPPED_LONG);
}

static void write_notes(GString *text, const summary *s)
{
    char *note;

    for (unsigned i = 0; (note = note_of(s, i)) != NULL; i++) {
        g_string_append_printf(text, "The capture: %s\n", note);
        g_free(note);
    }
}

static void write_monitor(GString *text, const monitor *of)
{
    for (unsigned i = 0; i < MONITOR_NUM_FINDINGS; i++) {
        if (of->findings[i].count > 0) {
            g_string_append_printf(text, "%s to %s: ", of->client, of->server);
            append_finding(text, of, i);
            g_string_append_printf(text, "; frame %u, ", of->findings[i].frame);
            append_filter(text, i, of->findings[i].frame);
            g_string_append_c(text, '\n');
        }
    }
    g_string_append_printf(text, "%s to %s: ", of->client, of->server);
    append_pace(text, of);
    g_string_append_printf(text, "%s%s\n", *of->account ? ", logon " : "", of->account);
}

static void write_text(GString *text, const summary *s)
{
    if (notes_come_first(&s->left)) {
        write_notes(text, s);
    }
    for (unsigned i = 0; i < s->monitors->all->len; i++) {
        write_monitor(text, g_ptr_array_index(s->monitors->all, i));
    }
    if (!notes_come_first(&s->left)) {
        write_notes(text, s);
    }
}

/* --- JSON ------------------------------------------------------------------------------------------------------ */

static void put_text(json_dumper *json, const char *name, const char *text)
{
    json_dumper_set_member_name(json, name);
    json_dumper_value_string(json, text);
}

static void put_count(json_dumper *json, const char *name, uint64_t count)
{
    json_dumper_set_member_name(json, name);
    json_dumper_value_anyf(json, "%" PRIu64, count);
}

static void put_seconds(json_dumper *json, const char *name, const perf_spread *of)
{
    json_dumper_set_member_name(json, name);
    if (of->count > 0) {
        json_dumper_value_double(json, perf_spread_median(of));
    } else {
        json_dumper_value_anyf(json, "null");
    }
}

static void put_finding(json_dumper *json, const monitor *of, unsigned finding)
{
    GString *text = g_string_new(NULL);

    json_dumper_begin_object(json);
    put_text(json, "kind", monitor_finding_kinds[finding].name);
    put_count(json, "count", of->findings[finding].count);
    put_count(json, "frame", of->findings[finding].frame);
    append_finding(text, of, finding);
    put_text(json, "text", text->str);
    g_string_set_size(text, 0);
    append_filter(text, finding, of->findings[finding].frame);
    put_text(json, "filter", text->str);
    json_dumper_end_object(json);
    g_string_free(text, TRUE);
}

static void put_monitor(json_dumper *json, const monitor *of)
{
    json_dumper_begin_object(json);
    put_text(json, "client", of->client);
    put_text(json, "server", of->server);
    put_text(json, "account", of->account);
    json_dumper_set_member_name(json, "healthy");
    json_dumper_value_anyf(json, monitor_is_healthy(of) ? "true" : "false");
    json_dumper_set_member_name(json, "sealed");
    json_dumper_value_anyf(json, of->is_sealed ? "true" : "false");
    put_count(json, "queries", of->handles);
    put_count(json, "samples", of->samples);
    put_count(json, "size_probes", of->probes + of->talk.probes);
    put_seconds(json, "interval", &of->pace.intervals);
    put_seconds(json, "response", &of->responses);
    put_count(json, "slowest_frame", of->slowest_frame);
    json_dumper_set_member_name(json, "findings");
    json_dumper_begin_array(json);
    for (unsigned i = 0; i < MONITOR_NUM_FINDINGS; i++) {
        if (of->findings[i].count > 0) {
            put_finding(json, of, i);
        }
    }
    json_dumper_end_array(json);
    json_dumper_end_object(json);
}

static bool is_healthy(const summary *s)
{
    bool healthy = s->monitors->all->len > 0 && !notes_come_first(&s->left);

    for (unsigned i = 0; i < s->monitors->all->len; i++) {
        healthy &= monitor_is_healthy(g_ptr_array_index(s->monitors->all, i));
    }
    return healthy;
}

static void write_json(GString *text, const summary *s)
{
    json_dumper json = {.output_string = text, .flags = JSON_DUMPER_FLAGS_PRETTY_PRINT};
    char *note;

    json_dumper_begin_object(&json);
    json_dumper_set_member_name(&json, "healthy");
    json_dumper_value_anyf(&json, is_healthy(s) ? "true" : "false");
    json_dumper_set_member_name(&json, "notes");
    json_dumper_begin_array(&json);
    for (unsigned i = 0; (note = note_of(s, i)) != NULL; i++) {
        json_dumper_value_string(&json, note);
        g_free(note);
    }
    json_dumper_end_array(&json);
    json_dumper_set_member_name(&json, "monitors");
    json_dumper_begin_array(&json);
    for (unsigned i = 0; i < s->monitors->all->len; i++) {
        put_monitor(&json, g_ptr_array_index(s->monitors->all, i));
    }
    json_dumper_end_array(&json);
    json_dumper_end_object(&json);
    json_dumper_finish(&json);
}

/* --- The listener ---------------------------------------------------------------------------------------------- */

static void reset(void *data)
{
    summary *s = data;

    monitors_reset(s->monitors);
    memset(s->signs, 0, sizeof s->signs);
    s->left = (tapped_left_out){.any_read = false};
}

static tap_packet_status add(void *data, packet_info *pinfo, epan_dissect_t *edt _U_, const void *tapped,
                             tap_flags_t flags _U_)
{
    summary *s = data;

    tapped_count(&s->left, tapped);
    monitors_count(s->monitors, pinfo, tapped);
    return TAP_PACKET_REDRAW;
}

static tap_packet_status see(void *data, packet_info *pinfo, epan_dissect_t *edt _U_, const void *frame _U_,
                             tap_flags_t flags _U_)
{
    sign_seen *sign = data;

    if (sign->count++ == 0) {
        sign->frame = pinfo->num;
        sign->port = pinfo->srcport;
    }
    return TAP_PACKET_DONT_REDRAW;
}

/* In the end, which takes it back. */
static tap_packet_status see_connected(void *data, packet_info *pinfo, epan_dissect_t *edt _U_, const void *frame _U_,
                                       tap_flags_t flags _U_)
{
    sign_seen *sign = data;

    if (sign->port == pinfo->destport) {
        sign->count = 0;
    }
    return TAP_PACKET_DONT_REDRAW;
}

static void draw(void *data)
{
    summary *s = data;
    GString *text = g_string_new(NULL);

    s->left.failed = 0; /* each monitor says which */
    monitors_judge(s->monitors);
    s->left.needs_no_samples = s->monitors->all->len > 0;
    (s->is_json ? write_json : write_text)(text, s);
    output_text(s->path, text->str, text->len);
    g_string_free(text, TRUE);
}

static ws_stat_started start(const char *argument, void *user _U_)
{
    char **parts = g_strsplit(argument + strlen(STATISTIC), ",", 3);
    unsigned count = g_strv_length(parts);
    const char *where = count > 1 && *parts[1] ? parts[1] : "-", *filter = count > 2 && *parts[2] ? parts[2] : NULL;
    summary *s = g_new0(summary, 1);

    s->is_json = strcmp(where, "json") == 0 || g_str_has_suffix(where, ".json");
    s->path = g_strdup(strcmp(where, "json") == 0 ? "-" : where);
    s->monitors = monitors_new(true);
    for (unsigned i = 0; i < G_N_ELEMENTS(signs); i++) {
        output_listen("frame", &s->signs[i], signs[i].filter, NULL, see, NULL);
    }
    output_listen("frame", &s->signs[NOT_ANSWERED], CONNECTED, NULL, see_connected, NULL);
    monitors_watch();
    bool started = output_listen(TAPPED_NAME, s, filter, reset, add, draw);
    g_strfreev(parts);
    WS_STAT_STARTED(started);
}

void summary_register(void)
{
    static stat_tap_ui ui = {REGISTER_STAT_GROUP_GENERIC, NULL, STATISTIC, start, 0, NULL};

    register_stat_tap_ui(&ui, NULL);
}
