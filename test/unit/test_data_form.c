/* test_data_form.c
 * Forms: which bytes of an answer are its numbers, and what has the same form. That the numbers change nothing about what a walk
 * finds holds of any bytes: fuzz_data_walk.c, which test_data_walk calls.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/data-form.h"

#include "data_buffer.h"

#include <assert.h>
#include <stdlib.h>

#define CLOCKS 5 /* words of the header */

/* As many numbers as that and the clocks; every change of another byte makes another form. */
static void check_form(const buffer *b, uint32_t expected)
{
    buffer first = *b, changed = *b, filled;
    perf_form *form = perf_form_new(first.bytes, first.size);
    uint32_t alike = 0;

    assert(form && form->num_numbers == CLOCKS + expected);
    uint64_t *numbers = malloc(form->num_numbers * sizeof *numbers);
    for (uint32_t i = 0; i < b->size; i++) {
        changed.bytes[i] ^= 0x55;
        if (perf_form_read(form, changed.bytes, changed.size, numbers)) {
            alike++;
            filled = first;
            perf_form_fill(form, numbers, filled.bytes);
            assert(memcmp(filled.bytes, changed.bytes, b->size) == 0);
        }
        changed.bytes[i] ^= 0x55;
    }
    assert(alike == 8 * form->num_numbers);
    assert(!perf_form_read(form, b->bytes, b->size - 1, numbers));
    free(numbers);
    perf_form_free(form);
}

static void check_no_form(const buffer *b)
{
    buffer copy = *b;

    assert(perf_form_new(copy.bytes, copy.size) == NULL);
}

/* An odd number of ids puts the values on halves of words. */
static void test_countersets(void)
{
    buffer b;

    for (uint32_t counters = 0; counters < 6; counters++) {
        put_header(&b, 2);
        for (int i = 0; i < 2; i++) {
            put_counterset(&b, 5 + i, counters + i);
            while (b.size % 8 != 0) {
                put32(&b, 0);
            }
        }
        finish(&b);
        check_form(&b, 5 * counters + 6 * (counters + 1));
    }
}

static void test_blocks(void)
{
    buffer b;

    put_header(&b, 101);
    for (uint32_t i = 0; i < 101; i++) {
        uint32_t block = begin_block(&b, i == 50 ? PERF_ERROR_RETURN : PERF_SINGLE_COUNTER);
        if (i != 50) {
            put_value(&b, i % 2 ? 4 : 8, 77 * i + 1);
        }
        end_block(&b, block);
    }
    finish(&b);
    check_form(&b, 100);
}

/* All of it is what fills a form, with its padding. */
static void test_text(void)
{
    buffer b;

    put_header(&b, 1);
    uint32_t block = begin_block(&b, PERF_SINGLE_COUNTER);
    put32(&b, 18);
    put32(&b, 8 + 24);
    for (int i = 0; i < 3; i++) {
        put64(&b, 0x0041004200430044);
    }
    end_block(&b, block);
    finish(&b);
    check_form(&b, 3);
}

static void put_two_values(buffer *b, uint32_t ids, uint32_t size, uint32_t padding)
{
    uint32_t block = begin_block(b, PERF_MULTIPLE_COUNTERS);

    put32(b, 8 + 4 * ids);
    put32(b, ids);
    for (uint32_t i = 0; i < ids; i++) {
        put32(b, i);
    }
    if (padding != UINT32_MAX) {
        put32(b, padding);
    }
    for (uint32_t i = 0; i < ids; i++) {
        put32(b, 4);
        put32(b, size);
        for (uint32_t n = 8; n < size; n += 4) {
            put32(b, n == 8 ? 1000 + i : 0);
        }
    }
    end_block(b, block);
}

/* The walk tries both ways, and what it tries could be a value. */
static void test_sizes_in_doubt(void)
{
    buffer b;

    put_header(&b, 1);
    put_two_values(&b, 2, 12, UINT32_MAX);
    finish(&b);
    check_no_form(&b);

    put_header(&b, 1);
    put_two_values(&b, 3, 16, 0);
    put32(&b, 0);
    finish(&b);
    check_form(&b, 3);

    put_header(&b, 1);
    put_two_values(&b, 3, 16, 0xDEADBEEF);
    put32(&b, 0);
    finish(&b);
    check_no_form(&b);

    /* dwSize of PERF_MULTI_COUNTERS leads beyond everything */
    set32(&b, PERF_DATA_HEADER_SIZE + PERF_COUNTER_HEADER_SIZE, 0x7FFFFFF0);
    check_no_form(&b);
}

static void test_faults(void)
{
    buffer b;

    put_header(&b, 1);
    put_counterset(&b, 3, 2);
    check_no_form(&b); /* dwTotalSize */
    finish(&b);
    check_form(&b, 6);
    b.size -= 8;
    check_no_form(&b);
    b.size = 40;
    check_no_form(&b);
    b.size = 0;
    check_no_form(&b);
}

int main(void)
{
    test_countersets();
    test_blocks();
    test_text();
    test_sizes_in_doubt();
    test_faults();
    return 0;
}
