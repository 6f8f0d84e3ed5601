/* pcq-browse.h
 * Operations 0 to 2: which countersets there are, what they consist of, which instances they have.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_PCQ_BROWSE_H
#define PCQ_PCQ_BROWSE_H

#include "pcq-call.h"

void pcq_browse_register(int proto);

/* "PERF_REG_COUNTERSET_STRUCT", of the request. */
const char *pcq_request_code_name(const pcq_pdu *p);

void pcq_enumerate_request(pcq_pdu *p);
void pcq_enumerate_response(pcq_pdu *p);
void pcq_registration_request(pcq_pdu *p);
void pcq_registration_response(pcq_pdu *p);
void pcq_instances_request(pcq_pdu *p);
void pcq_instances_response(pcq_pdu *p);

#endif
