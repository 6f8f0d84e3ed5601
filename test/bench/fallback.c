/* fallback.c
 * The hook as a Wireshark without dcerpc_uuids has it: compiled here, where HAVE_DCERPC_UUIDS is not defined.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/winreg-hook.c"
