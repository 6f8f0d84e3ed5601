# SPDX-License-Identifier: GPL-2.0-or-later
"""The built-in names, beside what the products' manifests and sources say."""

from conftest import TOP

# Types by letters, one for each id from 0: '.' where there is no such counter, '-' where its type is not known.
LETTERS = {'N': 0x00010000, 'G': 0x00010100, 'H': 0x00000000, 'D': 0x00400400, 'C': 0x10410400, 'B': 0x10410500, 'T': 0x20510500, 'I': 0x21510500, 'P': 0x20570500, 'F': 0x20020400, 'M': 0x30020400, 'A': 0x40020500, 'L': 0x40030500, 'b': 0x40030402, 'r': 0x40030403, 's': 0x40030401}
CALLS = 'NCNNCNCMbNCNC'

# In the order of the list: microsoft/xdp-for-windows, service-fabric, nodejs/node, openzfsonwindows/openzfs, the reference source of .NET,
# winsiderss/systeminformer, fastfetch, infoband, and Microsoft's pages on the Perflib functions.
SOURCES = [
    ('b4fc721a-0378-476f-89ba-a5a79f810b36', 'Processor Information', 'ITTCTTCNTTTTBBBINNNNCPLBAbAbA.-N'),
    ('52bc5412-dac2-449c-8bc2-96443888fe6b', 'Thermal Zone Information', '-..-'),
    ('978c167d-4764-4d9c-9824-14747351dc81', 'GPU Engine', '.-T'),
    ('be2139c7-ab81-424d-b107-d87f7c9322ac', 'GPU Adapter Memory', '.---'),
    ('f802502b-77b4-4713-81b3-3be05759da5d', 'GPU Process Memory', '.-----'),
    ('f9ed01f5-8f3e-4956-973f-9f05bc96f489', 'GPU Non Local Adapter Memory', ''),
    ('227419d5-f6d8-4fb7-85d6-2cac1725e4a9', 'GPU Local Adapter Memory', ''),
    ('f596750d-b109-4247-a62f-dea47a46e505', 'FileSystem Disk Activity', '--'),
    ('811bbce5-7327-4ad9-ab62-a8b955f61eef', 'Pacer Flow', ''),
    ('bfe2736b-c79f-4f36-bd15-2897a1a91d4a', 'DFS Replicated Folders', ''),
    ('a689f9be-38ad-4c17-9d62-ad60492084a7', 'DFS Replication Connections', ''),
    ('3f1707df-6381-4287-affc-a60e109a4d30', 'DFS Replication Service Volumes', ''),
    ('e829b6db-21ab-453b-83c9-d980ec708edd', 'ServiceModelService 4.0.0.0', CALLS + 'NCNCNCNCNCNCNCNCNCNCFrFrFr'),
    ('16dcff2c-91a3-4e6a-8135-0a9e6681c1b5', 'ServiceModelEndpoint 4.0.0.0', CALLS + 'NCNCNC'),
    ('8ebb0470-da6d-485b-8441-8e06b049157a', 'ServiceModelOperation 4.0.0.0', CALLS + 'NC'),
    ('1f7207c2-0b8c-48de-9dcd-64ff98cc24e1', 'WorkflowServiceHost 4.0.0.0', 'NCNNCNCNNCNCNCNCNCCMbMb'),
    ('faa17411-9025-4b86-8b5e-ce2f32b06e13', 'PowerShell Workflow', ''),
    ('a79a2e4c-c5f6-4311-bb7b-67109984651f', 'XDP Receive Queue', '.NNNNNNNNNN'),
    ('10672701-093b-4b91-8b76-8f53afd07cd0', 'XDP LWF Receive Queue', '.NNNNNNNN'),
    ('05947256-79cd-4393-b54c-a65be0963294', 'XDP Transmit Queue', '.NNN'),
    ('48b1dee9-6603-4a83-b20d-435fa421a5d7', 'XDP LWF Transmit Queue', '.NNN'),
    ('caa1ae36-014a-4bbb-b6cb-00d57f60d8d3', 'Ktl Log Stream', '.BBBGGGGGG'),
    ('1441d310-9058-444c-aef5-0e52a6248589', 'Ktl Log Container', '.BB'),
    ('263aca85-798b-4de1-8b21-42f2607ffb5a', 'Ktl Log Manager', '.GG'),
    ('3a22a8ec-297c-48ac-ab15-33ec93033fd8', 'Node.js', '.CCCCNBBNBB'),
    ('11b6ca09-a1c6-44b9-aab6-73be315fd799', 'OpenZFS Zpool', '.BBBBBBGGG........................G'),
    ('3e687ea1-7258-43bf-b832-f082ec02f1ca', 'OpenZFS Vdev', '.BBBB........................BB'),
    ('2f8f7f86-5c0b-4865-972c-a788f04c61aa', 'OpenZFS Cache', ''),
]


def base_of(types, i):
    """A base follows its counter, but that of a sample stands before it."""
    if types[i] not in 'PFSMA':
        return '-'
    if types[i + 1:i + 2] in tuple('Lbrs'):
        return str(i + 1)
    return str(i - 1) if i > 0 and types[i - 1] == 'r' and i + 1 == len(types) else '-'


def lines_of_list():
    text = (TOP / 'plugin/names/known-names.txt').read_text()
    return [line.split('\t') for line in text.splitlines() if line[:1] not in '#']


def test_each_counterset_is_in_its_source():
    lines = lines_of_list()
    assert [(f[1], f[4]) for f in lines if f[0] == 'name' and f[2] == '-'] == [('{%s}' % guid, name) for guid, name, _ in SOURCES]
    for guid, name, types in SOURCES:
        own = [f for f in lines if f[1] == '{%s}' % guid]
        names = {int(f[2]) for f in own if f[0] == 'name' and f[2] != '-'}
        counters = {int(f[2]): f[3:] for f in own if f[0] == 'counter'}
        assert names | set(counters) == {i for i, letter in enumerate(types) if letter != '.'}, name
        assert all(i in names or types[i] in 'Lbrs' for i in counters), name
        assert counters == {i: ['0x%08x' % LETTERS[x], base_of(types, i), '-', '-', '-', '0'] for i, x in enumerate(types) if x not in '.-'}, name


def test_titles():
    """As a machine of Windows 2000 printed them, which is no source of the list."""
    titles = {int(f[1]): f[3] for f in lines_of_list() if f[0] == 'title'}
    assert {2: 'System', 6: '% Processor Time', 186: 'Private Bytes', 230: 'Process', 388: 'Bytes Total/sec', 674: 'System Up Time',
            784: 'ID Process', 1410: 'Creating Process ID', 1484: 'Split IO/Sec'}.items() <= titles.items()
    assert all(i % 2 == 0 and 0 < i < 1848 for i in titles) and 239 not in titles
