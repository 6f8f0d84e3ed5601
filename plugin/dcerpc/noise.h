/* noise.h
 * Stubs that were not decrypted: after a lost packet, and in other known cases, Wireshark hands over noise as plain text.
 *
 * A stub is noise if two things stand in it that no peer sends. One alone can be a peer's fault, and then it has to be
 * shown.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_DCERPC_NOISE_H
#define PCQ_DCERPC_NOISE_H

#include "dcerpc/ndr.h"

/* The parameters of a stub, one letter each:
 *   H context handle    S size, at most `largest`    C small code (RequestCode, dwAdd, type of a value)
 *   G GUID              L any four bytes             R error_status_t
 *   W wide string       V varying array of bytes     g varying array of GUIDs    A conformant array of bytes
 *   p unique pointer to what follows, up to the next p or R */
unsigned ndr_strange_things(ndr_reader *ndr, const char *shape, uint64_t largest);

/* True if the stub, which begins where `ndr` is, is noise. `ndr` has to be a silent one. */
static inline bool ndr_is_noise(ndr_reader *ndr, const char *shape, uint64_t largest)
{
    return ndr_strange_things(ndr, shape, largest) >= 2;
}

#endif
