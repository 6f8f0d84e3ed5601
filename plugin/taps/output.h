/* output.h
 * A file that is written whole or not at all.
 *
 * What is written goes to a temporary file beside it, which takes its place at the end; a pipe, a device or standard
 * output ("-") is written to at once. The first error is reported with its reason, nothing more is written after it, and
 * the program ends with exit status 1.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

#include <stdio.h>

#include <epan/tap.h>

#include "text/csv.h"
#include "tap/tapped.h"

typedef struct output_file output_file;

/* A file belongs to the output that asked for it first, whoever that is; devices and pipes belong to nobody. False, and
 * reported, if it is another's, or no text. */
bool output_claim(const char *path, const void *owner);

/* Claims it. NULL, and reported, if it cannot be written. */
output_file *output_open(const char *path, const void *owner);

void output_write(output_file *file, const void *data, size_t size);

/* Writes the text and forgets it; or does so once it has become long. */
void output_take_all(output_file *file, perf_csv *text);

#define OUTPUT_LONG_TEXT 65536

static inline void output_take_long(output_file *file, perf_csv *text)
{
    if (text->size >= OUTPUT_LONG_TEXT || text->failed) {
        output_take_all(file, text);
    }
}

/* A pipe, a device or standard output gets the text now: somebody may be waiting for it. */
void output_take_at_once(output_file *file, perf_csv *text);

/* Puts it in its place; one that is written to further goes on there. False, and reported, if anything went wrong. */
bool output_place(output_file *file);

/* Ends it; what is not in its place goes. */
void output_close(output_file *file);

/* All of these for a text that is there at once. */
void output_write_whole(const char *path, const void *owner, const char *text, size_t size);

/* A file without a name, for rows that wait for their header; beside `path` if that is given. NULL and reported on
 * errors. */
FILE *output_scratch(const char *path);

/* "cannot write PATH: reason", and exit status 1 when the program ends. */
void output_report(const char *path, int error);

/* Reports the sentence as a failure (on the terminal or in a dialog), and makes the program end with exit status 1.
 * Wireshark lets a tap that is drawn neither fail nor set the status; so it is set when everything else is done. */
void output_failed(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* True in tshark, which draws statistics once, when all has been read. */
bool output_of_tshark(void);

/* Warns of what an output had to leave out, one line each and once a run; `what` are those that can be assumed: "values". */
void output_say_left_out(const tapped_left_out *left, const char *what);

/* --- What is asked for on the command line -------------------------------------------------------------------------- */

/* One `-z STATISTIC,FILE[,FILTER]`: what listens for it begins with this. */
typedef struct {
    char *path;
    output_file *file; /* opened at once, so that what cannot be written is said before the capture is read */
    tapped_left_out left;
} output_task;

/* Fills `task`, calls `reset` once, and registers the listener. False, and reported, if anything is wrong: the program ends then,
 * and its temporary files with it. */
bool output_start(const char *argument, const char *statistic, output_task *task, tap_reset_cb reset,
                  tap_packet_cb packet, tap_draw_cb draw);

/* It begins anew, with another file. */
void output_restart(output_task *task);

/* A listener's packet function: counts what could not be taken, in a tapped_left_out. */
tap_packet_status output_count(void *left, packet_info *pinfo, epan_dissect_t *edt, const void *tapped,
                               tap_flags_t flags);

/* Registers a listener of ours; false, and reported, if the filter is wrong. */
bool output_listen(const char *tap, void *data, const char *filter, tap_reset_cb reset, tap_packet_cb packet,
                   tap_draw_cb draw);
