/* hash.h
 * A hash of bytes that a packet chooses: keyed, so that nobody can make names that all fall together.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_PERF_HASH_H
#define PCQ_PERF_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The key of all hashes from here on; a random number, set once before the first. */
void perf_hash_key(uint64_t key);

/* Of `size` bytes and a number that belongs to them. */
uint32_t perf_hash(const uint8_t *bytes, size_t size, uint64_t number);

/* The same in 64 bits, never 0: stands for the bytes where they are too many to be compared again and again. */
uint64_t perf_digest(const uint8_t *bytes, size_t size);

#endif
