/* pcq-query.h
 * Operations 3 to 7: the life of a query, from its opening over its counters and their data to its closing.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_PCQ_QUERY_H
#define PCQ_PCQ_QUERY_H

#include "pcq-call.h"

/* Largest sizes that the interface admits, in bytes ([MS-PCQ] 3.1.4.1.5 to 3.1.4.1.7). */
#define PCQ_MAX_INFO 67108864
#define PCQ_MAX_DATA 1073741824

void pcq_query_register(int proto);

void pcq_open_request(pcq_pdu *p);
void pcq_open_response(pcq_pdu *p);
void pcq_close_request(pcq_pdu *p);
void pcq_close_response(pcq_pdu *p);
void pcq_info_request(pcq_pdu *p);
void pcq_info_response(pcq_pdu *p);
void pcq_data_request(pcq_pdu *p);
void pcq_data_response(pcq_pdu *p);
void pcq_validate_request(pcq_pdu *p);
void pcq_validate_response(pcq_pdu *p);

/* The response to ValidateCounters that could not be read: what the query holds is not known any more. */
void pcq_validate_unknown(pcq_pdu *p);

#endif
