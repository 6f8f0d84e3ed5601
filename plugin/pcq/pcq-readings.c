/* pcq-readings.c
 * The counter data of PerflibV2QueryCounterData as a stream of readings.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq/pcq-readings.h"

#include "pcq/pcq-tables.h"
#include "perf/bytes.h"

/* The layout's part of a stream. */
typedef struct {
    perf_walk walk;
    pcq_side now;
    pcq_side before;
    pcq_side older;                     /* where a block of `before` is not sound; its base.pool is NULL without one */
    pcq_side *earlier;                  /* what the block is compared with, NULL if there is nothing */
    uint32_t frames[2];                 /* of both */
    bool one_form;                      /* this sample and the one before have the same */
    uint32_t compared_block;            /* the one whose identifiers were compared last, UINT32_MAX before the first: */
    bool same_block;                    /* it was asked for alike */
    const state_identifier *identifier; /* whose the block is */
    reading_counter *counters;          /* room for those of a block */
    uint32_t room;
    bool values_seen; /* it is known which of them can be text */
    /* the counterset that was looked up last */
    const state_identifier *set_identifier;
    const char *set_label;
    bool set_is_single;
    /* the counter that was named last: mostly the block is, and then its only value */
    const state_identifier *named_identifier;
    uint32_t named_id;
    const char *name;
} pcq_stream;

static pcq_stream *stream_of(const readings *r)
{
    return r->own;
}

const perf_walk *pcq_readings_walk(const readings *r)
{
    return &stream_of(r)->walk;
}

const state_identifier *pcq_readings_identifier(const readings *r)
{
    return stream_of(r)->identifier;
}

bool pcq_readings_assumed(readings *r)
{
    return pcq_side_any_assumed(&stream_of(r)->now);
}

static void open_sample(readings *r, pcq_side *side, const state_sample *sample)
{
    perf_filled_form data = sample_data(sample);

    pcq_side_init(side, r->pool, r->answer.handle, sample->event, &data);
    side->sample = sample;
    side->has_doubts = sample_has_doubts(sample);
}

/* Where some block of the sample before is not sound, the latest one before that without doubts takes its place. Not many
 * are looked through: whoever sends only damaged ones does not get the time for it. */
#define MOST_OLDER 16

static void open_older(readings *r, const state_sample *previous)
{
    pcq_stream *stream = stream_of(r);
    const state_sample *older = previous;

    stream->frames[0] = stream->frames[1] = previous->frame;
    for (int i = 0; i < MOST_OLDER && older && sample_has_doubts(older); i++) {
        older = older->previous;
    }
    if (older && older != previous && !sample_has_doubts(older) && older->bytes) {
        open_sample(r, &stream->older, older);
        stream->frames[1] = older->frame;
    }
}

static void begin(readings *r)
{
    const state_sample *sample = r->answer.sample;
    const state_sample *previous = sample ? sample->previous : NULL;
    const state_handle *handle = r->answer.handle;
    pcq_stream *stream = r->own = wmem_new0(r->pool, pcq_stream);

    r->machine = handle ? handle->machine : NULL;
    perf_filled_form data = {r->bytes, r->size, NULL, NULL};
    pcq_side_init(&stream->now, r->pool, handle, r->answer.event, &data);
    stream->now.sample = sample;
    stream->now.has_doubts = sample && sample_has_doubts(sample);
    r->now = &stream->now.base;
    perf_walk_init(&stream->walk, r->bytes, r->size);
    r->why_no_before = !sample ? readings_no_sample(r) : previous ? PERF_NONE_SAMPLE_DROPPED : PERF_NONE_FIRST_SAMPLE;
    if (previous && previous->bytes) {
        open_sample(r, &stream->before, previous);
        open_older(r, previous);
        stream->earlier = &stream->before;
        stream->one_form = r->answer.has_form && sample->form == previous->form;
        stream->compared_block = UINT32_MAX;
        readings_pair(r, &stream->before.base, previous->frame);
    }
}

/* --- Blocks ------------------------------------------------------------------------------------------------------ */

static void choose_earlier(readings *r)
{
    pcq_stream *stream = stream_of(r);

    if (!stream->before.has_doubts) {
        return;
    }
    bool is_lost = pcq_side_doubtful(&stream->before, r->number);
    stream->earlier = !is_lost ? &stream->before : stream->older.base.pool ? &stream->older : NULL;
    readings_pair(r, stream->earlier ? &stream->earlier->base : NULL, stream->frames[is_lost]);
    r->why_no_before = PERF_NONE_DAMAGED;
}

static void enter_block(readings *r)
{
    pcq_stream *stream = stream_of(r);
    const perf_walk *walk = &stream->walk;

    readings_enter(r, walk->block.index);
    stream->identifier = pcq_side_identifier_of_type(&stream->now, walk->block.index, walk->block.type);
    r->status = walk->block.status;
    r->assumed = stream->identifier && pcq_side_assumed(&stream->now, walk->block.index);
    choose_earlier(r);
}

static bool same_set(const state_identifier *a, const state_identifier *b)
{
    return a && b && memcmp(a->guid, b->guid, sizeof a->guid) == 0;
}

/* At the first value of a block. */
static void open_counters(readings *r)
{
    pcq_stream *stream = stream_of(r);
    uint32_t count = stream->walk.counters.count;

    if (stream->room < count) {
        stream->room = count;
        stream->counters = wmem_alloc_array(r->pool, reading_counter, count);
    }
    r->counters = memset(stream->counters, 0, count * sizeof *stream->counters);
    stream->values_seen = false;
}

static void open_table(readings *r)
{
    r->table = pcq_side_table(&stream_of(r)->now, r->number);
}

/* --- Names and types --------------------------------------------------------------------------------------------- */

static void know(readings *r)
{
    const state_identifier *identifier = stream_of(r)->identifier;
    reading_counter *counter = r->at.counter;

    if (identifier == NULL) {
        counter->none =
            pcq_side_refuted(&stream_of(r)->now, r->number) ? PERF_NONE_ORDER_REFUTED : PERF_NONE_COUNTER_NOT_KNOWN;
        return;
    }
    state_known known = facts_lookup(r->answer.server, facts_subject(identifier->guid, counter->id), PERF_FACT_COUNTER,
                                     r->answer.event);
    counter->none = PERF_NONE_TYPE_NOT_LEARNED;
    if (known.fact) {
        counter->info = known.fact->counter;
        counter->type = known.fact->type;
        counter->none = counter->type ? PERF_NONE_OK : PERF_NONE_UNKNOWN_TYPE;
    }
}

static const char *name_of(readings *r, uint32_t id)
{
    pcq_stream *stream = stream_of(r);

    if (stream->named_identifier != stream->identifier || stream->named_id != id) {
        stream->named_identifier = stream->identifier;
        stream->named_id = id;
        stream->name = facts_counter_label(r->pool, r->answer.server, stream->identifier->guid, id, r->names_event);
    }
    return stream->name;
}

static const char *label(readings *r)
{
    return stream_of(r)->identifier ? name_of(r, r->at.counter->id) : NULL;
}

const char *pcq_readings_block_counter(readings *r)
{
    return name_of(r, stream_of(r)->identifier->counter_id);
}

static void name_set(readings *r)
{
    pcq_stream *stream = stream_of(r);
    const state_identifier *identifier = stream->identifier;

    if (identifier == NULL) {
        return;
    }
    if (!same_set(stream->set_identifier, identifier)) {
        stream->set_identifier = identifier;
        stream->set_is_single = readings_set_is_single(r->answer.server, identifier->guid, r->names_event);
        stream->set_label = readings_bounded(
            r->pool, facts_counterset_label(r->pool, r->answer.server, identifier->guid, r->names_event));
    }
    r->set_label = stream->set_label;
    r->has_instances = !stream->set_is_single && (perf_walk_has_instances(&stream->walk) || identifier->instance);
}

const char *pcq_readings_instance_name(readings *r)
{
    const perf_walk *walk = &stream_of(r)->walk;

    return text_get(r->pool, r->answer.tvb, walk->instance.name, walk->instance.name_size, PERF_CODE_PAGE_UTF16,
                    ENC_LITTLE_ENDIAN, PERF_NAME_MAX);
}

static const char *instance(readings *r)
{
    if (stream_of(r)->walk.instance.index == PERF_NO_INSTANCE) {
        return readings_bounded(r->pool, stream_of(r)->identifier->instance);
    }
    const char *name = pcq_readings_instance_name(r);
    const reading_instance *named = reading_table_named(readings_table(r), r->at.row);
    return readings_with_ordinal(r->pool, name, named ? named->name_ordinal : 0);
}

/* --- Values ------------------------------------------------------------------------------------------------------ */

/* An even number of bytes: characters (white space too) up to a terminator at their end. */
static bool can_be_text(const uint8_t *bytes, uint32_t size)
{
    if (size < 2 || size % 2 != 0 || perf_le16(bytes + size - 2) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < size - 2; i += 2) {
        uint16_t unit = perf_le16(bytes + i);
        if (unit < '\t' || (unit > '\r' && unit < ' ')) {
            return false;
        }
    }
    return true;
}

static void look_at_value(readings *r, const perf_walk *walk)
{
    reading_counter *counter = &r->counters[walk->value.column];
    uint32_t size = walk->value.data_size;

    counter->has_other_sizes |= size != 4 && size != 8;
    counter->has_no_text |= !can_be_text(r->bytes + walk->value.data, size);
}

/* Whose type nobody told: text if all of the block's values can be, and one of them has neither of a number's lengths. All
 * columns are looked at together, at the first value of which it is asked. */
static bool looks_like_text(readings *r)
{
    const reading_counter *counter = r->at.counter;
    pcq_stream *stream = stream_of(r);
    perf_walk ahead = stream->walk;
    perf_walk_event event = PERF_WALK_VALUE;

    while (!stream->values_seen && event != PERF_WALK_BLOCK && event != PERF_WALK_END) {
        if (event == PERF_WALK_VALUE) {
            look_at_value(r, &ahead);
        }
        event = perf_walk_next(&ahead);
    }
    stream->values_seen = true;
    return counter->has_other_sizes && !counter->has_no_text;
}

static uint32_t counter_id(const readings *r)
{
    const pcq_stream *stream = stream_of(r);

    if (stream->walk.counters.ids != 0) {
        return perf_walk_counter_id(&stream->walk, stream->walk.value.column);
    }
    return stream->identifier ? stream->identifier->counter_id : PERF_NO_ID;
}

static void take_value(readings *r)
{
    const perf_walk *walk = &stream_of(r)->walk;
    reading *at = &r->at;

    if (r->counters == NULL) {
        open_counters(r);
    }
    at->is_refused = false;
    at->row = walk->instance.index == PERF_NO_INSTANCE ? 0 : walk->instance.index;
    at->column = walk->value.column;
    at->offset = walk->value.data;
    at->size = walk->value.data_size;
    at->counter = &r->counters[at->column];
    at->counter->id = counter_id(r);
    const perf_counter_type *type = readings_known_counter(r)->type;
    at->is_text = type ? type->kind == PERF_KIND_TEXT : looks_like_text(r);
    if (at->is_text) {
        at->code_page = PERF_CODE_PAGE_UTF16;
        at->byte_order = ENC_LITTLE_ENDIAN;
        at->text_size = perf_utf16_size(r->bytes + at->offset, at->size);
    }
    readings_take(r, pcq_raw_at(&stream_of(r)->now.data, walk->value.offset));
}

/* A block that holds an error instead of values. */
static void take_refusal(readings *r)
{
    const pcq_stream *stream = stream_of(r);
    reading *at = &r->at;

    memset(at, 0, sizeof *at);
    at->is_refused = true;
    at->offset = stream->walk.block.offset;
    at->counter = wmem_new0(r->pool, reading_counter);
    at->counter->id = stream->identifier ? stream->identifier->counter_id : PERF_NO_ID;
    readings_take(r, (perf_raw){0, 0});
}

perf_walk_event pcq_readings_event(readings *r)
{
    perf_walk_event event = perf_walk_next(&stream_of(r)->walk);

    if (event == PERF_WALK_BLOCK) {
        enter_block(r);
    } else if (event == PERF_WALK_VALUE) {
        take_value(r);
    }
    return event;
}

bool pcq_readings_next_failed(readings *r)
{
    perf_walk *walk = &stream_of(r)->walk;
    perf_walk_event event;

    while ((event = perf_walk_next(walk)) != PERF_WALK_END) {
        if (event != PERF_WALK_BLOCK) {
            continue;
        }
        enter_block(r);
        if (walk->block.type == PERF_ERROR_RETURN) {
            return true;
        }
        perf_walk_skip_block(walk);
    }
    return false;
}

static bool next(readings *r)
{
    perf_walk_event event;

    while ((event = pcq_readings_event(r)) != PERF_WALK_END) {
        if (event == PERF_WALK_VALUE) {
            return true;
        }
        if (event == PERF_WALK_BLOCK && r->with_refusals && stream_of(r)->walk.block.type == PERF_ERROR_RETURN) {
            take_refusal(r);
            return true;
        }
    }
    return false;
}

/* --- Operands ---------------------------------------------------------------------------------------------------- */

static pcq_wanted wanted(readings *r, uint32_t id)
{
    return (pcq_wanted){&stream_of(r)->now, r->number, r->at.row, r->at.column, id};
}

/* Samples of one form have the same counter of the same instance at the same place. */
static bool has_same_place(const readings *r)
{
    pcq_stream *stream = stream_of(r);

    if (stream->one_form && stream->compared_block != r->number) {
        stream->compared_block = r->number;
        stream->same_block = pcq_side_same_block(&stream->now, &stream->before, r->number);
    }
    return stream->one_form && stream->same_block;
}

static bool find_before(readings *r, reading_place *place, bool *has_counter)
{
    if (has_same_place(r)) {
        const pcq_stream *stream = stream_of(r);
        *has_counter = true;
        *place = (reading_place){NULL, 0, 0, pcq_raw_at(&stream->before.data, stream->walk.value.offset)};
        return place->raw.size > 0;
    }
    pcq_wanted want = wanted(r, r->at.counter->id);
    pcq_side *earlier = stream_of(r)->earlier;

    if (earlier && pcq_side_find(earlier, &want, place, has_counter)) {
        return true;
    }
    r->may_be_there = earlier && !*has_counter && !r->assumed && pcq_side_any_assumed(earlier);
    return false;
}

static perf_raw operand(readings *r, reading_side *side, const reading_place *place _U_, unsigned need)
{
    const state_counter_info *info = &r->at.counter->info;
    uint32_t id = need == PERF_NEEDS_BASE   ? info->base_id
                  : need == PERF_NEEDS_TIME ? info->time_id
                  : need == PERF_NEEDS_FREQ ? info->freq_id
                                            : info->multi_id;
    pcq_stream *stream = stream_of(r);
    pcq_wanted want = wanted(r, id);
    reading_place found;
    bool has_counter;

    if (id == PERF_NO_ID ||
        !pcq_side_find(side == r->now ? &stream->now : stream->earlier, &want, &found, &has_counter)) {
        return (perf_raw){0, 0};
    }
    return found.raw;
}

static bool is_doubtful(readings *r)
{
    return pcq_side_doubtful(&stream_of(r)->now, r->number);
}

const readings_layout pcq_readings_layout = {
    begin, next, know, label, name_set, open_table, find_before, operand, instance, is_doubtful,
};
