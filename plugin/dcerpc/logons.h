/* logons.h
 * What a logon to an interface says of the server: whom the client asked Kerberos for, and what the server calls itself in NTLM's
 * challenge.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/hosts.h"

/* Of a bind or its answer at `offset`, seen for the first time. */
void logon_read(packet_info *pinfo, tvbuff_t *tvb, int offset, bool is_request);
