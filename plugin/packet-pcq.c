/* packet-pcq.c
 * Performance Counter Query Protocol [MS-PCQ]
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "ws_compat.h"

void proto_register_pcq(void);
void proto_reg_handoff_pcq(void);

static int proto_pcq = -1;

void proto_register_pcq(void)
{
    proto_pcq = proto_register_protocol("Performance Counter Query Protocol", "PCQ", "pcq");
}

void proto_reg_handoff_pcq(void)
{
}
