/* print_counter_types.c
 * Writes the counter types of docs/reference.md to the standard output.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "counter_types_doc.h"

int main(void)
{
    doc_counter_types(stdout);
    return 0;
}
