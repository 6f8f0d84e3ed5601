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

/* In the order of the list, as the products' manifests and sources write them: microsoft/xdp-for-windows, service-fabric, nodejs/node,
 * openzfsonwindows/openzfs, the reference source of .NET, winsiderss/systeminformer, fastfetch, infoband, and Microsoft's pages on the
 * Perflib functions. */
static const struct {
    const char *guid;
    const char *set;
    const char *types;
} sources[] = {
    {"b4fc721a-0378-476f-89ba-a5a79f810b36", "Processor Information", "ITTCTTCNTTTTBBBINNNNCPLBAbAbA.-N"},
    {"52bc5412-dac2-449c-8bc2-96443888fe6b", "Thermal Zone Information", "-..-"},
    {"978c167d-4764-4d9c-9824-14747351dc81", "GPU Engine", ".-T"},
    {"be2139c7-ab81-424d-b107-d87f7c9322ac", "GPU Adapter Memory", ".---"},
    {"f802502b-77b4-4713-81b3-3be05759da5d", "GPU Process Memory", ".-----"},
    {"f9ed01f5-8f3e-4956-973f-9f05bc96f489", "GPU Non Local Adapter Memory", ""},
    {"227419d5-f6d8-4fb7-85d6-2cac1725e4a9", "GPU Local Adapter Memory", ""},
    {"f596750d-b109-4247-a62f-dea47a46e505", "FileSystem Disk Activity", "--"},
    {"811bbce5-7327-4ad9-ab62-a8b955f61eef", "Pacer Flow", ""},
    {"bfe2736b-c79f-4f36-bd15-2897a1a91d4a", "DFS Replicated Folders", ""},
    {"a689f9be-38ad-4c17-9d62-ad60492084a7", "DFS Replication Connections", ""},
    {"3f1707df-6381-4287-affc-a60e109a4d30", "DFS Replication Service Volumes", ""},
    {"e829b6db-21ab-453b-83c9-d980ec708edd", "ServiceModelService 4.0.0.0", CALLS "NCNCNCNCNCNCNCNCNCNCFrFrFr"},
    {"16dcff2c-91a3-4e6a-8135-0a9e6681c1b5", "ServiceModelEndpoint 4.0.0.0", CALLS "NCNCNC"},
    {"8ebb0470-da6d-485b-8441-8e06b049157a", "ServiceModelOperation 4.0.0.0", CALLS "NC"},
    {"1f7207c2-0b8c-48de-9dcd-64ff98cc24e1", "WorkflowServiceHost 4.0.0.0", "NCNNCNCNNCNCNCNCNCCMbMb"},
    {"faa17411-9025-4b86-8b5e-ce2f32b06e13", "PowerShell Workflow", ""},
    {"a79a2e4c-c5f6-4311-bb7b-67109984651f", "XDP Receive Queue", ".NNNNNNNNNN"},
    {"10672701-093b-4b91-8b76-8f53afd07cd0", "XDP LWF Receive Queue", ".NNNNNNNN"},
    {"05947256-79cd-4393-b54c-a65be0963294", "XDP Transmit Queue", ".NNN"},
    {"48b1dee9-6603-4a83-b20d-435fa421a5d7", "XDP LWF Transmit Queue", ".NNN"},
    {"caa1ae36-014a-4bbb-b6cb-00d57f60d8d3", "Ktl Log Stream", ".BBBGGGGGG"},
    {"1441d310-9058-444c-aef5-0e52a6248589", "Ktl Log Container", ".BB"},
    {"263aca85-798b-4de1-8b21-42f2607ffb5a", "Ktl Log Manager", ".GG"},
    {"3a22a8ec-297c-48ac-ab15-33ec93033fd8", "Node.js", ".CCCCNBBNBB"},
    {"11b6ca09-a1c6-44b9-aab6-73be315fd799", "OpenZFS Zpool", ".BBBBBBGGG........................G"},
    {"3e687ea1-7258-43bf-b832-f082ec02f1ca", "OpenZFS Vdev", ".BBBB........................BB"},
    {"2f8f7f86-5c0b-4865-972c-a788f04c61aa", "OpenZFS Cache", ""},
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

static size_t count_letters(const char *types)
{
    size_t count = 0;

    for (; *types; types++) {
        count += *types != '.';
    }
    return count;
}

static void expect_guid(const perf_known_counterset *set, const char *published)
{
    const uint8_t *g = set->guid;
    char text[40];

    snprintf(text, sizeof text, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", g[3], g[2],
             g[1], g[0], g[5], g[4], g[7], g[6], g[8], g[9], g[10], g[11], g[12], g[13], g[14], g[15]);
    expect(same(text, published), "no source has this GUID", set->name, 0);
}

static void test_types(void)
{
    const size_t count = sizeof sources / sizeof *sources;

    expect(count == perf_num_known_countersets, "number of sets", "?", 0);
    for (size_t i = 0; i < count && i < perf_num_known_countersets; i++) {
        const perf_known_counterset *set = &perf_known_countersets[i];
        const char *types = sources[i].types;

        expect(same(set->name, sources[i].set) && set->num_counters == count_letters(types), "another set",
               sources[i].set, 0);
        expect_guid(set, sources[i].guid);
        for (uint32_t id = 0; id <= strlen(types); id++) {
            perf_known_counter found;
            const perf_known_counter *counter = perf_known_find(set->guid, id, &found) ? &found : NULL;
            const char letter = types[id] != '\0' ? types[id] : '.';

            expect(letter_of(counter) == letter, "another type", set->name, id);
            expect(!counter || counter->base_id == base_of(types, id), "another base", set->name, id);
            expect(!counter || counter->name || strchr("Lbrs", letter), "no name", set->name, id);
        }
    }
}

/* As a machine of Windows 2000 printed them, which is no source of the table. */
static void test_titles(void)
{
    static const struct {
        uint32_t index;
        const char *name;
    } titles[] = {{2, "System"},       {6, "% Processor Time"},       {186, "Private Bytes"},
                  {230, "Process"},    {388, "Bytes Total/sec"},      {674, "System Up Time"},
                  {784, "ID Process"}, {1410, "Creating Process ID"}, {1484, "Split IO/Sec"}};

    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        expect(same(perf_known_title(titles[i].index), titles[i].name), "name", "title", titles[i].index);
    }
    expect(!perf_known_title(0) && !perf_known_title(3) && !perf_known_title(239) && !perf_known_title(1848) &&
               !perf_known_title(PERF_NO_COUNTER),
           "found", "title", 3);
}

int main(void)
{
    test_types();
    test_titles();
    return failures != 0;
}
