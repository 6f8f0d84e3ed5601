/* hkpd-samples.h
 * Which objects of an answer later answers may be compared with.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_HKPD_HKPD_SAMPLES_H
#define PCQ_HKPD_HKPD_SAMPLES_H

#include "state/state.h"

/* A block's objects, in its order and in `pool`; PERF_NO_OBJECT for one that is no sample: it has no values, or it is not
 * certain which of them stands where or whose it is. */
perf_object_place *hkpd_object_places(tvbuff_t *tvb, wmem_allocator_t *pool, uint32_t *count);

#endif
