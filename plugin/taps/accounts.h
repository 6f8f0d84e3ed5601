/* accounts.h
 * As whom clients logged on, where the logon is in clear: by Wireshark's own fields, which cost a tree of each packet.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* From now on; for a statistic that begins. */
void accounts_watch(void);

/* Of this packet's connection, or of the session around it; "" if no logon was seen. Lives with the file. */
const char *account_of(packet_info *pinfo);

void accounts_register(void);
