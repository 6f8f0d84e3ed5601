/* evidence.c
 * `-z pcq,evidence[,FILE[,FILTER]]`: how often a capture confirms what ledger.h says, and numbers that are nobody's. It holds no name,
 * address, path, value or time of day, so that whoever may not give a capture may give this.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include <math.h>

#include <epan/expert.h>
#include <epan/stat_tap_ui.h>

#include "tree/reader.h"
#include "perf/block-walk.h"
#include "readings/layout.h"
#include "taps/ledger.h"
#include "taps/output.h"

#define STATISTIC "pcq,evidence"

/* Of one assumption. */
typedef struct {
    uint64_t held;
    uint64_t failed;
    uint64_t frame; /* the first where it did not hold, else where it did */
} assumption;

#define LEDGER_ROW(id, sentence, source, otherwise, seen) {#id, sentence, source, otherwise},
static const struct {
    const char *id;
    const char *sentence;
    const char *source;
    const char *otherwise;
} ledger[] = {LEDGER(LEDGER_ROW)};

/* What is remembered of a handle. */
typedef struct {
    perf_point clocks; /* of the last answer; a frequency of 0 before the first */
    uint32_t needed;   /* what the last size probe said, 0 behind another call */
    bool has_info;
    GHashTable *names; /* block -> block_names, of the last answer that had it */
} handle_memory;

/* Of the instances of a block: two numbers that stand for their names, in whatever order and in this one. */
typedef struct {
    uint64_t any_order;
    uint64_t in_order;
} block_names;

typedef struct {
    assumption rows[LEDGER_NUM_ROWS];
    GTree *numbers;      /* "dwType  6" -> how often */
    GHashTable *handles; /* state_handle -> handle_memory */
    uint32_t frame;
    char *path;
} evidence;

static void see(evidence *e, unsigned row, bool holds)
{
    assumption *a = &e->rows[row];

    if (a->frame == 0 || (!holds && a->failed == 0)) {
        a->frame = e->frame;
    }
    a->held += holds;
    a->failed += !holds;
}

static void G_GNUC_PRINTF(2, 3) count_number(evidence *e, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *key = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    uint64_t *times = g_tree_lookup(e->numbers, key);
    if (times) {
        g_free(key);
    } else {
        times = g_new0(uint64_t, 1);
        g_tree_insert(e->numbers, key, times);
    }
    ++*times;
}

static handle_memory *memory_of(evidence *e, const state_handle *handle)
{
    handle_memory *memory = g_hash_table_lookup(e->handles, handle);

    if (memory == NULL) {
        memory = g_new0(handle_memory, 1);
        memory->names = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        g_hash_table_insert(e->handles, (void *)(uintptr_t)handle, memory);
    }
    return memory;
}

static void free_memory(void *data)
{
    handle_memory *memory = data;

    g_hash_table_destroy(memory->names);
    g_free(memory);
}

/* --- Registrations ----------------------------------------------------------------------------------------------- */

/* [MS-PCQ] 2.2.4.1 and 2.2.4.2. */
#define SET_SIZE 32
#define COUNTER_SIZE 48
#define RELATIONS_AT 24
#define NUM_RELATIONS 4

static void see_registration(evidence *e, const uint8_t *bytes, uint32_t size)
{
    uint32_t count = size < SET_SIZE ? 0 : (size - SET_SIZE) / COUNTER_SIZE;
    GHashTable *ids = g_hash_table_new(NULL, NULL);
    bool are_unique = true, are_known = true;

    see(e, LEDGER_REGISTRATION, size >= SET_SIZE && size == SET_SIZE + COUNTER_SIZE * (uint64_t)perf_le32(bytes + 24));
    for (uint32_t i = 0; i < count; i++) {
        are_unique &= g_hash_table_add(ids, GUINT_TO_POINTER(perf_le32(bytes + SET_SIZE + COUNTER_SIZE * i)));
    }
    for (uint32_t i = 0; i < count * NUM_RELATIONS; i++) {
        uint32_t at = SET_SIZE + COUNTER_SIZE * (i / NUM_RELATIONS) + RELATIONS_AT + 4 * (i % NUM_RELATIONS);
        uint32_t id = perf_le32(bytes + at);
        are_known &= id == PERF_NO_ID || g_hash_table_contains(ids, GUINT_TO_POINTER(id));
    }
    see(e, LEDGER_IDS_UNIQUE, are_unique);
    see(e, LEDGER_RELATIONS, are_known);
    g_hash_table_destroy(ids);
}

/* A text in UTF-16 that begins at `at`. */
static bool has_end(const uint8_t *bytes, uint32_t at, uint32_t size)
{
    return at + perf_utf16_size(bytes + at, size - at) + 2 <= size;
}

/* [MS-PCQ] 2.2.4.3 and 2.2.4.4. */
static void see_strings(evidence *e, const uint8_t *bytes, uint32_t size)
{
    uint32_t count = size < 8 ? 0 : MIN(perf_le32(bytes + 4), (size - 8) / 8);
    bool is_base = true;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t offset = perf_le32(bytes + 8 + 8 * (size_t)i + 4);
        bool is_inside = offset >= 8 + 8 * count && offset < size;
        is_base &= is_inside || offset == UINT32_MAX;
        if (is_inside && i == count - 1) {
            see(e, LEDGER_STRING_END, has_end(bytes, offset, size));
        }
    }
    if (count > 0) {
        see(e, LEDGER_STRING_BASE, is_base);
    }
}

/* Structures whose size stands at `size_at` and which have `fixed` bytes before a name. False behind the first that is none. */
static bool see_list(evidence *e, unsigned row, const uint8_t *bytes, uint32_t size, uint32_t size_at, uint32_t fixed)
{
    for (uint32_t at = 0, step; at < size; at += step) {
        step = size - at < fixed ? 0 : perf_le32(bytes + at + size_at);
        bool holds = step >= fixed && step % 8 == 0 && step <= size - at;
        see(e, row, holds);
        if (!holds) {
            return false;
        }
    }
    return true;
}

/* QueryCounterInfo's identifiers. */
static void see_index(evidence *e, const tapped_call *tapped)
{
    uint32_t count = tapped->num_identifiers;
    GHashTable *indexes = g_hash_table_new(NULL, NULL),
               *by_identifier = g_hash_table_new(query_identifier_hash, query_identifier_equal);
    const state_query_entry *entry;
    bool is_index = true, is_order = true;
    unsigned next = 0, added = 0;

    for (uint32_t i = 0; i < count; i++) {
        const state_identifier *identifier = &tapped->identifiers[i];
        is_index &= identifier->index < count && g_hash_table_add(indexes, GUINT_TO_POINTER(identifier->index));
        g_hash_table_insert(by_identifier, (void *)(uintptr_t)identifier, (void *)(uintptr_t)identifier);
    }
    while ((entry = query_entries(tapped->handle, tapped->event, &next)) != NULL) {
        const state_identifier *found = g_hash_table_lookup(by_identifier, &entry->identifier);
        if (found && entry->identifier.status == 0) {
            is_order &= found->index == added++;
        }
    }
    see(e, LEDGER_INDEX, is_index);
    if (is_index && added == count && count > 1) {
        see(e, LEDGER_ADDED_ORDER, is_order);
    }
    g_hash_table_destroy(indexes);
    g_hash_table_destroy(by_identifier);
}

/* --- Counter data ------------------------------------------------------------------------------------------------ */

static void see_time(evidence *e, tvbuff_t *data, uint64_t filetime)
{
    nstime_t date, stamp;
    bool valid = reader_systemtime_at(data, 32, ENC_LITTLE_ENDIAN, &date) && filetime_to_nstime(&stamp, filetime);

    see(e, LEDGER_SYSTEM_TIME, valid && date.secs == stamp.secs && date.nsecs / 1000000 == stamp.nsecs / 1000000);
}

static void see_clocks(evidence *e, handle_memory *memory, const perf_point *clocks)
{
    const perf_point *last = &memory->clocks;

    if (last->perf_freq != 0 && clocks->perf_freq != 0) {
        see(e, LEDGER_FREQUENCY, last->perf_freq == clocks->perf_freq);
        double by_counter = (double)(int64_t)(clocks->perf_time - last->perf_time) / (double)clocks->perf_freq;
        double by_time = (double)(int64_t)(clocks->time_100ns - last->time_100ns) / 1e7;
        if (by_time >= .5 && last->perf_freq == clocks->perf_freq) {
            see(e, LEDGER_CLOCKS, fabs(by_counter - by_time) <= by_time / 100);
        }
    }
    memory->clocks = *clocks;
}

static uint64_t name_and_id(const perf_walk *walk)
{
    return query_name_digest(walk->data + walk->instance.name, walk->instance.name_size) + walk->instance.id;
}

static void see_block(evidence *e, const perf_walk *walk, const state_query_index *known)
{
    uint32_t size = perf_le32(walk->data + walk->block.offset + 8);

    see(e, LEDGER_BLOCK, size % 8 == 0);
    count_number(e, "dwType %2u", walk->block.type);
    if (walk->block.type == PERF_ERROR_RETURN) {
        see(e, LEDGER_ERROR_BLOCK, size == PERF_COUNTER_HEADER_SIZE);
        see(e, LEDGER_ERROR_NO_DATA, walk->block.status == 232);
        count_number(e, "dwStatus %5u", walk->block.status);
    } else if (known && walk->block.index < known->count) {
        see(e, LEDGER_BLOCK_TYPE, query_identifier_fits(&known->by_index[walk->block.index], walk->block.type));
    }
}

static void see_instance(evidence *e, const perf_walk *walk, GHashTable *different, block_names *names)
{
    uint64_t *key = g_new(uint64_t, 1);

    *key = name_and_id(walk);
    names->any_order += *key;
    names->in_order = names->in_order * 31 + *key;
    g_hash_table_add(different, key);
    see(e, LEDGER_INSTANCE, perf_le32(walk->data + walk->instance.offset) % 8 == 0);
    see(e, LEDGER_INSTANCE_END, walk->instance.terminated);
}

static void see_value(evidence *e, const perf_walk *walk)
{
    uint32_t size = walk->value.data_size;

    see(e, LEDGER_VALUE_SIZE, size == 4 || size == 8);
    see(e, LEDGER_VALUE_PADDED,
        perf_le32(walk->data + walk->value.offset + 4) == PERF_COUNTER_DATA_SIZE + perf_align8(size));
}

/* Behind the last instance of a block; `different` holds each name and id once. */
static void see_names(evidence *e, handle_memory *memory, uint32_t block, uint32_t count, GHashTable *different,
                      block_names names)
{
    block_names *last = g_hash_table_lookup(memory->names, GUINT_TO_POINTER(block));

    see(e, LEDGER_INSTANCE_UNIQUE, g_hash_table_size(different) == count);
    if (last && last->any_order == names.any_order && g_hash_table_size(different) > 1) {
        see(e, LEDGER_INSTANCE_ORDER, last->in_order == names.in_order);
    }
    g_hash_table_insert(memory->names, GUINT_TO_POINTER(block), g_memdup2(&names, sizeof names));
    g_hash_table_remove_all(different);
}

static void see_blocks(evidence *e, handle_memory *memory, const uint8_t *bytes, uint32_t size,
                       const state_query_index *known)
{
    GHashTable *different = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    block_names names = {0, 0};
    perf_walk walk;
    perf_walk_event event;
    uint32_t block = 0, count = 0;

    perf_walk_init(&walk, bytes, size);
    do {
        event = perf_walk_next(&walk);
        if (count > 0 && (event == PERF_WALK_BLOCK || event == PERF_WALK_END)) {
            see_names(e, memory, block, count, different, names);
            names = (block_names){0, 0};
            count = 0;
        }
        if (event == PERF_WALK_BLOCK) {
            see_block(e, &walk, known);
        } else if (event == PERF_WALK_COUNTERS && walk.counters.count % 2 == 1) {
            see(e, LEDGER_IDS_NOT_PADDED, perf_le32(bytes + walk.counters.offset) % 8 != 0);
        } else if (event == PERF_WALK_INSTANCE) {
            block = walk.block.index;
            count++;
            see_instance(e, &walk, different, &names);
        } else if (event == PERF_WALK_VALUE) {
            see_value(e, &walk);
        }
    } while (event != PERF_WALK_END);
    g_hash_table_destroy(different);
}

/* Of both protocols: the value as it is read, and its type. */
static void see_types(evidence *e, packet_info *pinfo, const tapped_call *tapped)
{
    readings *r = readings_begin(pinfo->pool, tapped->answer);
    const reading *at;

    while ((at = readings_next(r)) != NULL) {
        const perf_counter_type *type = at->is_text ? NULL : readings_known_counter(r)->type;
        if (type && (type->value & PERF_SIZE_MASK) <= PERF_SIZE_LARGE) {
            uint32_t size = (type->value & PERF_SIZE_MASK) == PERF_SIZE_LARGE ? 8 : 4;
            see(e, tapped->is_hkpd ? LEDGER_HKPD_TYPE : LEDGER_VALUE_TYPE, at->size == size);
        }
    }
}

static void see_data(evidence *e, const tapped_call *tapped, const uint8_t *bytes, uint32_t size)
{
    handle_memory *memory = memory_of(e, tapped->handle);

    if (size < PERF_DATA_HEADER_SIZE) {
        return;
    }
    uint32_t blocks = perf_le32(bytes + 4);
    uint32_t event = query_as_of(tapped->handle, tapped->answer->request_event, tapped->event, blocks);
    const state_query_epoch *epoch = query_epoch_at(tapped->handle, event);
    perf_point clocks = {
        .perf_time = perf_le64(bytes + 8), .time_100ns = perf_le64(bytes + 16), .perf_freq = perf_le64(bytes + 24)};

    if (memory->clocks.perf_freq == 0 && blocks > 0) {
        see(e, LEDGER_INFO_FIRST, memory->has_info);
    }
    see(e, LEDGER_TOTAL, perf_le32(bytes) == size);
    see_time(e, tapped->buffer, clocks.time_100ns);
    see_clocks(e, memory, &clocks);
    if (blocks > 0 && size >= PERF_DATA_HEADER_SIZE + PERF_COUNTER_HEADER_SIZE) {
        uint32_t type = perf_le32(bytes + PERF_DATA_HEADER_SIZE + 4), room = size - PERF_DATA_HEADER_SIZE;
        uint32_t block_size = perf_le32(bytes + PERF_DATA_HEADER_SIZE + 8);
        bool is_header = type <= PERF_COUNTERSET && block_size >= PERF_COUNTER_HEADER_SIZE && block_size <= room;
        see(e, LEDGER_HEADER, is_header);
        if (is_header) {
            see_blocks(e, memory, bytes, size, query_index_at(epoch, event, blocks));
        }
    }
}

/* --- HKEY_PERFORMANCE_DATA --------------------------------------------------------------------------------------- */

static void see_objects(evidence *e, const uint8_t *bytes, uint32_t size)
{
    perf_block_walk walk;
    perf_block_event event;

    perf_block_init(&walk, bytes, size);
    while ((event = perf_block_next(&walk)) != PERF_BLOCK_END) {
        if (event == PERF_BLOCK_HEADER) {
            see(e, LEDGER_HKPD_TOTAL, perf_block_u32(&walk, 20) == size);
        } else if (event == PERF_BLOCK_OBJECT) {
            see(e, LEDGER_HKPD_OBJECT, perf_block_u32(&walk, walk.object.offset) % 8 == 0);
            if (walk.object.num_instances > 0) {
                see(e, LEDGER_HKPD_WIDE, perf_block_wide_names(&walk));
            }
        } else if (event == PERF_BLOCK_INSTANCE) {
            see(e, LEDGER_HKPD_NO_ID, walk.instance.unique_id == PERF_NO_UNIQUE_ID);
        } else if (event == PERF_BLOCK_VALUE) {
            perf_block_skip_values(&walk);
        }
    }
}

/* --- Calls ------------------------------------------------------------------------------------------------------- */

static void see_buffer(evidence *e, const tapped_call *tapped, const uint8_t *bytes, uint32_t size)
{
    switch (tapped->opnum) {
    case 1:
        if (tapped->request_code == PERF_REG_COUNTERSET_STRUCT) {
            see_registration(e, bytes, size);
        } else if (tapped->request_code == PERF_REG_COUNTER_NAME_STRINGS ||
                   tapped->request_code == PERF_REG_COUNTER_HELP_STRINGS ||
                   tapped->request_code == PERF_REG_COUNTER_ENGLISH_NAMES) {
            see_strings(e, bytes, size);
        } else if (tapped->request_code != PERF_REG_COUNTER_STRUCT && tapped->request_code != PERF_REG_PROVIDER_GUID) {
            see(e, LEDGER_STRING_END, has_end(bytes, 0, size));
        }
        break;
    case 2:
        see_list(e, LEDGER_INSTANCE_LIST, bytes, size, 0, 8);
        break;
    case 5:
        if (see_list(e, LEDGER_IDENTIFIER, bytes, size, 20, 40) && tapped->handle && tapped->num_identifiers > 0) {
            see_index(e, tapped);
        }
        break;
    case 6:
        if (tapped->handle) {
            see_data(e, tapped, bytes, size);
        }
        break;
    default:
        break;
    }
}

static void see_probe(evidence *e, const tapped_call *tapped)
{
    handle_memory *memory = tapped->handle ? memory_of(e, tapped->handle) : NULL;

    if (tapped->in_size == 0) {
        see(e, LEDGER_PROBE, tapped->is_probe);
    }
    if (memory && memory->needed > 0 && tapped->in_size >= memory->needed) {
        see(e, LEDGER_PROBE_SIZE, !tapped->is_probe);
    }
    if (memory) {
        memory->needed = tapped->is_probe ? tapped->rtn_size : 0;
    }
}

static void see_response(evidence *e, packet_info *pinfo, const tapped_call *tapped)
{
    tvbuff_t *tvb = tapped->is_hkpd ? (tapped->answer ? tapped->answer->tvb : NULL) : tapped->buffer;
    uint32_t size = tvb ? tvb_captured_length(tvb) : 0;

    if (tapped->has_sizes && !tapped->is_hkpd) {
        see_probe(e, tapped);
    }
    if (tapped->is_hkpd && tapped->is_probe) {
        see(e, LEDGER_HKPD_ROOM, tapped->status == 234);
    }
    if (size == 0 || size < tvb_reported_length(tvb) || !tapped_succeeded(tapped)) {
        return; /* nothing, or cut when it was captured */
    }
    const uint8_t *bytes = tvb_get_ptr(tvb, 0, (int)size);
    if (tapped->is_hkpd) {
        see_objects(e, bytes, size);
    } else {
        see_buffer(e, tapped, bytes, size);
    }
    if (tapped->answer && tapped->answer->sample) {
        see_types(e, pinfo, tapped);
    }
}

static void see_call(evidence *e, packet_info *pinfo, const tapped_call *tapped)
{
    const char *protocol = tapped->is_hkpd ? "winreg" : "PerflibV2";

    e->frame = pinfo->num;
    if (tapped->unread && !tapped->is_repeated) {
        count_number(e, "not read: sealed or noise");
        return;
    }
    if (tapped->is_repeated || tapped->is_fault) {
        count_number(e, tapped->is_fault ? "fault 0x%08x" : "repeated", tapped->status);
        return;
    }
    if (!tapped->is_response) {
        count_number(e, "%s operation %2u", protocol, tapped->opnum);
        if (tapped->opnum == 1 && !tapped->is_hkpd) {
            count_number(e, "RequestCode %2u", tapped->request_code);
        }
        if (!tapped->is_hkpd) {
            see(e, LEDGER_SEALED, ws_has_data_source(pinfo, "Decrypted stub data"));
            see(e, LEDGER_NDR, !tapped->is_ndr64);
        }
        return;
    }
    if (tapped->handle && !tapped->is_hkpd && tapped->opnum == 5) {
        memory_of(e, tapped->handle)->has_info = true;
    }
    if (tapped->has_status) {
        count_number(e, "%s status %5u", protocol, tapped->status);
    }
    see_response(e, pinfo, tapped);
}

/* --- The text ---------------------------------------------------------------------------------------------------- */

static gboolean write_number(void *key, void *value, void *text)
{
    g_string_append_printf(text, "%s: %" PRIu64 "\n", (const char *)key, *(const uint64_t *)value);
    return FALSE;
}

static void draw(void *data)
{
    evidence *e = data;
    GString *text = g_string_new(NULL);

    g_string_printf(text,
                    "What a capture says of the assumptions of pcq " PCQ_VERSION
                    " (docs/evidence.md), read by Wireshark %s. "
                    "Counts and\nnumbers of frames alone: no name, address, path, value or time of day.\n\n",
                    epan_get_version());
    g_tree_foreach(e->numbers, write_number, text);
    g_string_append(text, "\n   held  did not  first frame  assumption\n");
    for (unsigned i = 0; i < LEDGER_NUM_ROWS; i++) {
        const assumption *a = &e->rows[i];
        g_string_append_printf(text, "%7" PRIu64 "  %7" PRIu64 "  %11" PRIu64 "  %s: %s\n", a->held, a->failed,
                               a->frame, ledger[i].id, ledger[i].sentence);
    }
    output_text(e->path, text->str, text->len);
    g_string_free(text, TRUE);
}

/* --- The listener ----------------------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b, void *user _U_)
{
    return strcmp(a, b);
}

static void empty(evidence *e)
{
    if (e->numbers) {
        g_tree_destroy(e->numbers);
        g_hash_table_destroy(e->handles);
    }
    memset(e->rows, 0, sizeof e->rows);
    e->numbers = g_tree_new_full(compare_keys, NULL, g_free, g_free);
    e->handles = g_hash_table_new_full(NULL, NULL, NULL, free_memory);
}

static void reset(void *data)
{
    empty(data);
}

static tap_packet_status add(void *data, packet_info *pinfo, epan_dissect_t *edt _U_, const void *tapped,
                             tap_flags_t flags _U_)
{
    see_call(data, pinfo, tapped);
    return TAP_PACKET_REDRAW;
}

/* Of other protocols' findings there is nothing. */
static tap_packet_status add_finding(void *data, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *tapped,
                                     tap_flags_t flags _U_)
{
    const expert_info_t *finding = tapped;
    const header_field_info *field =
        finding->hf_index > 0 ? proto_registrar_get_nth((unsigned)finding->hf_index) : NULL;

    if (field && (g_str_has_prefix(field->abbrev, "pcq.expert.") || g_str_has_prefix(field->abbrev, "hkpd.expert."))) {
        count_number(data, "finding %s", field->abbrev);
    }
    return TAP_PACKET_REDRAW;
}

static ws_stat_started start(const char *argument, void *user _U_)
{
    char **parts = g_strsplit(argument + strlen(STATISTIC), ",", 3);
    unsigned count = g_strv_length(parts);
    const char *filter = count > 2 && *parts[2] ? parts[2] : NULL;
    evidence *e = g_new0(evidence, 1);

    e->path = g_strdup(count > 1 && *parts[1] ? parts[1] : "-");
    empty(e);
    bool started = output_listen(TAPPED_NAME, e, filter, reset, add, draw) &&
                   output_listen("expert", e, filter, NULL, add_finding, NULL);
    g_strfreev(parts);
    WS_STAT_STARTED(started);
}

void evidence_register(void)
{
    static stat_tap_ui ui = {REGISTER_STAT_GROUP_GENERIC, NULL, STATISTIC, start, 0, NULL};

    register_stat_tap_ui(&ui, NULL);
}
