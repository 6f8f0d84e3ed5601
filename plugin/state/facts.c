/* facts.c
 * Names and types: what is known of countersets, counters and title indexes, and where from.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/facts.h"

#include <epan/guid-utils.h>
#include <epan/to_str.h>

#include "perf/bytes.h"

#include "perf/known-countersets.h"

/* by fact_key; emptied with the file */
static wmem_map_t *facts;      /* subject_facts */
static wmem_map_t *file_facts; /* state_fact: the names file, which is read for each capture anew */
static wmem_map_t *builtin;    /* state_fact: what was looked up in the built-in list */

#define ANY_SERVER "*" /* in a names file */
#define NO_KIND PERF_NUM_FACT_KINDS
#define NEVER UINT32_MAX

typedef struct {
    const void *owner; /* state_host, or the quark of an address in a names file; ANY_SERVER is one, too */
    state_subject subject;
    state_fact_kind kind;
} fact_key;

typedef struct {
    uint32_t event;
    uint32_t frame;
    state_fact fact;
    unsigned tellers; /* how often it was told; 0: all who did proved to be to other machines */
    uint32_t last;    /* event of the last time, */
    uint32_t asked;   /* and of a request for it, the latest: it held at some moment after that */
} fact_version;

/* A list of names or types that was not read whole: whether those that were told before still hold is unknown. */
typedef struct {
    uint32_t event;
    uint32_t frame;               /* 0: calls were lost, it may be none */
    const uint32_t *answer_frame; /* *: where it was answered after all, 0: it was not; NULL: that is known */
    uint32_t since;               /* first event at which it may have been told; 0: its own */
} unread_list;

/* When lists may have been told that were lost. */
typedef struct {
    uint32_t event; /* of the last moment */
    uint32_t since;
} unread_span;

/* What it tells: the name of a set, those of its counters (or titles), types. */
typedef enum { OF_SET, OF_COUNTERS, OF_TYPES, NUM_LIST_KINDS } list_kind;

/* A language got another name: the subject is another thing from then on. */
typedef struct {
    uint32_t event;
    uint32_t since; /* event at which a name of before was last told, */
    uint32_t asked; /* and of the request for that: in between it became another thing */
} name_change;

/* What was learned of a server's subject. */
typedef struct subject_facts {
    fact_key key;                                /* its kind is NO_KIND: one entry for all kinds */
    wmem_array_t *versions[PERF_NUM_FACT_KINDS]; /* fact_version, ascending events; NULL as long as there is none */
    wmem_array_t *lists
        [NUM_LIST_KINDS]; /* of a set, or what stands for all: unread_list, ascending events; NULL as long as there is none */
    /* of the same, all lists: unread_span, both events ascending, since what lies within another says nothing more; then unused ones */
    wmem_array_t *spans;
    unsigned num_spans;
    /* name_change, ascending events: the subject is another thing from there on, and no name from before is its own. NULL as long as there
     * is none */
    wmem_array_t *name_changes;
} subject_facts;

/* What a connection told, as long as it may prove to be to another machine. */
typedef struct {
    uint32_t event;
    subject_facts *subject;
    state_fact_kind kind;
    uint32_t asked; /* event of the request; of one that is unread the first at which it may have been told */
    uint32_t frame;
    uint32_t lcid;
    const char *name; /* NULL if it is none */
    bool is_unread;   /* what was told is unknown */
    const uint32_t *answer_frame;
} told_fact;

/* Of the key a packet chooses the subject alone, so that alone needs a keyed hash. */
static unsigned fact_key_hash(const void *key)
{
    const fact_key *k = key;

    return wmem_strong_hash((const uint8_t *)&k->subject, sizeof k->subject) + (unsigned)(uintptr_t)k->owner + k->kind;
}

static gboolean fact_key_equal(const void *a, const void *b)
{
    const fact_key *x = a, *y = b;

    return x->owner == y->owner && x->kind == y->kind && x->subject.id == y->subject.id &&
           memcmp(x->subject.guid, y->subject.guid, sizeof x->subject.guid) == 0;
}

/* NULL as long as nothing was learned. */
static subject_facts *find_facts(state_host *server, const state_subject *subject)
{
    const fact_key key = {server, *subject, NO_KIND};

    return wmem_map_lookup(facts, &key);
}

/* What is known of a subject of a machine: what was told on connections that are to it, and on others of its place that may be to it as long as
 * nothing says otherwise (host_commons(), host_likely()). NULL where nothing was. */
typedef struct {
    const subject_facts *own;
    const subject_facts *others;
} learned_facts;

static learned_facts find_learned(state_host *server, const state_subject *subject)
{
    state_host *commons = host_commons(server), *others = commons ? commons : host_likely(server);

    return (learned_facts){find_facts(server, subject),
                           others && others->told > 0 ? find_facts(others, subject) : NULL};
}

static subject_facts *keep_facts(state_host *server, const state_subject *subject)
{
    subject_facts *kept = find_facts(server, subject);

    if (kept == NULL) {
        kept = wmem_new0(wmem_file_scope(), subject_facts);
        kept->key = (fact_key){server, *subject, NO_KIND};
        wmem_map_insert(facts, &kept->key, kept);
    }
    return kept;
}

static bool is_name(state_fact_kind kind)
{
    return kind == PERF_FACT_ENGLISH || kind == PERF_FACT_LOCAL;
}

static bool same_fact(state_fact_kind kind, const state_fact *a, const state_fact *b)
{
    switch (kind) {
    case PERF_FACT_COUNTER:
        return memcmp(&a->counter, &b->counter, sizeof a->counter) == 0;
    case PERF_FACT_SET:
        return a->instance_type == b->instance_type;
    default:
        return a->lcid == b->lcid && strcmp(a->name, b->name) == 0;
    }
}

static fact_version *version_at(wmem_array_t *versions, unsigned i)
{
    return wmem_array_index(versions, i);
}

/* Both are there, of one language, and not the same. */
static bool differ(state_fact_kind kind, const fact_version *a, const fact_version *b)
{
    return a && b && a->fact.lcid == b->fact.lcid && !same_fact(kind, &a->fact, &b->fact);
}

/* More languages than these are not told apart. */
#define MAX_LANGUAGES 32
#define MAX_VERSIONS 64 /* more of them are not looked through, or put in order again */

/* The newest of the first `count` versions, NULL without one; of a name that in the same language. */
static fact_version *newest_of(wmem_array_t *versions, unsigned count, state_fact_kind kind, const state_fact *fact)
{
    for (unsigned i = count; i > 0 && count - i < MAX_LANGUAGES; i--) {
        fact_version *version = wmem_array_index(versions, i - 1);
        if (!is_name(kind) || version->fact.lcid == fact->lcid) {
            return version;
        }
    }
    return NULL;
}

static fact_version *newest_alike(wmem_array_t *versions, state_fact_kind kind, const state_fact *fact)
{
    return newest_of(versions, versions ? wmem_array_get_count(versions) : 0, kind, fact);
}

static const perf_counter_type *type_of(state_fact_kind kind, const state_fact *fact)
{
    return kind == PERF_FACT_COUNTER ? perf_counter_type_find(fact->counter.type) : NULL;
}

static uint32_t latest_name_change(const subject_facts *learned, uint32_t event)
{
    const name_change *change = learned->name_changes ? state_event_latest(learned->name_changes, event) : NULL;

    return change ? change->event : 0;
}

/* Stands for whatever set an answer was of that was not read at all. */
static const state_subject any_set = {
    {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, PERF_NO_ID};

static list_kind kind_of_list(const state_subject *subject, state_fact_kind kind)
{
    return !is_name(kind) ? OF_TYPES : subject->id == PERF_NO_ID ? OF_SET : OF_COUNTERS;
}

static bool is_unread(const unread_list *unread)
{
    return unread->answer_frame == NULL || *unread->answer_frame == 0;
}

/* Lists that were answered after all and are passed over in one look-up; where there are more, names are doubted that need not be. */
#define MAX_ANSWERED 64

/* The first list after an event that may have told such a fact, NULL without one. `set`: of whose lists; `is_list`: it is known to be one. */
static const unread_list *first_unread_of(const subject_facts *learned, const subject_facts *set, state_fact_kind kind,
                                          uint32_t event, bool is_list)
{
    wmem_array_t *lists = set ? set->lists[kind_of_list(&learned->key.subject, kind)] : NULL;
    unsigned next = lists ? state_event_count_until(lists, event) : 0, passed = 0;

    while (lists && next < wmem_array_get_count(lists)) {
        const unread_list *unread = wmem_array_index(lists, next++);
        if ((is_unread(unread) && (!is_list || unread->frame > 0)) || ++passed == MAX_ANSWERED) {
            return unread;
        }
    }
    return NULL;
}

static const unread_list *first_unread(const subject_facts *learned, state_fact_kind kind, uint32_t event, bool is_list)
{
    state_host *server = (state_host *)learned->key.owner;
    const state_subject set = facts_subject(learned->key.subject.guid, PERF_NO_ID);

    if (!server->has_unread_lists) {
        return NULL; /* the usual case */
    }
    const unread_list *own = first_unread_of(learned, find_facts(server, &set), kind, event, is_list), *any = NULL;
    if (!facts_subject_is_title(&set)) {
        any = first_unread_of(learned, find_facts(server, &any_set), kind, event, is_list);
    }
    return own && (any == NULL || own->event < any->event) ? own : any;
}

static bool is_in_span(const subject_facts *set, uint32_t after, uint32_t event)
{
    unsigned next = set && set->spans ? state_event_count_until(set->spans, after) : 0;

    return set && next < set->num_spans && ((const unread_span *)wmem_array_index(set->spans, next))->since <= event;
}

/* The first list that was told after an event, or one behind it, may have told it before another one. */
static bool may_tell_before(const subject_facts *learned, const unread_list *first, uint32_t after, uint32_t event)
{
    state_host *server = (state_host *)learned->key.owner;
    const state_subject set = facts_subject(learned->key.subject.guid, PERF_NO_ID);

    return first->event <= event || is_in_span(find_facts(server, &set), after, event) ||
           (!facts_subject_is_title(&set) && is_in_span(find_facts(server, &any_set), after, event));
}

static const name_change *next_name_change(const subject_facts *learned, uint32_t event)
{
    unsigned next = learned->name_changes ? state_event_count_until(learned->name_changes, event) : 0;
    bool is_there = learned->name_changes && next < wmem_array_get_count(learned->name_changes);

    return is_there ? wmem_array_index(learned->name_changes, next) : NULL;
}

/* What was told last of a subject that is still what it was as `until` was told: another language that was told before, and again after it, tells
 * that. `end`: another thing begins there. */
static const fact_version *named_until(const subject_facts *learned, const fact_version *until, uint32_t end)
{
    const fact_version *before;
    uint32_t begin = latest_name_change(learned, until->last);

    do {
        before = until;
        for (unsigned kind = PERF_FACT_ENGLISH; kind <= PERF_FACT_LOCAL; kind++) {
            wmem_array_t *versions = learned->versions[kind];
            unsigned count = versions ? state_event_count_until(versions, end - 1) : 0;
            for (unsigned i = count; i > 0 && count - i < MAX_LANGUAGES; i--) {
                const fact_version *version = wmem_array_index(versions, i - 1);
                bool goes_on = version->event >= begin && version->event <= until->asked;
                until = goes_on && version->asked > until->asked ? version : until;
            }
        }
    } while (until != before);
    return until;
}

static void add_name_change(subject_facts *learned, const fact_version *told, const fact_version *newest)
{
    const fact_version *until = named_until(learned, newest, told->event);
    name_change change = {told->event, until->last, until->asked};

    if (learned->name_changes == NULL) {
        learned->name_changes = wmem_array_sized_new(wmem_file_scope(), sizeof change, 1);
    }
    wmem_array_append_one(learned->name_changes, change);
}

/* What was told first of a subject, of names in whichever language; NULL if nothing was. */
static const fact_version *first_version(const subject_facts *learned, state_fact_kind kind)
{
    wmem_array_t *versions = learned->versions[kind];
    const fact_version *first = versions && wmem_array_get_count(versions) > 0 ? wmem_array_index(versions, 0) : NULL;
    const fact_version *local = kind == PERF_FACT_ENGLISH ? first_version(learned, PERF_FACT_LOCAL) : NULL;

    return first == NULL || (local && local->event < first->event) ? local : first;
}

/* True if a name that was told after an event is known to be of what the subject was then: neither was the subject another thing since, as far as
 * lists were read, nor is the name of those that were told with that change. What was told first is of it. */
static bool is_of_before(const subject_facts *learned, const fact_version *name, uint32_t event)
{
    const name_change *change = next_name_change(learned, event);
    const state_host *server = learned->key.owner;

    if (change && name->event > change->since) {
        return false;
    }
    uint32_t first = first_version(learned, PERF_FACT_ENGLISH)->event;
    const unread_list *unread = server->has_unread_lists
                                    ? first_unread(learned, PERF_FACT_ENGLISH, event < first ? first - 1 : 0, false)
                                    : NULL;
    return unread == NULL || (event < first && name->event <= unread->event);
}

/* Not what every Windows has at that title index. */
static bool is_other_title(const state_subject *subject, const char *name)
{
    const char *known = facts_subject_is_title(subject) ? perf_known_title(subject->id) : NULL;

    return known && strcmp(known, name) != 0;
}

/* The version that says the same already, NULL without one: browsing again teaches nothing new, nor does another language that comes
 * back. */
static fact_version *held_version(subject_facts *learned, state_fact_kind kind, const state_fact *fact, uint32_t event)
{
    wmem_array_t *versions = learned ? learned->versions[kind] : NULL;
    fact_version *newest = newest_alike(versions, kind, fact);
    bool is_held = newest && same_fact(kind, &newest->fact, fact) &&
                   (!is_name(kind) || newest->event >= latest_name_change(learned, event));
    const unread_list *unread = is_held ? first_unread(learned, kind, newest->asked, false) : NULL;

    return is_held && (unread == NULL || unread->event > event) ? newest : NULL;
}

static void tell_again(fact_version *held, unsigned tellers, uint32_t asked, uint32_t event)
{
    held->tellers += tellers;
    held->last = MAX(held->last, event);
    held->asked = MAX(held->asked, asked);
}

static void note_span(subject_facts *set, unread_span span)
{
    const unread_span unused = {NEVER, NEVER};

    set->spans = set->spans ? set->spans : wmem_array_sized_new(wmem_file_scope(), sizeof span, 1);
    if (set->num_spans == wmem_array_get_count(set->spans)) {
        wmem_array_append_one(set->spans, unused);
    }
    unread_span *all = wmem_array_get_raw(set->spans);
    unsigned at = state_event_count_until(set->spans, span.event), first = at, later = set->num_spans - at, end;
    if (later > 0 && all[at].since <= span.since) {
        return;
    }
    while (first > 0 && all[first - 1].since >= span.since) {
        first--;
    }
    memmove(&all[first + 1], &all[at], later * sizeof *all); /* mostly none is later */
    all[first] = span;
    for (end = first + 1 + later; end < set->num_spans; set->num_spans--) {
        all[set->num_spans - 1] = unused;
    }
    set->num_spans = end;
}

static void note_unread(state_host *server, const state_subject *subject, state_fact_kind kind,
                        const unread_list *unread)
{
    const state_subject set = facts_subject(subject->guid, PERF_NO_ID);
    subject_facts *learned = keep_facts(server, &set);

    for (list_kind i = 0; i < NUM_LIST_KINDS; i++) {
        wmem_array_t **lists = &learned->lists[i];
        if (kind != NO_KIND && kind_of_list(subject, kind) != i) {
            continue;
        }
        if (*lists == NULL) {
            *lists = wmem_array_sized_new(wmem_file_scope(), sizeof *unread, 1);
        }
        unsigned count = wmem_array_get_count(*lists), at = state_event_count_until(*lists, unread->event);
        unread_list *before = at > 0 ? wmem_array_index(*lists, at - 1) : NULL;
        bool is_doubt_of_it = before && before->event == unread->event && before->frame == 0;
        if (is_doubt_of_it || (before && at == count && !is_unread(before))) {
            *before = *unread;
        } else if (before == NULL || before->event < unread->event) {
            wmem_array_append(*lists, unread, 1);
            unread_list *all = wmem_array_get_raw(*lists);
            memmove(&all[at + 1], &all[at], (count - at) * sizeof *all); /* mostly none is later */
            all[at] = *unread;
        }
    }
    if (unread->since > 0) {
        note_span(learned, (unread_span){unread->event, unread->since});
    }
    server->has_unread_lists = true;
    server->facts_changed = unread->frame == 0 ? NEVER : MAX(server->facts_changed, unread->event); /* is_doubted() */
    server->facts_version++;
}

/* A counter got another type: it, the others of its set and that may be called otherwise since, until their names are told again. */
static void doubt_names_of_set(subject_facts *learned, const fact_version *told, uint32_t since)
{
    state_host *server = (state_host *)learned->key.owner;
    const state_subject set = facts_subject(learned->key.subject.guid, PERF_NO_ID),
                        counters = facts_subject(set.guid, 0);
    const unread_list unread = {.event = told->event, .since = since};

    note_unread(server, &counters, PERF_FACT_ENGLISH, &unread);
    note_unread(server, &set, PERF_FACT_ENGLISH, &unread);
}

/* Returns the version that holds it. */
static fact_version *add_version(subject_facts *learned, state_fact_kind kind, const fact_version *told)
{
    wmem_array_t **versions = &learned->versions[kind];
    state_host *server = (state_host *)learned->key.owner;
    fact_version *held = held_version(learned, kind, &told->fact, told->event);

    ws_assert(kind < PERF_NUM_FACT_KINDS && (told->fact.name != NULL) == is_name(kind));
    if (held) {
        tell_again(held, told->tellers, told->asked, told->last);
        return held;
    }
    if (*versions == NULL) {
        *versions = wmem_array_sized_new(wmem_file_scope(), sizeof(fact_version), 1);
    }
    const fact_version *newest = newest_alike(*versions, kind, &told->fact);
    const name_change *change =
        is_name(kind) && learned->name_changes ? state_event_latest(learned->name_changes, told->event) : NULL;
    const unread_list *unread = newest ? first_unread(learned, kind, newest->asked, false) : NULL;
    bool differs = newest && !same_fact(kind, &newest->fact, &told->fact);
    uint32_t otherwise = MAX(differs ? newest->last : 0, change ? change->event : 0); /* event when it was told so */
    /* one of before the latest name change is another thing's; but of one that was told just before that, or of whose language a list was not
     * read since, it is unknown */
    bool is_its_own =
        change == NULL || newest == NULL || newest->last > change->since || (unread && unread->event < told->event);
    if (is_its_own && differs && is_name(kind) && newest->event < told->event) {
        add_name_change(learned, told, newest);
    }
    if (kind == PERF_FACT_COUNTER && differs && newest->event < told->event) {
        doubt_names_of_set(learned, told, newest->asked);
    }
    if (wmem_array_get_count(*versions) > 0 || server->has_unread_lists) {
        server->facts_changed = MAX(server->facts_changed, told->event);
    }
    unread = first_unread(learned, kind, told->asked, false);
    if (otherwise == told->event || (unread && unread->event < told->event)) {
        server->facts_changed = NEVER; /* one answer tells both: is_told_twice(); or what was not read may */
    }
    if (otherwise > told->asked && otherwise < told->event) { /* meanwhile: which holds is unknown */
        note_unread(server, &learned->key.subject, kind, &(unread_list){.event = told->event});
    }
    wmem_array_append_one(*versions, *told);
    return wmem_array_index(*versions, wmem_array_get_count(*versions) - 1);
}

/* Whose it is what is told on a connection. */
static state_host *owner_of(const state_connection *connection)
{
    state_host *commons = host_is_settled(connection) ? NULL : host_commons(connection->host);

    return commons ? commons : connection->host;
}

/* Who called itself by SystemName is known for good. */
static void note_told(state_connection *connection, const told_fact *told)
{
    if (connection->names[HOST_SYSTEM] == NULL) {
        connection->told = connection->told ? connection->told : wmem_array_new(wmem_file_scope(), sizeof *told);
        wmem_array_append_one(connection->told, *told);
    }
}

/* A machine's own fact that a connection tells, too, which is not yet known to be to that machine. */
static bool learn_alike(state_connection *connection, const state_subject *subject, state_fact_kind kind,
                        const state_fact *fact, uint32_t asked, uint32_t event, uint32_t frame)
{
    state_host *owner = owner_of(connection);
    subject_facts *own = owner != connection->host ? find_facts(connection->host, subject) : NULL;
    const subject_facts *others = own ? find_facts(owner, subject) : NULL;
    fact_version *held = held_version(own, kind, fact, event);

    if (held && !differ(kind, held, newest_alike(others ? others->versions[kind] : NULL, kind, fact))) {
        const told_fact told = {event, own, kind, asked, frame, fact->lcid, held->fact.name, false, NULL};
        tell_again(held, 1, asked, event);
        note_told(connection, &told);
        return true;
    }
    return false;
}

/* Connections that are not known to be to the same machine do not say the same. */
static bool is_told_otherwise(state_host *server, const state_subject *subject, state_fact_kind kind,
                              const state_fact *fact)
{
    const learned_facts found = find_learned(server, subject);

    return found.own && found.others &&
           differ(kind, newest_alike(found.own->versions[kind], kind, fact),
                  newest_alike(found.others->versions[kind], kind, fact));
}

/* On all machines that the connection may be to, but for whose it is known to be; and on what other connections told. */
static void note_unread_elsewhere(const state_connection *connection, const state_host *owner,
                                  const state_subject *subject, state_fact_kind kind, const unread_list *unread)
{
    for (state_host *host = owner->place->machines; host; host = host->next) {
        if (host != owner && (host == connection->host || !connection->host->is_known)) {
            note_unread(host, subject, kind, unread);
        }
    }
    if (owner->place->commons && owner != owner->place->commons && !connection->host->is_known) {
        note_unread(owner->place->commons, subject, kind, unread);
    }
}

void facts_learn(state_connection *connection, state_subject subject, state_fact_kind kind, const state_fact *fact,
                 uint32_t asked, uint32_t event, uint32_t frame)
{
    state_host *server = connection->host, *owner = owner_of(connection);
    const fact_version version = {event, frame, *fact, 1, event, asked};

    if (kind == PERF_FACT_ENGLISH && !connection->is_no_windows && is_other_title(&subject, fact->name)) {
        host_note_no_windows(connection);
    }
    if (learn_alike(connection, &subject, kind, fact, asked, event, frame)) {
        return;
    }
    subject_facts *learned = keep_facts(owner, &subject);
    fact_version *kept = add_version(learned, kind, &version);
    if (kept->event == event && kept->fact.name == fact->name) {
        kept->fact.name = fact->name ? wmem_strdup(wmem_file_scope(), fact->name) : NULL;
        kept->fact.type = type_of(kind, fact);
        server->facts_version++;
        server->facts_changed = MAX(server->facts_changed, owner->facts_changed);
    }
    owner->told++;
    if (!server->is_known) {
        note_unread_elsewhere(connection, owner, &subject, NO_KIND,
                              &(unread_list){.event = event, .answer_frame = &connection->settled});
    }
    if (fact->is_assumed || is_told_otherwise(server, &subject, kind, fact)) {
        server->facts_changed = NEVER; /* may_be_of_two() */
    }
    const told_fact told = {event, learned, kind, asked, frame, fact->lcid, kept->fact.name, false, NULL};
    note_told(connection, &told);
}

/* --- Another machine's ------------------------------------------------------------------------------------------ */

typedef struct {
    fact_version version;
    state_fact_kind kind;
} kept_version;

/* Takes out the versions of a subject that somebody still tells. */
static void take_versions(subject_facts *learned, wmem_array_t *taken)
{
    for (unsigned kind = 0; kind < PERF_NUM_FACT_KINDS; kind++) {
        wmem_array_t *versions = learned->versions[kind];
        for (unsigned i = 0; versions && i < wmem_array_get_count(versions); i++) {
            kept_version kept = {*(fact_version *)wmem_array_index(versions, i), kind};
            if (kept.version.tellers > 0) {
                wmem_array_append_one(taken, kept);
            }
        }
        if (versions) {
            wmem_destroy_array(versions);
        }
        learned->versions[kind] = NULL;
    }
    learned->name_changes = NULL;
}

/* What was told before another fact, and again after it, and is kept as one: when it was told in between is not known any more. */
static void part_version(subject_facts *learned, kept_version *kept, const kept_version *more)
{
    fact_version *version = &kept->version;

    if (kept->kind == more->kind && version->event < more->version.event && more->version.event < version->last &&
        differ(kept->kind, version, &more->version)) {
        note_unread((state_host *)learned->key.owner, &learned->key.subject, kept->kind,
                    &(unread_list){.event = version->last});
        version->last = version->event;
        version->asked = MIN(version->asked, version->event);
    }
}

/* Learns in the order of events what is still told of a subject, and one fact more. Of too many nothing is known. */
static void learn_again(subject_facts *learned, const kept_version *more)
{
    wmem_array_t *all = wmem_array_new(NULL, sizeof(kept_version));

    take_versions(learned, all);
    for (unsigned i = 0; more && i < wmem_array_get_count(all); i++) {
        part_version(learned, wmem_array_index(all, i), more);
    }
    if (more) {
        wmem_array_append(all, more, 1);
    }
    wmem_array_sort(all, perf_compare_u32);
    bool are_few = wmem_array_get_count(all) <= MAX_VERSIONS;
    for (unsigned i = 0; are_few && i < wmem_array_get_count(all); i++) {
        const kept_version *kept = wmem_array_index(all, i);
        add_version(learned, kept->kind, &kept->version);
    }
    wmem_destroy_array(all);
}

/* The version that holds what was told. */
static fact_version *version_of(const told_fact *told)
{
    wmem_array_t *versions = told->subject->versions[told->kind];
    unsigned count = versions ? state_event_count_until(versions, told->event) : 0;

    for (unsigned i = count; i > 0 && count - i < MAX_LANGUAGES; i--) {
        fact_version *version = wmem_array_index(versions, i - 1);
        if (version->fact.lcid == told->lcid && g_strcmp0(version->fact.name, told->name) == 0) {
            return version->tellers > 0 ? version : NULL;
        }
    }
    return NULL;
}

static void move_fact(told_fact *told, fact_version *version, state_host *to)
{
    state_host *from = (state_host *)told->subject->key.owner;
    subject_facts *left = told->subject;
    const kept_version moved = {{told->event, told->frame, version->fact, 1, told->event, told->asked}, told->kind};

    if (--version->tellers == 0) {
        learn_again(left, NULL);
    }
    from->told--;
    to->told++;
    told->subject = keep_facts(to, &left->key.subject);
    learn_again(told->subject, &moved);
}

void facts_doubt(state_host *machine)
{
    wmem_array_t *all = wmem_array_new(NULL, sizeof(told_fact));

    for (state_connection *other = machine->place->connections; other; other = other->next) {
        if (!other->host->is_known && other->told) {
            wmem_array_append(all, wmem_array_get_raw(other->told), wmem_array_get_count(other->told));
        }
    }
    wmem_array_sort(all, perf_compare_u32); /* none is put before another */
    for (unsigned i = 0; i < wmem_array_get_count(all); i++) {
        const told_fact *told = wmem_array_index(all, i);
        note_unread(machine, &told->subject->key.subject, NO_KIND, &(unread_list){.event = told->event});
    }
    wmem_destroy_array(all);
}

void facts_move(state_connection *connection)
{
    state_host *to = owner_of(connection);
    uint32_t moved = 0; /* event */

    connection->settled = host_is_settled(connection) && connection->host->is_known;
    for (unsigned i = 0; connection->told && i < wmem_array_get_count(connection->told); i++) {
        told_fact *told = wmem_array_index(connection->told, i);
        const uint32_t *answer = told->answer_frame == &connection->settled ? NULL : told->answer_frame;
        const unread_list unread = {told->event, told->frame, answer, told->asked}, doubt = {.event = told->event};
        fact_version *version = told->is_unread ? NULL : version_of(told);
        if (told->subject->key.owner != to && told->is_unread) {
            note_unread(connection->host, &told->subject->key.subject, told->kind, &unread);
            told->subject = keep_facts(to, &told->subject->key.subject);
        } else if (told->subject->key.owner != to && version) {
            move_fact(told, version, to);
            if (told->event != moved) { /* once for each list */
                note_unread_elsewhere(connection, to, &told->subject->key.subject, NO_KIND, &doubt);
                moved = told->event;
            }
        }
    }
    if (connection->names[HOST_SYSTEM] && connection->told) {
        wmem_destroy_array(connection->told);
        connection->told = NULL;
    }
}

void facts_note_unread(state_connection *connection, const state_subject *what, state_fact_kind kind, uint32_t since,
                       uint32_t event, uint32_t frame, const uint32_t *answer_frame)
{
    const state_subject *subject = what ? what : &any_set;
    const unread_list unread = {event, frame, answer_frame, since};
    state_host *owner = owner_of(connection), *commons = host_commons(connection->host);
    const told_fact told = {event, keep_facts(owner, subject), kind, since, frame, 0, NULL, true, answer_frame};

    note_unread(owner, subject, kind, &unread);
    if (commons && commons != owner) { /* what others told that may be to it, too */
        note_unread(commons, subject, kind, &unread);
    }
    note_unread_elsewhere(connection, owner, subject, kind, &unread);
    note_told(connection, &told);
}

uint32_t facts_titles_unread_in(state_host *server, uint32_t event)
{
    const state_subject set = facts_title_subject(PERF_NO_ID);
    const subject_facts *all = server->has_unread_lists ? find_facts(server, &set) : NULL;
    wmem_array_t *lists = all ? all->lists[OF_COUNTERS] : NULL;
    unsigned until = lists ? state_event_count_until(lists, event) : 0, last = until;
    const unread_list *unread = lists ? wmem_array_index(lists, until > 0 ? until - 1 : 0) : NULL;

    while (unread && unread->frame == 0 && last > 1 && until - last < MAX_ANSWERED) {
        unread = wmem_array_index(lists, --last - 1);
    }
    return unread ? unread->frame : 0;
}

static state_fact *keep_fact(wmem_map_t *map, const fact_key *key, const state_fact *fact)
{
    state_fact *kept = wmem_memdup(wmem_file_scope(), fact, sizeof *fact);

    kept->name = fact->name ? wmem_strdup(wmem_file_scope(), fact->name) : NULL;
    kept->type = type_of(key->kind, fact);
    wmem_map_insert(map, wmem_memdup(wmem_file_scope(), key, sizeof *key), kept);
    return kept;
}

void facts_file_add(const char *server, state_subject subject, state_fact_kind kind, const state_fact *fact)
{
    GQuark owner = g_quark_from_string(server ? server : ANY_SERVER);
    const fact_key key = {GUINT_TO_POINTER(owner), subject, kind};

    keep_fact(file_facts, &key, fact);
}

/* What tells a version the last time, also after lists that were not read. */
static const fact_version *told_last(const subject_facts *learned, state_fact_kind kind, const fact_version *version)
{
    wmem_array_t *versions = learned->versions[kind];
    const fact_version *last = version;
    unsigned first = state_event_count_until(versions, version->event);
    unsigned end =
        MIN(wmem_array_get_count(versions), first + MAX_VERSIONS); /* after more of them it is not looked for */
    bool is_same = true;

    for (unsigned i = first; is_same && i < end; i++) {
        const fact_version *next = wmem_array_index(versions, i);
        bool is_alike = !is_name(kind) || next->fact.lcid == version->fact.lcid;
        is_same = !is_alike || same_fact(kind, &next->fact, &version->fact);
        last = is_alike && is_same ? next : last;
    }
    return last;
}

/* What tells last that what held at an event still does. */
static const fact_version *told_until(const subject_facts *learned, state_fact_kind kind, const fact_version *version,
                                      uint32_t event)
{
    const name_change *change = is_name(kind) ? next_name_change(learned, event) : NULL;

    return is_name(kind) ? named_until(learned, told_last(learned, kind, version), change ? change->event : NEVER)
                         : told_last(learned, kind, version);
}

/* It is the subject's name or type still, as far as lists were read. */
static bool still_holds(const subject_facts *learned, state_fact_kind kind, const fact_version *version, uint32_t event)
{
    const state_host *server = learned->key.owner;

    if (is_name(kind) && learned->name_changes && version->event < latest_name_change(learned, event)) {
        return false;
    }
    const unread_list *unread = server->has_unread_lists
                                    ? first_unread(learned, kind, told_until(learned, kind, version, event)->last, true)
                                    : NULL;
    return unread == NULL || unread->event > event;
}

/* What held at the event; where nothing did, what was learned first after it: a name no later than the next name change. NULL without one. */
static const fact_version *version_as_of(const subject_facts *learned, state_fact_kind kind, uint32_t event)
{
    wmem_array_t *versions = learned && event != 0 ? learned->versions[kind] : NULL;

    if (versions == NULL) {
        return NULL;
    }
    unsigned until = wmem_array_get_count(versions);
    const fact_version *version = wmem_array_index(versions, until - 1);
    if (version->event > event) { /* mostly it is not */
        until = state_event_count_until(versions, event);
        version = until > 0 ? wmem_array_index(versions, until - 1) : NULL;
    }
    if (version && still_holds(learned, kind, version, event)) {
        return version;
    }
    version = until < wmem_array_get_count(versions) ? wmem_array_index(versions, until) : NULL;
    return version && (!is_name(kind) || is_of_before(learned, version, event)) ? version : NULL;
}

/* Of server and port, address, any: the first that has it. Where several machines have the port it does not say which it means. */
static state_known from_file(const fact_key *wanted)
{
    const state_host *server = wanted->owner;
    const char *const owners[] = {server->port_text, server->place->address_text, ANY_SERVER};
    const state_fact *fact = NULL;

    for (unsigned i = host_commons(server) ? 0 : 2;
         fact == NULL && i < array_length(owners) && wmem_map_size(file_facts) > 0; i++) {
        fact_key key = *wanted;
        key.owner = GUINT_TO_POINTER(g_quark_try_string(owners[i]));
        fact = key.owner ? wmem_map_lookup(file_facts, &key) : NULL;
    }
    return (state_known){fact, PERF_SOURCE_FILE, 0};
}

bool facts_subject_is_title(const state_subject *subject)
{
    static const uint8_t no_guid[16];

    return memcmp(subject->guid, no_guid, sizeof no_guid) == 0;
}

static bool fill_builtin(const state_subject *subject, state_fact_kind kind, state_fact *fact)
{
    perf_known_counter known;

    if (facts_subject_is_title(subject)) {
        fact->name = kind == PERF_FACT_ENGLISH ? perf_known_title(subject->id) : NULL;
        return fact->name != NULL;
    }

    bool is_known = perf_known_find(subject->guid, subject->id, &known);
    if (is_known && kind == PERF_FACT_ENGLISH) {
        fact->name = known.name;
        return fact->name != NULL;
    }
    if (is_known && kind == PERF_FACT_COUNTER && known.type_known) {
        fact->counter.type = known.type;
        fact->counter.base_id = known.base_id;
        return true;
    }
    return false;
}

static const state_fact *builtin_fact(const state_host *server, const state_subject *subject, state_fact_kind kind)
{
    const fact_key key = {NULL, *subject, kind};
    state_fact fact = {.counter = {0, PERF_NO_ID, PERF_NO_ID, PERF_NO_ID, PERF_NO_ID, 0}};
    bool is_for_others = server->no_windows > 0 && facts_subject_is_title(subject);
    const state_fact *kept = is_for_others ? NULL : wmem_map_lookup(builtin, &key);

    if (kept == NULL && !is_for_others && fill_builtin(subject, kind, &fact)) {
        kept = keep_fact(builtin, &key, &fact);
    }
    return kept;
}

/* The newest version until an event, of names in the language of `fact`; NULL if there is none, or if it named what the subject was before its
 * latest change. */
static const fact_version *told_before(const subject_facts *learned, state_fact_kind kind, const state_fact *fact,
                                       uint32_t event)
{
    wmem_array_t *versions = learned->versions[kind];
    unsigned count = versions ? state_event_count_until(versions, event) : 0;
    const fact_version *version = newest_of(versions, count, kind, fact);
    const name_change *change = learned->name_changes ? state_event_latest(learned->name_changes, event) : NULL;
    bool is_of_another = is_name(kind) && version && change && version->last <= change->since;

    return is_of_another ? NULL : version;
}

/* What some connections told, others told otherwise later, between two events: somewhere between both it became another, or they are two. It
 * may have been before `event`. */
static bool is_told_otherwise_later(const subject_facts *learned, const subject_facts *others, state_fact_kind kind,
                                    uint32_t since, uint32_t until, uint32_t event)
{
    wmem_array_t *versions = others->versions[kind];
    unsigned end = versions ? state_event_count_until(versions, until) : 0;

    for (unsigned i = end; i > 0 && end - i < MAX_VERSIONS; i--) {
        const fact_version *version = wmem_array_index(versions, i - 1);
        uint32_t then = version->event > since ? version->event : version->last; /* it was told again */
        const fact_version *before = told_before(learned, kind, &version->fact, MIN(event, then));
        if (then > since && differ(kind, before, version) &&
            (version->asked < before->last || (before->last < then ? before->asked : before->event) < event)) {
            return true;
        }
    }
    return end > MAX_VERSIONS;
}

/* The machine's own connections told it, and others that may be to it, not alike. */
static bool may_be_of_two(const learned_facts *found, state_fact_kind kind, uint32_t since, uint32_t until,
                          uint32_t event)
{
    return found->own && found->others &&
           (is_told_otherwise_later(found->own, found->others, kind, since, until, event) ||
            is_told_otherwise_later(found->others, found->own, kind, since, until, event) ||
            (kind == PERF_FACT_ENGLISH && may_be_of_two(found, PERF_FACT_LOCAL, since, until, event)));
}

/* It became another between two events, and may have before `event`. */
static bool becomes_another(const subject_facts *learned, uint32_t since, uint32_t until, uint32_t event)
{
    const name_change *change = next_name_change(learned, since);

    return change && change->event <= until && change->asked < event;
}

/* What was told at one event, and is taken for what held at another one: between both, or where it was told later at any time, connections that
 * are not known to be to the same machine said otherwise, or that the subject is another. */
static bool is_contradicted(const learned_facts *learned, state_fact_kind kind, uint32_t told, uint32_t event)
{
    uint32_t since = MIN(told, event), last = MAX(told, event), until = told > event ? NEVER : event;

    return learned->own && learned->others &&
           (may_be_of_two(learned, is_name(kind) ? PERF_FACT_ENGLISH : kind, since, until, last) ||
            (is_name(kind) && (becomes_another(learned->own, since, until, last) ||
                               becomes_another(learned->others, since, until, last))));
}

/* What its own connections told comes first, but if only others had told it by then. NULL where both do not say the same: it is unknown. */
static const fact_version *known_or_other(const learned_facts *learned, const fact_version *known, state_fact_kind kind,
                                          uint32_t event)
{
    const fact_version *other = version_as_of(learned->others, kind, event);
    bool is_told = other && other->event <= event, is_later = known == NULL || (known->event > event && is_told);
    bool is_same = known && is_told && same_fact(kind, &known->fact, &other->fact);
    uint32_t told = is_later ? (other ? other->event : 0) : is_same ? MAX(known->event, other->event) : known->event;

    known = is_later ? other : known;
    return known && is_contradicted(learned, kind, told, event) ? NULL : known;
}

static state_known from_connections(const learned_facts *learned, state_fact_kind kind, uint32_t event)
{
    const fact_version *known = version_as_of(learned->own, kind, event);

    if (learned->others) { /* mostly there are none */
        known = known_or_other(learned, known, kind, event);
    }
    if (known == NULL) {
        return (state_known){NULL, PERF_SOURCE_NONE, 0};
    }
    return (state_known){&known->fact, known->event <= event ? PERF_SOURCE_EARLIER : PERF_SOURCE_LATER, known->frame};
}

/* Of the best source that has one. What the capture has in other languages, before or after the event, comes before a file's English. */
state_known facts_lookup(state_host *server, state_subject subject, state_fact_kind kind, uint32_t event)
{
    const learned_facts learned = find_learned(server, &subject);
    bool is_english = kind == PERF_FACT_ENGLISH;
    state_known known = from_connections(&learned, kind, event);

    known = known.fact || !is_english ? known : from_connections(&learned, PERF_FACT_LOCAL, event);
    known = known.fact ? known : from_file(&(fact_key){server, subject, kind});
    known = known.fact || !is_english ? known : from_file(&(fact_key){server, subject, PERF_FACT_LOCAL});
    return known.fact ? known : (state_known){builtin_fact(server, &subject, kind), PERF_SOURCE_BUILTIN, 0};
}

bool facts_title_is(state_host *server, uint32_t title_index, const char *english, uint32_t event)
{
    const state_subject subject = facts_title_subject(title_index);
    const learned_facts learned = find_learned(server, &subject);
    state_known known = from_connections(&learned, PERF_FACT_ENGLISH, event);

    return known.fact ? strcmp(known.fact->name, english) == 0 &&
                            !facts_doubted(server, subject, PERF_FACT_ENGLISH, event, event)
                      : server->no_windows == 0;
}

/* What holds there was told otherwise in the same answer: an id stands in it twice. */
static bool is_told_twice(const subject_facts *learned, state_fact_kind kind, uint32_t event)
{
    const fact_version *version = version_as_of(learned, kind, event);

    if (version == NULL) {
        return kind == PERF_FACT_ENGLISH && is_told_twice(learned, PERF_FACT_LOCAL, event);
    }
    wmem_array_t *versions = learned->versions[kind];
    const fact_version *first = wmem_array_index(versions, 0), *last = first + wmem_array_get_count(versions) - 1;
    return (version > first && version[-1].last == version->event && differ(kind, version - 1, version)) ||
           (version < last && version[1].event == version->event && differ(kind, version + 1, version));
}

static bool is_learned_as_assumed(const subject_facts *learned, state_fact_kind kind, uint32_t event)
{
    const fact_version *version = version_as_of(learned, kind, event);

    return version ? version->fact.is_assumed
                   : kind == PERF_FACT_ENGLISH && is_learned_as_assumed(learned, PERF_FACT_LOCAL, event);
}

/* A change after an event, which may have been before another one. */
static bool changes_before(const subject_facts *learned, state_fact_kind kind, uint32_t since, uint32_t event)
{
    wmem_array_t *versions = learned->versions[kind];

    if (is_name(kind)) {
        return becomes_another(learned, since, NEVER, event);
    }
    unsigned next = versions ? MAX(state_event_count_until(versions, since), 1) : 0; /* the first is no change, */
    unsigned count = versions ? wmem_array_get_count(versions) : 0, end = MIN(count, next + MAX_VERSIONS);
    while (next < end && same_fact(kind, &version_at(versions, next)->fact, &version_at(versions, next - 1)->fact)) {
        next++; /* nor is what was told again after a list that was not read; after too many it is not looked for */
    }
    return next < count && (next == end || version_at(versions, next - 1)->asked < event);
}

static bool is_told_after(const subject_facts *learned, state_fact_kind kind, uint32_t event)
{
    wmem_array_t *versions = learned->versions[kind];

    return versions && state_event_count_until(versions, event) < wmem_array_get_count(versions);
}

/* A list that was not read may have contradicted what is known of a subject as of an event: one before it was told for the first time; or one
 * after it was told last, even if that list is later than the event, since the change may have come before the list. */
static bool is_doubted(const subject_facts *learned, state_fact_kind kind, uint32_t event)
{
    const fact_version *version = version_as_of(learned, kind, event), *first = first_version(learned, kind);
    const unread_list *unread = NULL;

    if (first && event < first->event) {
        unread = first_unread(learned, kind, 0, false);
        return unread && unread->event < first->event;
    }
    if (kind == PERF_FACT_ENGLISH && (version == NULL || version->event > event)) {
        return is_doubted(learned, PERF_FACT_LOCAL, event);
    }
    if (version == NULL || version->event > event) { /* it is not known until it was told again: perhaps as another */
        return is_told_after(learned, kind, event) ||
               (is_name(kind) && is_told_after(learned, PERF_FACT_ENGLISH, event));
    }
    unread = first_unread(learned, kind, version->asked, false);
    return unread && (may_tell_before(learned, unread, version->asked, event) ||
                      told_until(learned, kind, version, event)->asked < event);
}

/* Such a list was told between two events, or before what was told between them. */
static bool is_unread_between(const subject_facts *learned, state_fact_kind kind, uint32_t since, uint32_t event)
{
    const fact_version *version = version_as_of(learned, kind, since);

    if (version == NULL && kind == PERF_FACT_ENGLISH) {
        return is_unread_between(learned, PERF_FACT_LOCAL, since, event);
    }
    uint32_t after = version && version->event <= since ? MAX(version->asked, since) : since;
    const unread_list *unread = first_unread(learned, kind, after, false);
    return (unread && may_tell_before(learned, unread, after, event)) ||
           (is_doubted(learned, kind, since) && !is_doubted(learned, kind, event));
}

static bool may_change_between(const subject_facts *learned, state_fact_kind kind, uint32_t since, uint32_t event)
{
    return learned &&
           (changes_before(learned, kind, since, event) ||
            (((const state_host *)learned->key.owner)->has_unread_lists &&
             (since < event ? is_unread_between(learned, kind, since, event) : is_doubted(learned, kind, event))));
}

bool facts_may_have_changed(state_host *server, state_subject subject, state_fact_kind kind, uint32_t since,
                            uint32_t event)
{
    if (server->facts_changed <= since) {
        return false; /* the usual case */
    }
    const learned_facts found = find_learned(server, &subject);
    const subject_facts none = {
        .key = {server, subject, NO_KIND}}; /* nothing was told, but lists that were not read may have told it */
    return may_change_between(found.own ? found.own : &none, kind, since, event) ||
           may_change_between(found.others, kind, since, event) || may_be_of_two(&found, kind, since, NEVER, event) ||
           (since == event &&
            ((found.others && host_likely(server)) || /* that machine need not be this one */
             is_learned_as_assumed(found.own, kind, event) || is_learned_as_assumed(found.others, kind, event) ||
             is_told_twice(found.own, kind, event) || is_told_twice(found.others, kind, event)));
}

static int compare_facts(const void *a, const void *b)
{
    const subject_facts *x = *(const subject_facts *const *)a, *y = *(const subject_facts *const *)b;
    const state_host *of_x = x->key.owner, *of_y = y->key.owner;
    int order = strcmp(of_x->address, of_y->address);

    if (order == 0) {
        order = memcmp(x->key.subject.guid, y->key.subject.guid, 16);
    }
    if (order == 0) {
        /* what is said of the counterset itself comes before its counters */
        uint32_t i = x->key.subject.id + 1, j = y->key.subject.id + 1;
        order = i < j ? -1 : i > j;
    }
    return order;
}

/* What was told for sure comes alone. */
static void append_facts(void *key _U_, void *value, void *user)
{
    const subject_facts *learned = value;
    const state_host *owner = learned->key.owner;
    bool is_common = owner == host_commons(owner), is_told = false;

    for (unsigned kind = 0; kind < PERF_NUM_FACT_KINDS; kind++) {
        is_told |= learned->versions[kind] != NULL;
    }
    if (is_told && !(is_common && find_facts(owner->place->machines, &learned->key.subject))) {
        wmem_array_append(user, &value, 1);
    }
}

/* The newest version; of names in other languages that of each language, the newest last. */
static void visit_versions(const subject_facts *learned, state_fact_kind kind, state_fact_visitor visit, void *user)
{
    const state_host *host = learned->key.owner;
    const char *server = host->place->shares ? host->port_text : host->place->address_text;
    wmem_array_t *versions = learned->versions[kind];
    unsigned count = versions ? wmem_array_get_count(versions) : 0;

    for (unsigned i = 0; i < count; i++) {
        const fact_version *version = wmem_array_index(versions, i);
        if (kind == PERF_FACT_LOCAL ? version == newest_alike(versions, kind, &version->fact) : i == count - 1) {
            visit(server, &learned->key.subject, kind, &version->fact, user);
        }
    }
}

unsigned facts_visit(state_fact_visitor visit, void *user)
{
    wmem_array_t *all = wmem_array_new(NULL, sizeof(subject_facts *));
    const void *left_out = NULL;
    unsigned count = 0;

    wmem_map_foreach(facts, append_facts, all);
    wmem_array_sort(all, compare_facts);
    for (unsigned i = 0; i < wmem_array_get_count(all); i++) {
        const subject_facts *learned = *(subject_facts **)wmem_array_index(all, i);
        bool is_shared = host_commons(learned->key.owner) == NULL;
        for (unsigned kind = 0; kind < PERF_NUM_FACT_KINDS && !is_shared; kind++) {
            visit_versions(learned, kind, visit, user);
        }
        count += is_shared && learned->key.owner != left_out;
        left_out = is_shared ? learned->key.owner : left_out;
    }
    wmem_destroy_array(all);
    return count;
}

/* --- How things are called --------------------------------------------------------------------------------------- */

state_subject facts_subject(const uint8_t *guid, uint32_t id)
{
    state_subject subject;

    memcpy(subject.guid, guid, sizeof subject.guid);
    subject.id = id;
    return subject;
}

state_subject facts_title_subject(uint32_t title_index)
{
    return (state_subject){{0}, title_index};
}

char *facts_guid_text(wmem_allocator_t *pool, const uint8_t *guid)
{
    e_guid_t parts = {perf_le32(guid), perf_le16(guid + 4), perf_le16(guid + 6), {0}};
    char *text = wmem_alloc(pool, GUID_STR_LEN + 2);

    memcpy(parts.data4, guid + 8, sizeof parts.data4);
    text[0] = '{';
    guid_to_str_buf(&parts, text + 1, GUID_STR_LEN);
    memcpy(text + GUID_STR_LEN, "}", 2);
    return text;
}

const char *facts_label(wmem_allocator_t *pool, state_host *server, state_subject subject, uint32_t event)
{
    state_known known = facts_lookup(server, subject, PERF_FACT_ENGLISH, event);

    if (known.fact == NULL && subject.id == PERF_NO_ID && !facts_subject_is_title(&subject)) {
        return facts_guid_text(pool, subject.guid);
    }
    return known.fact ? known.fact->name : wmem_strdup_printf(pool, "#%u", subject.id);
}

const char *facts_counterset_label(wmem_allocator_t *pool, state_host *server, const uint8_t *guid, uint32_t event)
{
    return facts_label(pool, server, facts_subject(guid, PERF_NO_ID), event);
}

const char *facts_counter_label(wmem_allocator_t *pool, state_host *server, const uint8_t *guid, uint32_t id,
                                uint32_t event)
{
    return id == PERF_NO_ID ? "*" : facts_label(pool, server, facts_subject(guid, id), event);
}

const char *facts_title_label(wmem_allocator_t *pool, state_host *server, uint32_t title_index, uint32_t event)
{
    return facts_label(pool, server, facts_title_subject(title_index), event);
}

void facts_register(void)
{
    wmem_map_t **const maps[] = {&facts, &file_facts, &builtin};

    for (unsigned i = 0; i < array_length(maps); i++) {
        *maps[i] = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), fact_key_hash, fact_key_equal);
    }
}
