/* fields.c
 * Tables of fields.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/fields.h"

void fields_register_prefixed(int proto, const char *prefix, const hf_register_info *rows, unsigned count)
{
    hf_register_info *fields = wmem_memdup(wmem_epan_scope(), rows, count * sizeof *rows);

    for (unsigned i = 0; i < count; i++) {
        *fields[i].p_id = -1;
        fields[i].hfinfo.abbrev = wmem_strconcat(wmem_epan_scope(), prefix, ".", rows[i].hfinfo.abbrev, NULL);
    }
    proto_register_field_array(proto, fields, (int)count);
}

bool fields_any_referenced(proto_tree *tree, const int *fields, unsigned count)
{
    for (unsigned i = 0; tree && i < count; i++) {
        if (proto_field_is_referenced(tree, fields[i])) {
            return true;
        }
    }
    return false;
}
