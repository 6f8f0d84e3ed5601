/* test_known_countersets.c
 * The built-in list of countersets
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "perf/counter-types.h"
#include "perf/known-countersets.h"

#include <stdio.h>
#include <string.h>

static unsigned failures;

static void expect(bool ok, const char *what, const char *set, uint32_t id)
{
    if (ok) {
        return;
    }
    fprintf(stderr, "%s, counter %u: %s\n", set, (unsigned)id, what);
    failures++;
}

static bool same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static void test_sets_are_unique(void)
{
    for (size_t i = 0; i < perf_num_known_countersets; i++) {
        const perf_known_counterset *set = &perf_known_countersets[i];

        expect(set->name && set->name[0] != '\0', "set without a name", "?", 0);
        expect(perf_known_counterset_find(set->guid) == set, "GUID is there twice", set->name, 0);
    }
}

/* As the products' manifests and sources write them: microsoft/xdp-for-windows, service-fabric, nodejs/node, openzfsonwindows/openzfs,
 * the reference source of .NET, winsiderss/systeminformer, fastfetch, infoband, and Microsoft's pages on the Perflib functions. */
static const struct {
    const char *guid;
    const char *name;
} published[] = {
    {"b4fc721a-0378-476f-89ba-a5a79f810b36", "Processor Information"},
    {"52bc5412-dac2-449c-8bc2-96443888fe6b", "Thermal Zone Information"},
    {"978c167d-4764-4d9c-9824-14747351dc81", "GPU Engine"},
    {"be2139c7-ab81-424d-b107-d87f7c9322ac", "GPU Adapter Memory"},
    {"f802502b-77b4-4713-81b3-3be05759da5d", "GPU Process Memory"},
    {"f9ed01f5-8f3e-4956-973f-9f05bc96f489", "GPU Non Local Adapter Memory"},
    {"227419d5-f6d8-4fb7-85d6-2cac1725e4a9", "GPU Local Adapter Memory"},
    {"f596750d-b109-4247-a62f-dea47a46e505", "FileSystem Disk Activity"},
    {"811bbce5-7327-4ad9-ab62-a8b955f61eef", "Pacer Flow"},
    {"bfe2736b-c79f-4f36-bd15-2897a1a91d4a", "DFS Replicated Folders"},
    {"a689f9be-38ad-4c17-9d62-ad60492084a7", "DFS Replication Connections"},
    {"3f1707df-6381-4287-affc-a60e109a4d30", "DFS Replication Service Volumes"},
    {"e829b6db-21ab-453b-83c9-d980ec708edd", "ServiceModelService 4.0.0.0"},
    {"16dcff2c-91a3-4e6a-8135-0a9e6681c1b5", "ServiceModelEndpoint 4.0.0.0"},
    {"8ebb0470-da6d-485b-8441-8e06b049157a", "ServiceModelOperation 4.0.0.0"},
    {"1f7207c2-0b8c-48de-9dcd-64ff98cc24e1", "WorkflowServiceHost 4.0.0.0"},
    {"faa17411-9025-4b86-8b5e-ce2f32b06e13", "PowerShell Workflow"},
    {"a79a2e4c-c5f6-4311-bb7b-67109984651f", "XDP Receive Queue"},
    {"10672701-093b-4b91-8b76-8f53afd07cd0", "XDP LWF Receive Queue"},
    {"05947256-79cd-4393-b54c-a65be0963294", "XDP Transmit Queue"},
    {"48b1dee9-6603-4a83-b20d-435fa421a5d7", "XDP LWF Transmit Queue"},
    {"caa1ae36-014a-4bbb-b6cb-00d57f60d8d3", "Ktl Log Stream"},
    {"1441d310-9058-444c-aef5-0e52a6248589", "Ktl Log Container"},
    {"263aca85-798b-4de1-8b21-42f2607ffb5a", "Ktl Log Manager"},
    {"3a22a8ec-297c-48ac-ab15-33ec93033fd8", "Node.js"},
    {"11b6ca09-a1c6-44b9-aab6-73be315fd799", "OpenZFS Zpool"},
    {"3e687ea1-7258-43bf-b832-f082ec02f1ca", "OpenZFS Vdev"},
    {"2f8f7f86-5c0b-4865-972c-a788f04c61aa", "OpenZFS Cache"},
};

static void test_guids_are_those_of_their_sources(void)
{
    expect(sizeof published / sizeof *published == perf_num_known_countersets, "another number of sets", "all", 0);
    for (size_t i = 0; i < perf_num_known_countersets; i++) {
        const perf_known_counterset *set = &perf_known_countersets[i];
        const uint8_t *g = set->guid;
        char text[40];
        bool is_there = false;

        snprintf(text, sizeof text, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", g[3], g[2],
                 g[1], g[0], g[5], g[4], g[7], g[6], g[8], g[9], g[10], g[11], g[12], g[13], g[14], g[15]);
        for (size_t j = 0; j < sizeof published / sizeof *published; j++) {
            is_there |= same(published[j].guid, text) && same(published[j].name, set->name);
        }
        expect(is_there, "no source has this GUID and name", set->name, 0);
    }
}

static void test_base(const perf_known_counterset *set, const perf_known_counter *counter)
{
    const perf_known_counter *base = perf_known_counter_find(set, counter->base_id);
    const perf_counter_type *type;

    if (counter->base_id == PERF_NO_COUNTER) {
        return;
    }
    expect(base != NULL && base != counter, "base is not there", set->name, counter->id);
    type = base ? perf_counter_type_find(base->type) : NULL;
    expect(type && type->kind == PERF_KIND_BASE, "base is of another kind", set->name, counter->id);
}

/* The base of % Privileged Utility is the only one that no source names. */
static bool base_is_known(const perf_known_counterset *set, const perf_known_counter *counter)
{
    return counter->base_id != PERF_NO_COUNTER || (same(set->name, "Processor Information") && counter->id == 28);
}

static void test_counters_are_sound(void)
{
    for (size_t i = 0; i < perf_num_known_countersets; i++) {
        const perf_known_counterset *set = &perf_known_countersets[i];

        for (size_t j = 0; j < set->num_counters; j++) {
            const perf_known_counter *counter = &set->counters[j];
            const perf_counter_type *type = counter->type_known ? perf_counter_type_find(counter->type) : NULL;

            expect(j == 0 || counter[-1].id < counter->id, "ids are not in order", set->name, counter->id);
            expect(perf_known_counter_find(set, counter->id) == counter, "not found", set->name, counter->id);
            expect(counter->type_known == (type != NULL), "type is not in the table", set->name, counter->id);
            expect(counter->type_known || counter->type == 0, "type is not 0", set->name, counter->id);
            expect(counter->name || (type && type->kind == PERF_KIND_BASE), "no name", set->name, counter->id);
            test_base(set, counter);
            if (type && (perf_formulas[type->formula].flags & PERF_NEEDS_BASE)) {
                expect(base_is_known(set, counter), "base is missing", set->name, counter->id);
            }
        }
    }
}

static void test_names_per_second(void)
{
    for (size_t i = 0; i < perf_num_known_countersets; i++) {
        const perf_known_counterset *set = &perf_known_countersets[i];

        for (size_t j = 0; j < set->num_counters; j++) {
            const perf_known_counter *counter = &set->counters[j];

            if (counter->name && (strstr(counter->name, "/sec") || strstr(counter->name, "Per Second"))) {
                expect(same(perf_counter_type_find(counter->type)->unit, "/sec"), "not a rate", set->name, counter->id);
            }
        }
    }
}

/* Types by letters, one for each id from 0: '.' where there is no such counter, '-' where its type is not known. */
static const struct {
    char letter;
    uint32_t type;
} letters[] = {
    {'N', 0x00010000}, {'G', 0x00010100}, {'H', 0x00000000}, {'D', 0x00400400}, {'C', 0x10410400}, {'B', 0x10410500},
    {'T', 0x20510500}, {'I', 0x21510500}, {'P', 0x20570500}, {'F', 0x20020400}, {'S', 0x20C20400}, {'M', 0x30020400},
    {'A', 0x40020500}, {'L', 0x40030500}, {'b', 0x40030402}, {'r', 0x40030403}, {'s', 0x40030401},
};

#define CALLS "NCNNCNCMbNCNC"

/* As their sources give them, in the order of the list. */
static const struct {
    const char *set;
    const char *types;
} sources[] = {
    {"Processor Information", "ITTCTTCNTTTTBBBINNNNCPLBAbAbA.-N"},
    {"Thermal Zone Information", "-..-"},
    {"GPU Engine", ".-T"},
    {"GPU Adapter Memory", ".---"},
    {"GPU Process Memory", ".-----"},
    {"GPU Non Local Adapter Memory", ""},
    {"GPU Local Adapter Memory", ""},
    {"FileSystem Disk Activity", "--"},
    {"Pacer Flow", ""},
    {"DFS Replicated Folders", ""},
    {"DFS Replication Connections", ""},
    {"DFS Replication Service Volumes", ""},
    {"ServiceModelService 4.0.0.0", CALLS "NCNCNCNCNCNCNCNCNCNCFrFrFr"},
    {"ServiceModelEndpoint 4.0.0.0", CALLS "NCNCNC"},
    {"ServiceModelOperation 4.0.0.0", CALLS "NC"},
    {"WorkflowServiceHost 4.0.0.0", "NCNNCNCNNCNCNCNCNCCMbMb"},
    {"PowerShell Workflow", ""},
    {"XDP Receive Queue", ".NNNNNNNNNN"},
    {"XDP LWF Receive Queue", ".NNNNNNNN"},
    {"XDP Transmit Queue", ".NNN"},
    {"XDP LWF Transmit Queue", ".NNN"},
    {"Ktl Log Stream", ".BBBGGGGGG"},
    {"Ktl Log Container", ".BB"},
    {"Ktl Log Manager", ".GG"},
    {"Node.js", ".CCCCNBBNBB"},
    {"OpenZFS Zpool", ".BBBBBBGGG........................G"},
    {"OpenZFS Vdev", ".BBBB........................BB"},
    {"OpenZFS Cache", ""},
};

static char letter_of(const perf_known_counter *counter)
{
    for (size_t i = 0; counter && counter->type_known && i < sizeof letters / sizeof *letters; i++) {
        if (letters[i].type == counter->type) {
            return letters[i].letter;
        }
    }
    return counter && !counter->type_known ? '-' : '.';
}

/* A base follows its counter, but that of a sample stands before it. */
static uint32_t base_of(const char *types, uint32_t id)
{
    if (strchr("PFSMA", types[id]) == NULL || types[id] == '\0') {
        return PERF_NO_COUNTER;
    }
    return types[id + 1] != '\0' && strchr("Lbrs", types[id + 1])    ? id + 1
           : id > 0 && types[id - 1] == 'r' && types[id + 1] == '\0' ? id - 1
                                                                     : PERF_NO_COUNTER;
}

static void test_types(void)
{
    const size_t count = sizeof sources / sizeof *sources;

    expect(count == perf_num_known_countersets, "number of sets", "?", 0);
    for (size_t i = 0; i < count && i < perf_num_known_countersets; i++) {
        const perf_known_counterset *set = &perf_known_countersets[i];
        const char *types = sources[i].types;

        expect(same(set->name, sources[i].set), "another set", sources[i].set, (unsigned)i);
        for (uint32_t id = 0; id <= strlen(types); id++) {
            const perf_known_counter *counter = perf_known_counter_find(set, id);
            const char letter = types[id] != '\0' ? types[id] : '.';

            expect(letter_of(counter) == letter, "another type", set->name, id);
            expect(!counter || counter->base_id == base_of(types, id), "another base", set->name, id);
        }
    }
}

static const uint8_t processor_information[16] = {0x1a, 0x72, 0xfc, 0xb4, 0x78, 0x03, 0x6f, 0x47,
                                                  0x89, 0xba, 0xa5, 0xa7, 0x9f, 0x81, 0x0b, 0x36};

static void test_processor_information(void)
{
    const perf_known_counterset *set = perf_known_counterset_find(processor_information);
    const perf_known_counter *utility = perf_known_counter_find(set, 26);
    const perf_known_counter *base = perf_known_counter_find(set, 27);

    expect(set && same(set->name, "Processor Information"), "name", "Processor Information", 0);
    expect(set && set->num_counters == 31, "number of counters", "Processor Information", 0);
    expect(utility && same(utility->name, "% Processor Utility") && utility->type == 0x40020500 &&
               utility->base_id == 27,
           "% Processor Utility", "Processor Information", 26);
    expect(base && base->name == NULL && base->type == 0x40030402 && base->base_id == PERF_NO_COUNTER, "its base",
           "Processor Information", 27);
    expect(!perf_known_counter_find(set, 29), "nobody has seen it", "Processor Information", 29);
    expect(!perf_known_counter_find(set, PERF_NO_COUNTER), "no counter", "Processor Information", PERF_NO_COUNTER);
}

static const uint8_t dfs_replicated_folders[16] = {0x6b, 0x73, 0xe2, 0xbf, 0x9f, 0xc7, 0x36, 0x4f,
                                                   0xbd, 0x15, 0x28, 0x97, 0xa1, 0xa9, 0x1d, 0x4a};

static void test_others(void)
{
    const perf_known_counterset *named = perf_known_counterset_find(dfs_replicated_folders);

    expect(named && same(named->name, "DFS Replicated Folders") && named->num_counters == 0, "name only", "DFS", 0);
    expect(!perf_known_counter_find(named, 0), "counter of a set without counters", "DFS", 0);
    expect(!perf_known_counter_find(NULL, 0), "found", "no set", 0);
}

/* As a machine of Windows 2000 printed them, which is no source of the table. */
static void test_titles(void)
{
    static const struct {
        uint32_t index;
        const char *name;
    } titles[] = {{2, "System"},
                  {4, "Memory"},
                  {6, "% Processor Time"},
                  {44, "Processor Queue Length"},
                  {86, "Cache"},
                  {142, "% User Time"},
                  {186, "Private Bytes"},
                  {228, "Avg. Disk Bytes/Write"},
                  {230, "Process"},
                  {232, "Thread"},
                  {234, "PhysicalDisk"},
                  {238, "Processor"},
                  {336, "Thread Wait Reason"},
                  {388, "Bytes Total/sec"},
                  {510, "Network Interface"},
                  {574, "Fragment Re-assembly Failures"},
                  {674, "System Up Time"},
                  {684, "Elapsed Time"},
                  {704, "% Usage Peak"},
                  {784, "ID Process"},
                  {804, "ID Thread"},
                  {818, "Cache Bytes"},
                  {952, "Handle Count"},
                  {1336, "DPC Rate"},
                  {1350, "% Registry Quota In Use"},
                  {1380, "Available KBytes"},
                  {1404, "Avg. Disk Write Queue Length"},
                  {1410, "Creating Process ID"},
                  {1426, "IO Other Bytes/sec"},
                  {1484, "Split IO/Sec"}};

    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        expect(same(perf_known_title(titles[i].index), titles[i].name), "name", "title", titles[i].index);
    }
    expect(!perf_known_title(0) && !perf_known_title(3) && !perf_known_title(239) && !perf_known_title(1848) &&
               !perf_known_title(PERF_NO_COUNTER),
           "found", "title", 3);
}

static void test_finding(void)
{
    perf_known_counter found;

    expect(perf_known_find(dfs_replicated_folders, PERF_NO_COUNTER, &found) &&
               same(found.name, "DFS Replicated Folders") && !found.type_known,
           "name of the set", "DFS Replicated Folders", PERF_NO_COUNTER);
    expect(perf_known_find(processor_information, 26, &found) && same(found.name, "% Processor Utility") &&
               found.type == 0x40020500 && found.base_id == 27,
           "a counter", "Processor Information", 26);
    expect(!perf_known_find(processor_information, 29, &found), "nobody has seen it", "Processor Information", 29);
}

int main(void)
{
    test_finding();
    test_sets_are_unique();
    test_guids_are_those_of_their_sources();
    test_counters_are_sound();
    test_names_per_second();
    test_types();
    test_processor_information();
    test_others();
    test_titles();
    return failures != 0;
}
