/* fuzz_stubs.c
 * Whole sessions of both protocols through libwireshark and the plugin, as a GUI shows them: a first pass in order,
 * then every frame again forward and backward with a full tree. What a frame shows must not depend on the order.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "ws_compat.h"

#include <epan/column.h>
#include <epan/column-info.h>
#include <epan/conversation.h>
#include <epan/epan.h>
#include <epan/epan_dissect.h>
#include <epan/exceptions.h>
#include <epan/show_exception.h>
#include <epan/stat_tap_ui.h>
#include <epan/tap.h>
#include <epan/timestamp.h>
#include <wiretap/wtap.h>
#include <wsutil/privileges.h>
#include <wsutil/report_message.h>
#include <wsutil/wslog.h>

/* The value of a field_info, by pointer. */
#if WS_AT_LEAST(4, 4)
#define FIELD_VALUE(field) ((field)->value)
#else
#define FIELD_VALUE(field) (&(field)->value)
#endif

void proto_register_pcq(void);
void proto_reg_handoff_pcq(void);
void proto_register_hkpd(void);
void proto_reg_handoff_hkpd(void);
void proto_reg_handoff_pcq_taps(void);

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CLIENT_PORT 50000
#define SERVER_PORT 49152
/* So many inputs share a file, each with servers and frames of its own: Wireshark begins one in 3 ms, and each frame
 * of a file makes its lists of policy handles longer. */
#define INPUTS_OF_A_FILE 1000
/* Beyond this a frame shows more than its bytes can mean. */
#define ITEMS_PER_BYTE 4
#define ITEMS_OF_A_FRAME 2000

static int proto_session = -1, proto_pcq, proto_hkpd;
static heur_dtbl_entry_t *dcerpc;
static column_info columns;
static uint32_t input; /* in the file */
static uint32_t frames_before;
static bool stock; /* the plugin leaves winreg alone */
static bool stock_has_bug;

/* --- A frame's way to the DCE/RPC dissector ------------------------------------------------------------------------ */

static int dissect_frame(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    static uint8_t client_address[4] = {192, 0, 2, 1}, server_address[4];
    uint8_t connection = tvb_get_uint8(tvb, 0), response = tvb_get_uint8(tvb, 1);
    uint32_t server = 10U << 24 | input << 2 | (connection >> PDU_SERVER_SHIFT & 3);
    uint32_t port = CLIENT_PORT + connection;

    (void)data;
    for (unsigned i = 0; i < 4; i++) {
        server_address[i] = (uint8_t)(server >> (24 - 8 * i));
    }
    set_address(response ? &pinfo->src : &pinfo->dst, AT_IPv4, 4, server_address);
    set_address(response ? &pinfo->dst : &pinfo->src, AT_IPv4, 4, client_address);
    pinfo->net_src = pinfo->src;
    pinfo->net_dst = pinfo->dst;
    pinfo->ptype = PT_TCP;
    pinfo->srcport = response ? SERVER_PORT : port;
    pinfo->destport = response ? port : SERVER_PORT;
    if (!pinfo->fd->visited) {
        find_or_create_conversation(pinfo);
    }
    if (tree) {
        proto_tree_set_visible(tree, TRUE);
    }
    call_heur_dissector_direct(dcerpc, tvb_new_subset_remaining(tvb, FRAME_HEADER_SIZE), pinfo, tree, NULL);
    return (int)tvb_captured_length(tvb);
}

static void register_session(void)
{
    proto_session = proto_register_protocol("PCQ fuzzer's session", "PCQ-FUZZ", "pcqfuzz");
}

static void handoff_session(void)
{
    dissector_add_uint("wtap_encap", WTAP_ENCAP_USER15, create_dissector_handle(dissect_frame, proto_session));
}

/* --- libwireshark --------------------------------------------------------------------------------------------- */

static void say(const char *format, va_list args)
{
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

static void settle(void)
{
    g_setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    g_setenv("HOME", "/nonexistent", 1);
    /* Each file would begin with reading all makers and services; 4.0 takes itself for Logray. */
    g_setenv("WIRESHARK_DATA_DIR", "/nonexistent", 1);
    g_setenv("LOGRAY_DATA_DIR", "/nonexistent", 1);
    g_setenv("WIRESHARK_DEBUG_WMEM_OVERRIDE", "simple", 0); /* each object apart: a sanitizer sees its ends */
    g_setenv("WIRESHARK_ABORT_ON_TOO_MANY_ITEMS", "1", 1);
    g_setenv("G_SLICE", "always-malloc", 0);
    g_setenv("TZ", "UTC", 1);
}

static void register_plugins(void)
{
    static proto_plugin plugins[] = {{proto_register_pcq, proto_reg_handoff_pcq},
                                     {proto_register_hkpd, proto_reg_handoff_hkpd},
                                     {NULL, proto_reg_handoff_pcq_taps},
                                     {register_session, handoff_session}};

    for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) {
        proto_register_plugin(&plugins[i]);
    }
}

/* What -z would ask for; what is written is nobody's. pcq,tree and the tables need tshark's own code to be drawn. */
static void start_statistics(void)
{
    static const char *const asked[] = {"csv", "long"};

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char *argument = g_strdup_printf("pcq,%s,%s/pcq-fuzz.%s", asked[i], g_get_tmp_dir(), asked[i]);
        if (!process_stat_cmd_arg(argument)) {
            fprintf(stderr, "no -z %s\n", argument);
            exit(2);
        }
        g_free(argument);
    }
    start_requested_stats();
}

static void keep_quiet(const char *format, va_list args)
{
    (void)format;
    (void)args;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    settle();
#if WS_AT_LEAST(4, 6)
    ws_log_init(say);
#else
    ws_log_init("pcq-fuzz", say);
#endif
    ws_log_set_level(LOG_LEVEL_CRITICAL); /* a bug of Wireshark's own is a warning each time */
    static const struct report_message_routines quiet = {.vreport_failure = keep_quiet, .vreport_warning = keep_quiet};

    init_report_message("pcq-fuzz", &quiet);
    init_process_policies();
    /* As tshark: a column of times asks for all three. */
    timestamp_set_type(TS_RELATIVE);
    timestamp_set_precision(TS_PREC_AUTO);
    timestamp_set_seconds_type(TS_SECONDS_DEFAULT);
    wtap_init(FALSE);
    register_plugins();
    if (!epan_init(NULL, NULL, FALSE)) {
        fprintf(stderr, "epan_init() failed\n");
        exit(2);
    }
    e_prefs *settings = epan_load_settings();
    prefs_apply_all();
    build_column_format_array(&columns, settings->num_cols, TRUE);
    start_statistics();
    proto_pcq = proto_get_id_by_filter_name("pcq");
    proto_hkpd = proto_get_id_by_filter_name("hkpd");
    dcerpc = find_heur_dissector_by_unique_short_name("dcerpc_tcp");
    if (dcerpc == NULL) {
        fprintf(stderr, "no DCE/RPC over TCP in this Wireshark\n");
        exit(2);
    }
    return 0;
}

/* --- Looking -------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t ours, theirs; /* what was seen, as numbers: below a protocol of the plugin, and beside it */
    uint32_t items;
    bool labels;
    bool in_ours;
    wmem_allocator_t *pool;
    char bug[ITEM_LABEL_LENGTH];
} look;

#define NOTHING_SEEN 0xCBF29CE484222325

static uint64_t mixed(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * 0x9E3779B97F4A7C15;
    return hash ^ hash >> 32;
}

static uint64_t *part_of(look *seen)
{
    return seen->in_ours ? &seen->ours : &seen->theirs;
}

static void mix_text(look *seen, const char *text)
{
    uint64_t hash = *part_of(seen), number = 0;
    size_t left = strlen(text);

    for (; left >= sizeof number; left -= sizeof number, text += sizeof number) {
        memcpy(&number, text, sizeof number);
        hash = mixed(hash, number);
    }
    for (number = left; left > 0; left--, text++) {
        number = number << 8 | (uint8_t)*text;
    }
    *part_of(seen) = mixed(hash, number);
}

static bool is_bug(const char *text)
{
    static const char bug[] = "[Dissector bug, protocol ";

    return *text == *bug && strncmp(text, bug, sizeof bug - 1) == 0;
}

static void look_at_label(const field_info *fi, look *seen)
{
    char label[ITEM_LABEL_LENGTH];

    if (fi->rep) {
        mix_text(seen, fi->rep->representation);
    } else {
#if WS_AT_LEAST(4, 6)
        proto_item_fill_label(fi, label, NULL);
#else
        proto_item_fill_label((field_info *)(uintptr_t)fi, label);
#endif
        mix_text(seen, label);
    }
}

static bool is_ours(const field_info *fi)
{
    return fi->hfinfo->id == proto_pcq || fi->hfinfo->id == proto_hkpd;
}

/* What -V, PDML and JSON make of an item; of the plugin's alone, the others have fuzzers of their own. */
static void look_at_item(proto_node *node, void *data)
{
    const field_info *fi = PNODE_FINFO(node);
    look *seen = data;
    bool outside = !seen->in_ours;

    seen->in_ours = seen->in_ours || (fi && is_ours(fi));
    seen->items++;
    if (fi && fi->rep && is_bug(fi->rep->representation)) {
        g_strlcpy(seen->bug, fi->rep->representation, sizeof seen->bug);
    }
    if (fi) {
        uint64_t place = (uint64_t)fi->start << 32 | (uint32_t)fi->length;
        *part_of(seen) = mixed(mixed(*part_of(seen), (uint64_t)fi->hfinfo->id), place);
    }
    if (fi && seen->labels && seen->in_ours) {
        look_at_label(fi, seen);
        char *value = fvalue_to_string_repr(seen->pool, FIELD_VALUE(fi), FTREPR_DISPLAY, fi->hfinfo->display);
        if (value) {
            mix_text(seen, value);
        }
    }
    proto_tree_children_foreach(node, look_at_item, seen);
    seen->in_ours = !outside;
}

/* From 4.6 on a record has its bytes, before that they come beside it. */
static void take_frame(epan_dissect_t *edt, const session_frame *frame, frame_data *fd, wtap_rec *rec, bool taps,
                       column_info *cinfo)
{
#if WS_AT_LEAST(4, 6)
    ws_buffer_append(&rec->data, frame->bytes, frame->size);
    (taps ? epan_dissect_run_with_taps : epan_dissect_run)(edt, WTAP_FILE_TYPE_SUBTYPE_UNKNOWN, rec, fd, cinfo);
#else
    tvbuff_t *tvb = tvb_new_real_data(frame->bytes, (unsigned)frame->size, (int)frame->size);
    (taps ? epan_dissect_run_with_taps : epan_dissect_run)(edt, WTAP_FILE_TYPE_SUBTYPE_UNKNOWN, rec, tvb, fd, cinfo);
#endif
}

static void begin_record(wtap_rec *rec, const session_frame *frame)
{
#if WS_AT_LEAST(4, 6)
    wtap_rec_init(rec, frame->size);
    wtap_setup_packet_rec(rec, WTAP_ENCAP_USER15);
#else
    wtap_rec_init(rec);
#endif
    rec->rec_type = REC_TYPE_PACKET;
    rec->presence_flags = WTAP_HAS_TS | WTAP_HAS_CAP_LEN;
    rec->tsprec = WTAP_TSPREC_USEC;
    rec->rec_header.packet_header.caplen = rec->rec_header.packet_header.len = (uint32_t)frame->size;
    rec->rec_header.packet_header.pkt_encap = WTAP_ENCAP_USER15;
}

static void prefer(const char *preference)
{
    char *error = NULL;
    char text[64];

    g_strlcpy(text, preference, sizeof text);
    if (prefs_set_pref(text, &error) != PREFS_SET_OK) {
        fprintf(stderr, "%s: %s\n", preference, error ? error : "no such preference");
        abort();
    }
    *strchr(text, '.') = '\0';
    prefs_apply(prefs_find_module(text));
}

static void leave_winreg_alone(bool alone)
{
    stock = alone;
    prefer(alone ? "hkpd.decode:FALSE" : "hkpd.decode:TRUE");
}

/* What a window asks for at a time: a row of the list, the details of a frame, or both as tshark does. */
typedef enum { ROW, DETAILS, ROW_AND_DETAILS } want;

static look dissect(epan_t *epan, const session *s, unsigned number, frame_data *fd, want what);

/* Wireshark's own winreg and NDR have bugs: what they do without the plugin too is theirs. */
static void check_bug(epan_t *epan, const session *s, unsigned number, frame_data *fd, const char *bug)
{
    if (stock || strstr(bug, "epan/dissectors/packet-dcerpc")) {
        stock_has_bug = true;
        return;
    }
    leave_winreg_alone(true);
    stock_has_bug = false;
    dissect(epan, s, number, fd, ROW_AND_DETAILS);
    leave_winreg_alone(false);
    if (!stock_has_bug) {
        fprintf(stderr, "%s\n", bug);
        abort();
    }
}

/* Dissects a frame. Returns what its tree shows. */
static look dissect(epan_t *epan, const session *s, unsigned number, frame_data *fd, want what)
{
    bool tree = what != ROW;
    bool taps = !fd->visited && s->how & SESSION_STATISTICS;
    const session_frame *frame = &s->frames[number];
    epan_dissect_t edt;
    wtap_rec rec;
    look seen = {NOTHING_SEEN, NOTHING_SEEN, 0, s->how & SESSION_LABELS, false, NULL, ""};

    begin_record(&rec, frame);
    if (!fd->visited) {
        frame_data_init(fd, frames_before + number + 1, &rec, 0, 0);
    }
    epan_dissect_init(&edt, epan, tree, tree);
    seen.pool = edt.pi.pool;
    if (tree) {
        proto_tree_set_visible(edt.tree, FALSE); /* until the session's part: nobody looks at the frame's own */
    }
    take_frame(&edt, frame, fd, &rec, taps, what == DETAILS ? NULL : &columns);
    fd->visited = 1;
    if (tree) {
        proto_tree_children_foreach(edt.tree, look_at_item, &seen);
    }
    if (seen.items > ITEMS_OF_A_FRAME + ITEMS_PER_BYTE * frame->size) {
        fprintf(stderr, "frame %u: %u items for %zu bytes\n", number + 1, seen.items, frame->size);
        abort();
    }
    epan_dissect_cleanup(&edt);
    wtap_rec_cleanup(&rec);
    if (*seen.bug) {
        check_bug(epan, s, number, fd, seen.bug);
    }
    return seen;
}

static const nstime_t *no_time(struct packet_provider_data *prov, uint32_t frame)
{
    static const nstime_t zero;

    (void)prov;
    (void)frame;
    return &zero;
}

/* DCE/RPC gives a PDU to a dissector, or not, by calls that it has seen by then: two PDUs of one frame with the same call
 * number find a later request once that was visited. What it shows of its own differs then too, and is its doing. */
static bool look_alike(const look *a, const look *b)
{
    return a->ours == b->ours || a->theirs != b->theirs;
}

static void look_again(epan_t *epan, const session *s, frame_data *fds)
{
    static look forward[MAX_FRAMES];

    for (unsigned i = 0; i < s->num_frames; i++) {
        if (!s->frames[i].bind) {
            forward[i] = dissect(epan, s, i, &fds[i], ROW_AND_DETAILS);
        }
    }
    for (unsigned i = s->how & SESSION_BACKWARD ? s->num_frames : 0; i-- > 0;) {
        if (s->frames[i].bind) {
            continue;
        }
        look backward = dissect(epan, s, i, &fds[i], DETAILS);
        if (!look_alike(&forward[i], &backward)) {
            fprintf(stderr, "frame %u looks different when the frames behind it were seen\n", i + 1);
            abort();
        }
    }
}

/* Frame numbers only grow within a file. */
static epan_t *next_input(unsigned frames)
{
    static const struct packet_provider_funcs provider = {.get_frame_ts = no_time};
    static epan_t *epan;
    static unsigned frames_of_last;

    if (epan == NULL || ++input == INPUTS_OF_A_FILE) {
        if (epan) {
            epan_free(epan);
        }
        epan = epan_new(NULL, &provider);
        input = frames_before = 0;
    }
    frames_before += input > 0 ? frames_of_last : 0;
    frames_of_last = frames;
    return epan;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static session s;
    static frame_data fds[MAX_FRAMES];

    session_read(&s, data, size);
    memset(fds, 0, s.num_frames * sizeof *fds);
    epan_t *epan = next_input(s.num_frames);
    for (unsigned i = 0; i < s.num_frames; i++) {
        dissect(epan, &s, i, &fds[i], s.how & SESSION_TREE_FIRST ? ROW_AND_DETAILS : ROW);
    }
    if (s.how & SESSION_STATISTICS) {
        draw_tap_listeners(TRUE);
        reset_tap_listeners();
    }
    look_again(epan, &s, fds);
    for (unsigned i = 0; i < s.num_frames; i++) {
        frame_data_destroy(&fds[i]);
    }
    session_free(&s);
    return 0;
}
