/* ndr.c
 * NDR and NDR64 parameters.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/ndr.h"

#include "tree/fields.h"
#include "perf/bytes.h"

static int hf_array, hf_max_count, hf_offset, hf_actual_count, hf_referent;

static int ett_array = -1;

/* Leaves out padding that is not there: the read of the field behind it fails. */
void ndr_align(buffer_cursor *cursor, uint32_t to)
{
    cursor->pos += MIN((to - cursor->pos % to) % to, cursor_left(cursor));
}

uint32_t ndr_count_size(const buffer_cursor *cursor)
{
    return cursor->is_ndr64 ? 8 : 4;
}

/* Reads a count or referent id, of 8 bytes in NDR64, else 4, and adds it as `hf`. */
static uint64_t read_ndr_count(buffer_cursor *cursor, int hf)
{
    ndr_align(cursor, ndr_count_size(cursor));
    return cursor->is_ndr64 ? cursor_read_u64(cursor, hf) : cursor_read_u32(cursor, hf);
}

uint32_t ndr_u32(buffer_cursor *cursor, int hf)
{
    ndr_align(cursor, 4);
    return cursor_read_u32(cursor, hf);
}

proto_item *ndr_context_handle(buffer_cursor *cursor, int hf, uint8_t handle[NDR_CONTEXT_HANDLE_SIZE])
{
    ndr_align(cursor, 4);
    uint32_t at = cursor->pos, attributes = GUINT32_TO_LE(cursor_read_u32(cursor, 0));
    cursor_read_guid(cursor, 0, handle + 4);
    memcpy(handle, &attributes, 4);
    cursor->item =
        cursor->tree ? proto_tree_add_bytes(cursor->tree, hf, cursor->tvb, at, NDR_CONTEXT_HANDLE_SIZE, handle) : NULL;
    return cursor->item;
}

/* --- Arrays ---------------------------------------------------------------------------------------------------- */

void ndr_array_begin(buffer_cursor *cursor, bool varying, const char *what, ndr_array *array)
{
    buffer_cursor counts;
    uint64_t offset = 0;

    memset(array, 0, sizeof *array);
    ndr_align(cursor, ndr_count_size(cursor));
    array->start = cursor->pos;
    cursor_enter(cursor, hf_array, ett_array, (varying ? 3 : 1) * ndr_count_size(cursor), &counts);
    array->node = counts.node;
    array->tree = counts.tree;
    proto_item_set_text(array->node, "%s", what);
    array->max_count = array->actual_count = read_ndr_count(&counts, hf_max_count);
    if (varying) {
        offset = read_ndr_count(&counts, hf_offset);
        array->actual_count = read_ndr_count(&counts, hf_actual_count);
    }
    array->item = cursor->item = counts.item;
    if (offset != 0) {
        expert_report_add(cursor->report, cursor->item, EI_ARRAY_COUNTS,
                          "The array's offset is %" PRIu64 ", it can only be 0 here", offset);
    }
    if (array->actual_count > array->max_count) {
        expert_report_add(cursor->report, cursor->item, EI_ARRAY_COUNTS,
                          "The array holds %" PRIu64 " elements, more than its maximum of %" PRIu64,
                          array->actual_count, array->max_count);
    }
}

const char *ndr_wide_string(buffer_cursor *cursor, int hf, const char *what)
{
    proto_tree *outer = cursor->tree;
    ndr_array array;

    ndr_array_begin(cursor, /* varying */ true, what, &array);
    uint32_t size = 2 * (uint32_t)MIN(array.actual_count, UINT32_MAX / 2);
    cursor->tree = array.tree;
    const char *text = cursor_read_text(cursor, hf, size, TEXT_WHOLE);
    cursor->tree = outer;
    cursor->report->damaged |= size == 0 || tvb_get_ntohs(cursor->tvb, cursor->pos - 2) != 0;
    proto_item_append_text(array.node, ": %s", text);
    proto_item_set_len(array.node, (int)(cursor->pos - array.start));
    return text;
}

tvbuff_t *ndr_elements(buffer_cursor *cursor, ndr_array *array, uint32_t element_size)
{
    uint32_t start = cursor->pos, left = cursor_left(cursor);
    uint32_t size = (uint32_t)MIN(MIN(array->actual_count, left) * element_size, left);

    cursor->pos += size;
    proto_item_set_len(array->node, (int)(cursor->pos - array->start));
    return tvb_new_subset_length(cursor->tvb, start, size);
}

bool ndr_pointer(buffer_cursor *cursor, const char *what)
{
    bool there = read_ndr_count(cursor, hf_referent) != 0;

    proto_item_append_text(cursor->item, there ? " (%s)" : " (no %s)", what);
    return there;
}

void ndr_fields_register(int proto)
{
    static int *ett[] = {&ett_array};
    static hf_register_info hf[] = {
        FIELD_NODE(hf_array, "Array", "pcq.array", "NDR array with its counts"),
        FIELD_U64(hf_max_count, "Max count", "pcq.array.max_count", "Elements that an NDR array has room for"),
        FIELD_U64(hf_offset, "Offset", "pcq.array.offset", "First element that is sent"),
        FIELD_U64(hf_actual_count, "Actual count", "pcq.array.actual_count", "Elements that are sent"),
        FIELD(hf_referent, "Referent ID", "pcq.referent_id", FT_UINT64, BASE_HEX, NULL,
              "0: the pointer is null, and nothing stands for it"),
    };

    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}

/* --- Garbled stubs ----------------------------------------------------------------------------------------------- */

/* Attributes of handles and lengths of strings are not larger. */
#define LARGEST_SMALL_NUMBER 0xFFFF

bool ndr_is_garbled(const buffer_cursor *cursor, bool ends_with_length)
{
    uint32_t size = tvb_reported_length(cursor->tvb), at = ends_with_length ? MAX(size, 8) - 8 : cursor->pos;

    return tvb_get_uint32(cursor->tvb, (int)at, cursor->encoding) > MAX(size, LARGEST_SMALL_NUMBER);
}
