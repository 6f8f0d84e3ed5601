/* output.h
 * Where statistics and exports write to: a file, which is written whole or not at all, or a pipe, a device or standard output ("-"),
 * which are written to at once.
 *
 * A file's text goes to another one beside it, which takes its place at the end. The first error is reported with its reason, nothing
 * more is written after it, and the program ends with exit status 1.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

#include <stdio.h>

#include <epan/tap.h>

#include "taps/left-out.h"

/* Begins as zeros and the path. */
typedef struct {
    const char *path;
    FILE *stream;     /* NULL before the first text, and behind the last */
    char *temporary;  /* what is written to in place of the file */
    bool is_at_once;  /* somebody may be waiting for the text */
    bool is_terminal; /* which must not be steered; a file holds what was sent */
    bool is_in_place; /* what comes later goes behind it */
    bool failed;
} output_file;

void output_write(output_file *file, const char *text, size_t size);

/* Writes the text, and empties it. */
void output_take(output_file *file, GString *text);

/* The same once it has become long. */
#define OUTPUT_LONG_TEXT 65536

static inline void output_take_long(output_file *file, GString *text)
{
    if (text->len >= OUTPUT_LONG_TEXT) {
        output_take(file, text);
    }
}

/* Puts it in its place, without a text too. */
void output_place(output_file *file);

/* A text that is there at once. */
void output_text(const char *path, const char *text, size_t size);

/* Reports the sentence as a failure (on the terminal or in a dialog), and makes the program end with exit status 1.
 * Wireshark lets a tap that is drawn neither fail nor set the status; so it is set when everything else is done. */
void output_failed(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Warns of what an output had to leave out, one line each and once a run; `what` are those that can be assumed: "values". */
void output_say_left_out(const left_out *left, const char *what);

/* --- What is asked for on the command line -------------------------------------------------------------------------- */

/* One `-z STATISTIC,FILE[,FILTER]`: what listens for it begins with this. */
typedef struct {
    output_file file;
    left_out left;
} output_task;

/* Fills `task`, calls `reset` once, and registers the listener. False, and reported, if anything is wrong; so is what cannot be
 * written, before the capture is read. */
bool output_start(const char *argument, const char *statistic, output_task *task, tap_reset_cb reset,
                  tap_packet_cb packet, tap_draw_cb draw);

/* It begins anew. */
void output_restart(output_task *task);

/* Registers a listener of ours; false, and reported, if the filter is wrong. */
bool output_listen(const char *tap, void *data, const char *filter, tap_reset_cb reset, tap_packet_cb packet,
                   tap_draw_cb draw);

/* The same anew, so that it is drawn before all that are there: Wireshark begins with those that were registered last. */
void output_listen_first(bool *listens, const char *tap, void *data, tap_packet_cb packet, tap_draw_cb draw);
