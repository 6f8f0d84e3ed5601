/* hash.c
 * A hash of bytes that a packet chooses.
 *
 * The sum of products of a keyed half with the other keyed half of each 8 bytes (NH, J. Black et al., "UMAC: Fast and
 * Secure Message Authentication", 1999), with a key of its own for each step: whoever does not know the key finds two
 * equal hashes by chance alone.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/hash.h"

#include <string.h>

static uint64_t hash_key = 0x9E3779B97F4A7C15u;

/* Any number that depends on all bits of another (the finalizer of MurmurHash3). */
static inline uint64_t scatter(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xFF51AFD7ED558CCDu;
    x ^= x >> 33;
    x *= 0xC4CEB9FE1A85EC53u;
    return x ^ x >> 33;
}

static inline uint64_t product(uint64_t word, uint64_t key)
{
    return (uint64_t)((uint32_t)word + (uint32_t)key) * ((uint32_t)(word >> 32) + (uint32_t)(key >> 32));
}

void perf_hash_key(uint64_t key)
{
    hash_key = scatter(key);
}

static inline uint64_t next_key(uint64_t key)
{
    return scatter(key + 0x9E3779B97F4A7C15u);
}

static inline uint64_t whole_word(const uint8_t *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Of fewer bytes than a word has; a call of memcpy() would take longer. */
static inline uint64_t part_of_word(const uint8_t *bytes, size_t size)
{
    uint64_t word = 0;

    while (size > 0) {
        word = word << 8 | bytes[--size];
    }
    return word;
}

static uint64_t hash_all(const uint8_t *bytes, size_t size, uint64_t number)
{
    uint64_t key = hash_key;
    uint64_t sum = product(number, key) + size;

    for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), bytes += sizeof(uint64_t)) {
        key = next_key(key);
        sum += product(whole_word(bytes), key);
    }
    if (size > 0) {
        sum += product(part_of_word(bytes, size), next_key(key));
    }
    return scatter(sum);
}

uint32_t perf_hash(const uint8_t *bytes, size_t size, uint64_t number)
{
    return (uint32_t)(hash_all(bytes, size, number) >> 32);
}

unsigned perf_hash_text(const void *text)
{
    return perf_hash(text, strlen(text), 0);
}

unsigned perf_hash_direct(const void *number)
{
    return perf_hash(NULL, 0, (uintptr_t)number);
}

uint64_t perf_digest(const uint8_t *bytes, size_t size)
{
    uint64_t digest = hash_all(bytes, size, 0);

    return digest != 0 ? digest : 1;
}
