/* readings.c
 * One answer with performance data, as a stream of readings.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "readings/readings.h"

#include "perf/bytes.h"
#include "readings/layout.h"

/* What values that are no numbers may take beyond the answer's bytes, and what is shown of each once that is used up. */
#define RAW_AT_LEAST 65536
#define SHORT_RAW 64

/* What an answer's values may take beyond its bytes: those of no size take one each. */
#define BYTES_AT_LEAST 4096

readings *readings_begin(wmem_allocator_t *pool, const readings_answer *answer)
{
    readings *r = wmem_new0(pool, readings);

    ws_assert(answer->layout && answer->server && answer->tvb);
    r->pool = pool;
    r->answer = *answer;
    r->size = tvb_captured_length(answer->tvb);
    r->bytes = r->size > 0 ? tvb_get_ptr(answer->tvb, 0, (int)r->size) : NULL;
    r->number = r->prefix_number = UINT32_MAX;
    r->text_left = READINGS_PATHS_SIZE(r->size);
    r->bytes_left = BYTES_AT_LEAST + (uint64_t)r->size;
    r->raw_left = RAW_AT_LEAST + (uint64_t)r->size;
    r->path = wmem_strbuf_new(pool, NULL);
    answer->layout->begin(r);
    r->operands.current = r->current->clocks;
    if (r->machine == NULL || *r->machine == '\0') {
        r->machine = answer->server->text;
    }
    r->machine = readings_bounded(pool, r->machine);
    return r;
}

const perf_point *readings_clocks(const readings *r)
{
    return &r->current->clocks;
}

const reading *readings_next(readings *r)
{
    bool is_there = r->answer.layout->next(r);
    uint64_t size = r->at.size > 0 ? r->at.size : 1;

    if (!is_there || size > r->bytes_left) {
        return NULL;
    }
    r->bytes_left -= size;
    return &r->at;
}

void readings_enter(readings *r, uint32_t number)
{
    r->number = number;
    r->table = NULL;
    r->set_label = NULL;
    r->guid = NULL;
    r->instance = NULL;
    r->counters = NULL;
}

void readings_compare_with(readings *r, sample_view *previous, uint32_t frame)
{
    r->previous = previous;
    r->previous_frame = frame;
    r->operands.previous = previous ? previous->clocks : (perf_point){.perf_freq = 0};
    r->interval = perf_interval(&r->current->clocks, previous ? &previous->clocks : NULL);
    r->do_clocks_differ = previous && perf_clocks_differ(&r->current->clocks, &previous->clocks, r->interval);
}

void readings_compare_in_order(readings *r, sample_view *previous, const state_sample *answered)
{
    bool overlaps = r->answer.request_event > 0 && r->answer.request_event < answered->event;

    if (overlaps && perf_is_older(&r->current->clocks, &previous->clocks)) {
        readings_compare_with(r, NULL, 0);
        r->why_no_previous = PERF_NO_RESULT_OVERTAKEN;
    } else {
        readings_compare_with(r, previous, answered->frame);
    }
}

reading_table *readings_table(readings *r)
{
    if (r->table == NULL) {
        r->answer.layout->open_table(r);
    }
    return r->table;
}

uint32_t readings_raw_size(readings *r)
{
    uint32_t size = r->at.size;

    if (size > r->raw_left && size > SHORT_RAW) {
        return SHORT_RAW;
    }
    r->raw_left -= size < r->raw_left ? size : r->raw_left;
    return size;
}

/* --- Results ----------------------------------------------------------------------------------------------------- */

/* All but the value. */
static void fetch_operands(readings *r, sample_view *view, const reading_place *place, unsigned needs,
                           perf_point *point)
{
    const readings_layout *layout = r->answer.layout;

    point->base = needs & PERF_NEEDS_BASE ? layout->operand(r, view, place, PERF_NEEDS_BASE) : point->base;
    point->time = needs & PERF_NEEDS_TIME ? layout->operand(r, view, place, PERF_NEEDS_TIME) : point->time;
    point->freq = needs & PERF_NEEDS_FREQ ? layout->operand(r, view, place, PERF_NEEDS_FREQ) : point->freq;
    point->multi = needs & PERF_NEEDS_MULTI ? layout->operand(r, view, place, PERF_NEEDS_MULTI) : point->multi;
}

#define NEEDS_OPERANDS (PERF_NEEDS_BASE | PERF_NEEDS_TIME | PERF_NEEDS_FREQ | PERF_NEEDS_MULTI)

/* Or, in one of both samples, an instance whose name is not known may be the one that has no pair. */
static perf_no_result new_instance(readings *r, const reading_place *place)
{
    return r->table && r->table->lacks_names           ? PERF_NO_RESULT_DAMAGED
           : place->table && place->table->lacks_names ? PERF_NO_RESULT_BEFORE_DAMAGED
                                                       : PERF_NO_RESULT_NEW_INSTANCE;
}

static bool previous_operands(readings *r, unsigned flags, perf_point *previous, perf_no_result *why)
{
    reading_place place = {.row = UINT32_MAX};

    *why = r->is_doubtful ? PERF_NO_RESULT_DAMAGED : r->why_no_previous;
    if (r->previous == NULL || r->is_doubtful) {
        return false;
    }
    if (!r->answer.layout->find_previous(r, &place)) {
        *why = place.is_ambiguous                             ? PERF_NO_RESULT_MOVED
               : place.may_have_changed                       ? PERF_NO_RESULT_TOLD_ANEW
               : place.has_counter && place.row != UINT32_MAX ? PERF_NO_RESULT_OTHER_SIZE
               : place.failed                                 ? PERF_NO_RESULT_BEFORE_FAILED
               : place.has_counter                            ? new_instance(r, &place)
               : place.others                                 ? PERF_NO_RESULT_OTHER_COUNTERS
               : r->may_be_there                              ? r->may_be_there
                                                              : PERF_NO_RESULT_NEW_COUNTER;
        return false;
    }
    previous->value = place.raw;
    r->operands.assumed = place.assumed;
    r->operands.table = place.table;
    r->operands.column = place.column;
    if (flags & NEEDS_OPERANDS) {
        fetch_operands(r, r->previous, &place, flags, previous);
    }
    return true;
}

/* Those of its formula. */
static void find_operands(readings *r)
{
    if (r->operands.known) {
        return;
    }
    ws_assert(r->at.counter->known && r->at.counter->type);
    unsigned flags = perf_formulas[r->at.counter->type->formula].flags;
    r->operands.known = true;
    r->operands.current.value = r->at.raw;
    if (flags & NEEDS_OPERANDS) {
        reading_place place = {.table = readings_table(r), r->at.row, r->at.column, r->at.raw};
        fetch_operands(r, r->current, &place, flags, &r->operands.current);
    }
    r->operands.why = PERF_NO_RESULT_OK;
    r->operands.assumed = false;
    r->operands.has_previous =
        (flags & PERF_NEEDS_PREVIOUS) && previous_operands(r, flags, &r->operands.previous, &r->operands.why);
}

/* What went backwards may be a sum, of which an instance ended. Where one was asked for by its name that alone tells. */
static perf_no_result backwards(readings *r, perf_no_result none)
{
    const perf_raw before = r->operands.previous.value;

    if (readings_table(r)->has_instances) {
        bool has_ended = readings_table_sum_ended(r->table, r->at.row, r->at.column, r->at.raw, r->operands.table,
                                                  r->operands.column, before);
        return has_ended ? PERF_NO_RESULT_SUM_ENDED : none;
    }
    const char *instance = perf_is_backwards(r->at.raw, before) ? readings_instance(r) : NULL;
    bool is_sum = instance && readings_name_is_sum(instance, (uint32_t)strlen(instance));
    return is_sum ? PERF_NO_RESULT_SUM_BACKWARDS : none;
}

/* PerflibV2: the base, time or whatever else is not there may have stood where one of both answers is damaged. */
static perf_no_result lacks(const readings *r, perf_no_result none)
{
    const state_sample *sample = r->answer.sample;
    const state_sample *previous = sample && r->operands.has_previous ? sample->older_of_all : NULL;

    return sample && sample->summary.faults > 0       ? PERF_NO_RESULT_DAMAGED
           : previous && previous->summary.faults > 0 ? PERF_NO_RESULT_BEFORE_DAMAGED
                                                      : none;
}

/* A reason, in words of the instance or object where they tell more. */
static perf_result explained(readings *r, perf_no_result none)
{
    const perf_no_result no_clock = r->answer.layout->no_clock;
    bool lacks_clock =
        no_clock != PERF_NO_RESULT_OK && (none == PERF_NO_RESULT_NO_TIME || none == PERF_NO_RESULT_NO_FREQ);
    bool lacks_operand =
        no_clock == PERF_NO_RESULT_OK && none >= PERF_NO_RESULT_NO_BASE && none <= PERF_NO_RESULT_NO_MULTI;

    return (perf_result){0, perf_is_reset(none) ? backwards(r, none)
                            : lacks_clock       ? no_clock
                            : lacks_operand     ? lacks(r, none)
                                                : none};
}

perf_result readings_result(readings *r)
{
    ws_assert(r->at.counter && !r->at.is_text);
    const reading_counter *counter = readings_known_counter(r);
    perf_result none = {0, counter->none};

    if (none.none != PERF_NO_RESULT_OK) {
        return none;
    }
    if (r->at.raw.size == 0 || counter->type->formula == PERF_FORMULA_NONE) {
        perf_point alone = r->current->clocks; /* only to learn the reason: no formula, or not a number's size */
        alone.value = r->at.raw;
        return perf_calculate(counter->type, &alone, NULL, PERF_NO_RESULT_OK);
    }
    find_operands(r);
    perf_result result = perf_calculate(counter->type, &r->operands.current,
                                        r->operands.has_previous ? &r->operands.previous : NULL, r->operands.why);
    if (result.none != PERF_NO_RESULT_OK) {
        return explained(r, result.none);
    }
    perf_operand per = perf_formulas[counter->type->formula].denominator;
    bool is_per_time = per == PERF_OPERAND_TICKS || per == PERF_OPERAND_100NS;
    return r->do_clocks_differ && is_per_time ? (perf_result){0, PERF_NO_RESULT_CLOCKS_DIFFER} : result;
}

/* --- Paths ------------------------------------------------------------------------------------------------------- */

const char *readings_with_ordinal(const readings *r, reading_table *table, uint32_t row, const char *name,
                                  uint32_t unit)
{
    uint32_t ordinal =
        readings_table_has_row(table, row) ? readings_instances_counted(&table->instances, row)->name_ordinal : 0;

    return ordinal > 0 || readings_table_reads_twice(table, row, name, unit)
               ? wmem_strdup_printf(r->pool, "%s#%u", name, ordinal)
               : name;
}

const char *readings_set(readings *r)
{
    if (r->set_label == NULL) {
        r->answer.layout->look_up_set(r);
    }
    return r->set_label;
}

const char *readings_instance(readings *r)
{
    if (readings_set(r) == NULL || !r->has_instances) {
        return NULL;
    }
    if (r->instance == NULL || r->instance_row != r->at.row) {
        r->instance = r->answer.layout->instance(r);
        r->instance_row = r->at.row;
    }
    return r->instance;
}

const char *readings_counter(readings *r)
{
    reading_counter *counter = r->at.counter;

    if (counter->label == NULL && readings_known_counter(r)->none != PERF_NO_RESULT_COUNTER_NOT_KNOWN) {
        counter->label = readings_bounded(r->pool, r->answer.layout->label(r));
    }
    return counter->label;
}

/* Adds all of a text to the path, or its beginning once paths have taken all that this answer may. */
static void add_bounded(readings *r, const char *part)
{
    size_t size = strlen(part);

    if (r->text_left == 0 && size > READINGS_SHORT_NAME) {
        size = (size_t)(g_utf8_find_prev_char(part, part + READINGS_SHORT_NAME) - part);
    }
    wmem_strbuf_append_len(r->path, part, size);
}

/* "\\SRV\Set(instance)\" */
static void write_prefix(readings *r)
{
    const char *instance = readings_instance(r);

    r->prefix_number = r->number;
    r->prefix_row = r->at.row;
    wmem_strbuf_truncate(r->path, 0);
    wmem_strbuf_append(r->path, "\\\\");
    add_bounded(r, r->machine);
    wmem_strbuf_append_c(r->path, '\\');
    add_bounded(r, r->set_label);
    if (instance) {
        wmem_strbuf_append_c(r->path, '(');
        add_bounded(r, instance);
        wmem_strbuf_append_c(r->path, ')');
    }
    wmem_strbuf_append_c(r->path, '\\');
    r->prefix_size = wmem_strbuf_get_len(r->path);
}

const char *readings_path(readings *r)
{
    const char *label = readings_counter(r);

    if (label == NULL) {
        return NULL;
    }
    if (r->prefix_number != r->number || r->prefix_row != r->at.row) {
        write_prefix(r);
    }
    wmem_strbuf_truncate(r->path, r->prefix_size);
    add_bounded(r, label);
    r->text_left -= MIN(r->text_left, wmem_strbuf_get_len(r->path));
    return wmem_strbuf_get_str(r->path);
}

bool readings_set_is_single(state_host *server, const uint8_t *guid, uint32_t event)
{
    state_known set = facts_lookup(server, facts_subject(guid, PERF_NO_ID), PERF_FACT_SET, event);

    return set.fact && set.fact->instance_type == 0;
}

bool readings_identifier_doubted(state_host *server, const uint8_t *guid, uint32_t counter_id, uint32_t asked,
                                 uint32_t event)
{
    const state_subject set = facts_subject(guid, PERF_NO_ID), counter = facts_subject(guid, counter_id);

    return facts_doubted(server, set, PERF_FACT_ENGLISH, asked, event) ||
           facts_doubted(server, set, PERF_FACT_SET, asked, event) ||
           facts_doubted(server, counter, PERF_FACT_ENGLISH, asked, event);
}

bool readings_is_of(readings *r, readings_whose *whose)
{
    const reading_counter *counter = readings_known_counter(r);
    uint64_t own =
        r->guid ? perf_le64(r->guid) ^ 31 * perf_le64(r->guid + 8) ^ (uint64_t)counter->id << 32 : whose->counter;

    whose->counter = whose->counter == 0 ? own : whose->counter;
    if (whose->counter != own) {
        return false;
    }
    whose->type = whose->type ? whose->type : counter->type;
    return counter->type == NULL || whose->type == counter->type;
}

char *readings_identifier_path(wmem_allocator_t *pool, state_host *server, const char *machine,
                               const state_identifier *identifier, uint32_t event, uint64_t *left)
{
    unsigned most = left && *left == 0 ? READINGS_SHORT_NAME : TEXT_NAME_MAX;
    const char *set = text_cut(pool, facts_counterset_label(pool, server, identifier->guid, event), most);
    const char *counter =
        text_cut(pool, facts_counter_label(pool, server, identifier->guid, identifier->counter_id, event), most);
    bool has_instance =
        identifier->instance && *identifier->instance && !readings_set_is_single(server, identifier->guid, event);
    const char *instance = has_instance ? text_cut(pool, identifier->instance, most) : "";
    char *path = wmem_strconcat(pool, machine ? "\\\\" : "", machine ? text_cut(pool, machine, most) : "", "\\", set,
                                has_instance ? "(" : "", instance, has_instance ? ")" : "", "\\", counter, NULL);

    if (left) {
        *left -= MIN(*left, strlen(path));
    }
    return path;
}

/* --- Words -------------------------------------------------------------------------------------------------------- */

const char *readings_text(readings *r, uint32_t most)
{
    return text_get(r->pool, r->answer.tvb, r->at.offset, r->at.text_size, r->at.code_page, r->at.byte_order, most);
}

/* Writes the number that is shown of a result to `text` (TEXT_NUMBER_SIZE bytes), and returns its length: of raw types the integer that was
 * sent, as a double does not hold 64 bits, in hex if the type says so; of others the result. */
static unsigned write_number(const readings *r, const perf_result *result, char *text)
{
    const perf_counter_type *type = r->at.counter->type;

    if (type->hex) {
        return (unsigned)snprintf(text, TEXT_NUMBER_SIZE, "0x%" PRIx64, r->at.raw.value);
    }
    return type->kind == PERF_KIND_NUMBER ? text_integer(text, r->at.raw.value) : text_number(text, result->value);
}

const char *readings_display(readings *r, const perf_result *result)
{
    char number[TEXT_NUMBER_SIZE];

    if (r->at.is_text) {
        return wmem_strconcat(r->pool, "\"", readings_text(r, TEXT_NAME_MAX), "\"", NULL);
    }
    if (result->none == PERF_NO_RESULT_OK) {
        const char *unit = r->at.counter->type->unit;
        char *end = r->words + write_number(r, result, r->words);
        *end = ' ';
        memcpy(end + (*unit != '\0'), unit, strlen(unit) + 1);
    } else if (r->at.is_number) {
        text_integer(number, r->at.raw.value);
        snprintf(r->words, sizeof r->words, "%s (raw; %s)", number, perf_no_result_text[result->none]);
    } else {
        text_integer(number, r->at.size);
        snprintf(r->words, sizeof r->words, "%s byte%s", number, r->at.size == 1 ? "" : "s");
    }
    return r->words;
}

/* --- The formula ------------------------------------------------------------------------------------------------- */

/* Each of these returns where the next text goes. */
static char *put_number(char *to, const char *name, uint64_t value)
{
    to = perf_put_text(to, name);
    return to + text_integer(to, value);
}

/* Clocks are told by what passed between the samples. */
static char *put_clock(char *to, const char *name, uint64_t current, uint64_t previous)
{
    return current >= previous ? put_number(to, name, current - previous) : to;
}

static char *put_clocks(char *to, readings *r, const perf_formula_info *formula)
{
    const perf_point *current = &r->operands.current, *previous = &r->operands.previous;

    if (r->operands.has_previous && formula->denominator == PERF_OPERAND_TICKS) {
        to = put_clock(to, ", T1 - T0 = ", current->perf_time, previous->perf_time);
    } else if (r->operands.has_previous && formula->denominator == PERF_OPERAND_100NS) {
        to = put_clock(to, ", H1 - H0 = ", current->time_100ns, previous->time_100ns);
    }
    return formula->flags & (PERF_RATE | PERF_TICKS) ? put_number(to, ", F = ", current->perf_freq) : to;
}

/* Of this sample, and of the one before where there is one, as far as they are sent. */
static char *put_operand(char *to, const char *name, perf_raw now, const char *name_before, const perf_raw *before)
{
    to = now.size > 0 ? put_number(to, name, now.value) : to;
    return before && before->size > 0 ? put_number(to, name_before, before->value) : to;
}

bool readings_has_formula(const readings *r)
{
    ws_assert(r->at.counter->known);
    const perf_counter_type *type = r->at.counter->type;

    return type && type->kind == PERF_KIND_COUNTER && r->at.raw.size > 0 && r->at.counter->none == PERF_NO_RESULT_OK;
}

/* By the letters of perf/counter-types.h. */
char *readings_put_formula(readings *r, char *to)
{
    const perf_formula_info *formula = &perf_formulas[r->at.counter->type->formula];

    find_operands(r);
    const perf_point *current = &r->operands.current,
                     *previous = r->operands.has_previous ? &r->operands.previous : NULL;
    to = perf_put_text(to, formula->text);
    to = put_operand(to, ", N1 = ", current->value, ", N0 = ", previous ? &previous->value : NULL);
    if (formula->flags & PERF_NEEDS_BASE && current->base.size > 0) {
        to = put_operand(to, ", B1 = ", current->base, ", B0 = ", previous ? &previous->base : NULL);
    } else if (formula->flags & PERF_NEEDS_TIME) {
        to = put_operand(to, ", O1 = ", current->time, ", O0 = ", previous ? &previous->time : NULL);
    }
    to = put_clocks(to, r, formula);
    to = formula->flags & PERF_NEEDS_FREQ ? put_operand(to, ", OF = ", current->freq, NULL, NULL) : to;
    to = formula->flags & PERF_NEEDS_MULTI ? put_operand(to, ", M1 = ", current->multi, NULL, NULL) : to;
    *to = '\0';
    return to;
}
