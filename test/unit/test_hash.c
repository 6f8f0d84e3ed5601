/* test_hash.c
 * The hash of names: all bytes, the size, the number and the key count.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <assert.h>
#include <string.h>

#include "perf/hash.h"

int main(void)
{
    uint8_t bytes[40];
    uint32_t whole, under_another_key;

    memset(bytes, 0x55, sizeof bytes);
    whole = perf_hash(bytes, sizeof bytes, 7);
    assert(whole == perf_hash(bytes, sizeof bytes, 7));
    for (unsigned bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert(perf_hash(bytes, sizeof bytes, 7) != whole);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert(perf_hash(bytes, sizeof bytes, 8) != whole);
    assert(perf_hash(bytes, sizeof bytes - 1, 7) != whole);

    /* zeros at the end are not the same as nothing */
    memset(bytes, 0, sizeof bytes);
    assert(perf_hash(bytes, 3, 0) != perf_hash(bytes, 4, 0));
    assert(perf_hash(bytes, 8, 0) != perf_hash(bytes, 16, 0));
    assert(perf_hash(NULL, 0, 1) != perf_hash(NULL, 0, 2));

    /* what falls together in GLib's hashes */
    assert(perf_hash_text("AQ") != perf_hash_text("B0"));
    assert(perf_hash_text("AQ") == perf_hash((const uint8_t *)"AQ", 2, 0));
    assert(perf_hash_direct((void *)(uintptr_t)131071) != perf_hash_direct(NULL));

    under_another_key = perf_hash(bytes, 16, 0);
    perf_hash_key(12345);
    assert(perf_hash(bytes, 16, 0) != under_another_key);
    return 0;
}
