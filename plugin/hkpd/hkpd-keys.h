/* hkpd-keys.h
 * Opening and closing the keys of the registry: which handle is one with performance data, and which is not.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_HKPD_HKPD_KEYS_H
#define PCQ_HKPD_HKPD_KEYS_H

#include "hkpd/hkpd-call.h"

/* Each reads a stub that hkpd_begin() began, and returns what a dissector does. */
int hkpd_open_data_response(hkpd_pdu *p);
int hkpd_open_text_response(hkpd_pdu *p);
int hkpd_open_nls_text_response(hkpd_pdu *p);

/* HKEY_LOCAL_MACHINE and all others. */
int hkpd_open_other_response(hkpd_pdu *p);

int hkpd_open_key_request(hkpd_pdu *p);
int hkpd_open_key_response(hkpd_pdu *p);
int hkpd_create_key_response(hkpd_pdu *p);
int hkpd_close_key_request(hkpd_pdu *p);
int hkpd_close_key_response(hkpd_pdu *p);

#endif
