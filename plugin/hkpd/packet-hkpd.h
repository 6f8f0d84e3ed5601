/* packet-hkpd.h
 * HKEY_PERFORMANCE_DATA, the part of the remote registry ([MS-RRP]) that answers with performance counters.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_HKPD_PACKET_HKPD_H
#define PCQ_HKPD_PACKET_HKPD_H

void proto_register_hkpd(void);

void proto_reg_handoff_hkpd(void);

#endif
