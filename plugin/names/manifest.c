/* manifest.c
 * Reads a provider's instrumentation manifest.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "names/names.h"

#include <wsutil/report_message.h>
#include <wsutil/strtoi.h>

#include "perf/counter-types.h"
#include "state/state.h"
#include "text/value-strings.h"

/* A manifest's own elements lie seven deep. */
#define MAX_DEPTH 64

/* The schema allows 1,023 characters. */
#define MAX_NAME_LENGTH 1024

typedef struct {
    GMarkupParseContext *parser;
    unsigned countersets;
    bool in_counterset;
    uint8_t guid[16]; /* of the counterset */

    /* $(string.ID): the table that is being read, and those of English and of the first other language. They stand behind what
     * names them: all is read twice, counters the second time. */
    bool has_strings;
    GHashTable *table;
    GHashTable *english;
    GHashTable *other;
    uint32_t other_lcid;

    GString *problems;
    unsigned num_problems;
} manifest;

/* --- Small things ---------------------------------------------------------------------------------------------- */

static void problem(manifest *m, const char *what)
{
    int line, character;

    g_markup_parse_context_get_position(m->parser, &line, &character);
    if (m->num_problems++ < MAX_REPORTED_LINES) {
        g_string_append_printf(m->problems, "%sline %d: %s", m->problems->len ? ", " : "", line, what);
    }
}

/* Names without the prefix of their namespace, which every manifest chooses for itself. */
static const char *local_name(const char *name)
{
    const char *colon = strchr(name, ':');

    return colon ? colon + 1 : name;
}

typedef struct {
    const char **names;
    const char **values;
} attributes;

static const char *attribute(const attributes *list, const char *name)
{
    for (unsigned i = 0; list->names[i]; i++) {
        if (strcmp(list->names[i], name) == 0) {
            return list->values[i];
        }
    }
    return NULL;
}

/* --- Tables of strings ----------------------------------------------------------------------------------------- */

static GHashTable *new_table(void)
{
    return g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, g_free);
}

static void begin_resources(manifest *m, const attributes *list)
{
    const char *culture = attribute(list, "culture");
    size_t length = culture ? strlen(culture) : 0;

    m->table = NULL;
    if (culture == NULL || g_ascii_strncasecmp(culture, "en", 2) == 0) {
        m->table = m->english = m->english ? m->english : new_table();
    } else if (m->other == NULL) {
        m->table = m->other = new_table();
        for (const value_string *row = lcid_vals; row->strptr && m->other_lcid == 0; row++) {
            bool is_it = g_ascii_strncasecmp(row->strptr, culture, length) == 0 && row->strptr[length] == ',';
            m->other_lcid = is_it ? row->value : 0; /* of a tag like de-DE, 0 if it has none */
        }
    }
}

/* GMarkup has seen to it that it is UTF-8. */
static bool is_name(const char *text)
{
    return *text != '\0' && g_utf8_strlen(text, -1) <= MAX_NAME_LENGTH;
}

static const char *look_up(GHashTable *table, const char *id)
{
    const char *name = table ? g_hash_table_lookup(table, id) : NULL;

    return name && is_name(name) ? name : NULL;
}

/* A name as it is, or as $(string.ID) names it. */
static bool resolve(const manifest *m, const char *name, state_fact *fact, state_fact_kind *kind)
{
    static const char opening[] = "$(string.";
    size_t length = strlen(name);

    *kind = PERF_FACT_ENGLISH;
    fact->name = name;
    if (!g_str_has_prefix(name, opening) || name[length - 1] != ')') {
        return true;
    }
    char *id = g_strndup(name + strlen(opening), length - strlen(opening) - 1);
    fact->name = look_up(m->english, id);
    if (fact->name == NULL) {
        *kind = PERF_FACT_LOCAL;
        fact->lcid = m->other_lcid;
        fact->name = look_up(m->other, id);
    }
    g_free(id);
    return fact->name != NULL;
}

/* --- Countersets and counters ---------------------------------------------------------------------------------- */

/* InstanceType of [MS-PCQ] 2.2.4.1 by the schema's words. */
static const value_string instance_kinds[] = {
    {0x00, "single"},
    {0x02, "multiple"},
    {0x04, "globalAggregate"},
    {0x06, "multipleAggregate"},
    {0x0C, "globalAggregateHistory"},
    {0x16, "instanceAggregate"},
    {0, NULL},
};

/* The number of a word, in any letters. */
static bool parse_word(const value_string *list, const char *word, uint32_t *number)
{
    for (; list->strptr; list++) {
        if (g_ascii_strcasecmp(word, list->strptr) == 0) {
            *number = list->value;
            return true;
        }
    }
    return false;
}

static void add_name(manifest *m, uint32_t id, const char *name)
{
    state_fact fact = {0};
    state_fact_kind kind;

    if (name == NULL) {
        return; /* of a counter that is not displayed */
    }
    if (!is_name(name)) {
        problem(m, "the name is empty or too long");
    } else if (resolve(m, name, &fact, &kind)) {
        facts_file_add(NULL, facts_subject(m->guid, id), kind, &fact);
    } else {
        problem(m, "the name's string is missing");
    }
}

static void begin_counterset(manifest *m, const attributes *list)
{
    const char *guid = attribute(list, "guid"), *instances = attribute(list, "instances");
    state_fact fact = {0};

    m->in_counterset = guid && names_parse_guid(guid, m->guid);
    if (!m->in_counterset) {
        problem(m, "a counterset without a GUID");
        return;
    }
    m->countersets++;
    if (parse_word(instance_kinds, instances ? instances : "single", &fact.instance_type)) {
        facts_file_add(NULL, facts_subject(m->guid, PERF_NO_ID), PERF_FACT_SET, &fact);
    } else {
        problem(m, "unknown kind of instances");
    }
    add_name(m, PERF_NO_ID, attribute(list, "name"));
}

/* An id that need not be given. */
static bool parse_reference(const attributes *list, const char *name, uint32_t *id)
{
    const char *word = attribute(list, name);

    *id = PERF_NO_ID;
    return word == NULL || names_parse_number(word, id);
}

static bool parse_counter(const attributes *list, state_counter_info *counter)
{
    static const value_string other_name[] = {{PERF_PRECISION_TIMESTAMP, "PERF_PRECISION_TIMESTAMP"}, {0, NULL}};
    const char *type = attribute(list, "type"), *scale = attribute(list, "defaultScale");

    return type &&
           (parse_word(counter_type_vals, type, &counter->type) || parse_word(other_name, type, &counter->type)) &&
           parse_reference(list, "baseID", &counter->base_id) &&
           parse_reference(list, "perfTimeID", &counter->time_id) &&
           parse_reference(list, "perfFreqID", &counter->freq_id) &&
           parse_reference(list, "multiCounterID", &counter->multi_id) &&
           (scale == NULL || ws_strtoi32(scale, NULL, &counter->scale));
}

static void read_counter(manifest *m, const attributes *list)
{
    const char *id = attribute(list, "id");
    state_subject subject = facts_subject(m->guid, PERF_NO_ID);
    state_fact fact = {0};

    if (!m->in_counterset) {
        return;
    }
    if (id == NULL || !names_parse_number(id, &subject.id) || subject.id == PERF_NO_ID) {
        problem(m, "a counter without an id");
        return;
    }
    if (parse_counter(list, &fact.counter)) {
        facts_file_add(NULL, subject, PERF_FACT_COUNTER, &fact);
    } else {
        problem(m, "a counter whose type or reference is not known");
    }
    add_name(m, subject.id, attribute(list, "name"));
}

/* --- XML ------------------------------------------------------------------------------------------------------- */

static void start_element(GMarkupParseContext *parser, const char *element, const char **names, const char **values,
                          void *user, GError **error)
{
    manifest *m = user;
    attributes list = {names, values};
    const char *name = local_name(element);

    /* GMarkup keeps each element that is open */
    if (g_slist_length((GSList *)g_markup_parse_context_get_element_stack(parser)) > MAX_DEPTH) {
        g_set_error(error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT, "more than %d elements deep", MAX_DEPTH);
    } else if (strcmp(name, "resources") == 0) {
        begin_resources(m, &list);
    } else if (strcmp(name, "string") == 0 && m->table && attribute(&list, "id") && attribute(&list, "value")) {
        g_hash_table_replace(m->table, g_strdup(attribute(&list, "id")), g_strdup(attribute(&list, "value")));
    } else if (strcmp(name, "counterSet") == 0 && m->has_strings) {
        begin_counterset(m, &list);
    } else if (strcmp(name, "counter") == 0 && m->has_strings) {
        read_counter(m, &list);
    }
}

static void end_element(GMarkupParseContext *parser _U_, const char *element, void *user, GError **error _U_)
{
    manifest *m = user;
    const char *name = local_name(element);

    if (strcmp(name, "counterSet") == 0) {
        m->in_counterset = false;
    } else if (strcmp(name, "resources") == 0) {
        m->table = NULL;
    }
}

static bool parse(manifest *m, const char *text, size_t size, GError **error)
{
    static const GMarkupParser callbacks = {start_element, end_element, NULL, NULL, NULL};

    m->parser = g_markup_parse_context_new(&callbacks, 0, m, NULL);
    bool whole = g_markup_parse_context_parse(m->parser, text, (gssize)size, error) &&
                 g_markup_parse_context_end_parse(m->parser, error);
    g_markup_parse_context_free(m->parser);
    return whole;
}

void manifest_read(const char *path, const char *text, size_t size)
{
    manifest m = {.problems = g_string_new(NULL)};
    GError *error = NULL;

    parse(&m, text, size, NULL); /* what is wrong is said behind the second reading */
    m.has_strings = true;
    if (!parse(&m, text, size, &error)) {
        report_warning("pcq: manifest %s is read up to its first fault: %s", path, error->message);
        g_error_free(error);
    } else if (m.num_problems > 0) {
        report_warning("pcq: manifest %s: %s%s; the rest counts", path, m.problems->str,
                       m.num_problems > MAX_REPORTED_LINES ? ", and others" : "");
    } else if (m.countersets == 0) {
        report_warning("pcq: manifest %s describes no counterset", path);
    }
    g_clear_pointer(&m.english, g_hash_table_destroy);
    g_clear_pointer(&m.other, g_hash_table_destroy);
    g_string_free(m.problems, TRUE);
}
