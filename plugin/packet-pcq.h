/* packet-pcq.h
 * Performance Counter Query Protocol [MS-PCQ]: the DCE/RPC interface PerflibV2.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_PACKET_PCQ_H
#define PCQ_PACKET_PCQ_H

void proto_register_pcq(void);
void proto_reg_handoff_pcq(void);

#endif
