/* noise.c
 * Stubs that were not decrypted.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/noise.h"

/* Codes, offsets and the lengths of strings are small numbers, whatever a peer makes of them. */
#define LARGEST_SMALL_NUMBER 0xFFFF

static uint32_t silent_u32(ndr_reader *ndr)
{
    perf_reader *reader = &ndr->reader;

    ndr_align(ndr, 4);
    if (reader->failed || reader_left(reader) < 4) {
        reader->failed = true;
        return 0;
    }
    uint32_t value = tvb_get_uint32(reader->tvb, reader->pos, reader->encoding);
    reader->pos += 4;
    return value;
}

static uint64_t silent_count(ndr_reader *ndr)
{
    perf_reader *reader = &ndr->reader;

    if (!ndr->ndr64) {
        return silent_u32(ndr);
    }
    ndr_align(ndr, 8);
    if (reader->failed || reader_left(reader) < 8) {
        reader->failed = true;
        return 0;
    }
    uint64_t value = tvb_get_uint64(reader->tvb, reader->pos, reader->encoding);
    reader->pos += 8;
    return value;
}

static void silent_skip(ndr_reader *ndr, uint64_t size)
{
    perf_reader *reader = &ndr->reader;

    if (size > reader_left(reader)) {
        reader->failed = true;
    } else {
        reader->pos += (uint32_t)size;
    }
}

/* Attributes are 0, some servers use the lowest byte, none the highest. A UUID has a version and a variant ([C706]
 * appendix A), but who makes handles in another way need not care: that counts only beside the attributes. */
static unsigned strange_handle(ndr_reader *ndr)
{
    perf_reader *reader = &ndr->reader;
    uint8_t uuid[16];

    uint32_t attributes = silent_u32(ndr);
    if (reader->failed || reader_left(reader) < sizeof uuid) {
        reader->failed = true;
        return 0;
    }
    guid_bytes(reader->tvb, reader->pos, reader->encoding, uuid);
    reader->pos += sizeof uuid;
    unsigned version = uuid[7] >> 4;
    bool is_uuid = (uuid[8] & 0xC0) == 0x80 && version >= 1 && version <= 5;
    return attributes <= 0xFF ? 0 : 1 + (attributes > 0xFFFFFF) + !is_uuid;
}

/* Win32 codes, HRESULTs and NTSTATUS of the first facilities, and nca_s_… */
static bool is_status(uint32_t status)
{
    return status <= LARGEST_SMALL_NUMBER || (status & 0x3FF00000) == 0 || (status & 0xFFFE0000) == 0x1C000000;
}

static unsigned strange_array(ndr_reader *ndr, bool varying, uint32_t element_size, uint64_t largest)
{
    uint64_t max_count = silent_count(ndr);
    uint64_t offset = varying ? silent_count(ndr) : 0;
    uint64_t actual_count = varying ? silent_count(ndr) : max_count;

    if (ndr->reader.failed) {
        return 0;
    }
    silent_skip(ndr, actual_count <= UINT32_MAX ? actual_count * element_size : UINT64_MAX);
    return (max_count > largest) + (offset > LARGEST_SMALL_NUMBER) + (actual_count > max_count);
}

static unsigned strange_parameter(ndr_reader *ndr, char letter, uint64_t largest)
{
    switch (letter) {
    case 'H':
        return strange_handle(ndr);
    case 'S':
        return silent_u32(ndr) > largest;
    case 'C':
        return silent_u32(ndr) > LARGEST_SMALL_NUMBER;
    case 'G':
        ndr_align(ndr, 4);
        silent_skip(ndr, 16);
        return 0;
    case 'L':
        silent_u32(ndr);
        return 0;
    case 'R':
        return !is_status(silent_u32(ndr));
    case 'W':
        return strange_array(ndr, true, 2, LARGEST_SMALL_NUMBER);
    case 'V':
        return strange_array(ndr, true, 1, largest);
    case 'g':
        return strange_array(ndr, true, 16, largest);
    default:
        return strange_array(ndr, false, 1, largest);
    }
}

/* Where a count leads beyond the stub, the status is still its last four bytes. */
static unsigned strange_end(const perf_reader *reader, const char *shape)
{
    bool has_status = shape[strlen(shape) - 1] == 'R';

    return reader->failed && has_status && reader->end >= 4 &&
           !is_status(tvb_get_uint32(reader->tvb, reader->end - 4, reader->encoding));
}

unsigned ndr_strange_things(ndr_reader *ndr, const char *shape, uint64_t largest)
{
    unsigned strange = 0;
    bool there = true;

    for (; *shape && !ndr->reader.failed; shape++) {
        if (*shape == 'p') {
            there = silent_count(ndr) != 0;
        } else if (there || *shape == 'R') {
            strange += strange_parameter(ndr, *shape, largest);
        }
    }
    return strange + strange_end(&ndr->reader, shape);
}
