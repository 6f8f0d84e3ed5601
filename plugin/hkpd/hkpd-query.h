/* hkpd-query.h
 * QueryValue and EnumValue ([MS-RRP] 3.1.5.17 and 3.1.5.11): the requests, and the answers that hold performance data or
 * titles. What else they answer is the stock function's.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_HKPD_HKPD_QUERY_H
#define PCQ_HKPD_HKPD_QUERY_H

#include "hkpd/hkpd-call.h"

void hkpd_query_register(int proto);

int hkpd_value_request(hkpd_pdu *p);
int hkpd_value_response(hkpd_pdu *p);

/* What the call asks: handle, value name, and whether it was asked before. `handle_at` as in hkpd_show_handle(). */
void hkpd_show_question(hkpd_pdu *p, int handle_at);

#endif
