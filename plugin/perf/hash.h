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

/* Of a text: a GHashFunc where g_str_hash() is one that anybody can make collide. */
unsigned perf_hash_text(const void *text);

/* Of a number in the place of a pointer: a GHashFunc for GHashTable, which takes such a number modulo a known prime.
 * wmem_map has a secret factor of its own: there g_direct_hash() will do. */
unsigned perf_hash_direct(const void *number);

/* The same in 64 bits, never 0: stands for the bytes where they are too many to be compared again and again. */
uint64_t perf_digest(const uint8_t *bytes, size_t size);

#endif
