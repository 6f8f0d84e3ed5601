/* ndr.c
 * NDR and NDR64 parameters of the PerflibV2 interface.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/ndr.h"

/* Arrays of this interface begin at 0; what is not even near it was not written by anybody. */
#define NOISE_OFFSET 0xFFFF

void ndr_init(ndr_reader *ndr, tvbuff_t *tvb, uint32_t offset, proto_tree *tree, perf_report *report,
              const dcerpc_info *di, const uint8_t *drep)
{
    reader_init(&ndr->reader, tvb, tree, report, (drep[0] & DREP_LITTLE_ENDIAN) ? ENC_LITTLE_ENDIAN : ENC_BIG_ENDIAN);
    ndr->reader.pos = offset <= ndr->reader.end ? offset : ndr->reader.end;
    ndr->ndr64 = (di->call_data->flags & DCERPC_IS_NDR64) != 0;
}

/* Padding that is not there is no fault of its own: the field behind it will be missed. */
void ndr_align(ndr_reader *ndr, uint32_t to)
{
    uint32_t padding = (to - ndr->reader.pos % to) % to;

    if (!ndr->reader.failed) {
        ndr->reader.pos += padding <= reader_left(&ndr->reader) ? padding : reader_left(&ndr->reader);
    }
}

uint64_t ndr_count(ndr_reader *ndr, int hf)
{
    perf_reader *reader = &ndr->reader;
    uint32_t size = ndr->ndr64 ? 8 : 4;

    ndr_align(ndr, size);
    if (!reader_need(reader, size, proto_registrar_get_name(hf))) {
        return 0;
    }
    uint64_t count = size == 8 ? tvb_get_uint64(reader->tvb, reader->pos, reader->encoding)
                               : tvb_get_uint32(reader->tvb, reader->pos, reader->encoding);
    reader->item = proto_tree_add_uint64(reader->tree, hf, reader->tvb, reader->pos, size, count);
    reader->pos += size;
    return count;
}

uint32_t ndr_u32(ndr_reader *ndr, int hf)
{
    ndr_align(ndr, 4);
    return reader_u32(&ndr->reader, hf);
}

void ndr_guid(ndr_reader *ndr, int hf, uint8_t guid[16])
{
    ndr_align(ndr, 4);
    reader_guid(&ndr->reader, hf, guid);
}

void ndr_context_handle(ndr_reader *ndr, int hf, uint8_t handle[NDR_CONTEXT_HANDLE_SIZE])
{
    perf_reader *reader = &ndr->reader;

    memset(handle, 0, NDR_CONTEXT_HANDLE_SIZE);
    ndr_align(ndr, 4);
    if (!reader_need(reader, NDR_CONTEXT_HANDLE_SIZE, proto_registrar_get_name(hf))) {
        return;
    }
    uint32_t attributes = GUINT32_TO_LE(tvb_get_uint32(reader->tvb, reader->pos, reader->encoding));
    memcpy(handle, &attributes, 4);
    guid_bytes(reader->tvb, reader->pos + 4, reader->encoding, handle + 4);
    reader->item = proto_tree_add_bytes(reader->tree, hf, reader->tvb, reader->pos, NDR_CONTEXT_HANDLE_SIZE, handle);
    reader->pos += NDR_CONTEXT_HANDLE_SIZE;
}

static void check_counts(ndr_reader *ndr, const ndr_counts *counts)
{
    if (ndr->reader.failed) {
        return;
    }
    if (counts->offset > NOISE_OFFSET) {
        perf_found(ndr->reader.report, counts->item, FINDING_NOT_DECRYPTED,
                   "The array begins at element %" PRIu64 ": this is noise, the stub was probably not decrypted "
                   "correctly",
                   counts->offset);
    } else if (counts->offset != 0) {
        perf_found(ndr->reader.report, counts->item, FINDING_ARRAY_COUNTS,
                   "The array's offset is %" PRIu64 ", it can only be 0 here", counts->offset);
    }
    if (counts->actual_count > counts->max_count) {
        perf_found(ndr->reader.report, counts->item, FINDING_ARRAY_COUNTS,
                   "The array holds %" PRIu64 " elements, more than its maximum of %" PRIu64, counts->actual_count,
                   counts->max_count);
    }
}

void ndr_varying_counts(ndr_reader *ndr, const ndr_count_fields *fields, ndr_counts *counts)
{
    counts->max_count = ndr_count(ndr, fields->max_count);
    counts->offset = ndr_count(ndr, fields->offset);
    counts->actual_count = ndr_count(ndr, fields->actual_count);
    counts->item = ndr->reader.item;
    check_counts(ndr, counts);
}

void ndr_conformant_count(ndr_reader *ndr, const ndr_count_fields *fields, ndr_counts *counts)
{
    counts->max_count = counts->actual_count = ndr_count(ndr, fields->max_count);
    counts->offset = 0;
    counts->item = ndr->reader.item;
}

const char *ndr_wide_string(ndr_reader *ndr, const ndr_count_fields *fields, int hf, const char *what)
{
    ndr_counts counts;

    ndr_varying_counts(ndr, fields, &counts);
    if (ndr->reader.failed || counts.actual_count > UINT32_MAX / 2) {
        reader_need(&ndr->reader, UINT32_MAX, what);
        return NULL;
    }
    return reader_string(&ndr->reader, hf, 2 * (uint32_t)counts.actual_count, what);
}

tvbuff_t *ndr_elements(ndr_reader *ndr, const ndr_counts *counts, uint32_t element_size, const char *what)
{
    perf_reader *reader = &ndr->reader;

    if (reader->failed) {
        return NULL;
    }
    uint32_t start = reader->pos;
    uint32_t left = reader_left(reader);
    uint64_t size = counts->actual_count <= UINT32_MAX ? counts->actual_count * element_size : UINT64_MAX;

    if (reader_need(reader, size, what)) {
        reader->pos += (uint32_t)size;
        return tvb_new_subset_length(reader->tvb, start, (uint32_t)size);
    }
    return tvb_new_subset_length(reader->tvb, start, left);
}
