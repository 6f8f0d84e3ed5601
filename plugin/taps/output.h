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

#include <epan/stat_tap_ui.h>
#include <epan/tap.h>

#include "taps/omissions.h"

/* Begins as zeros and the path. */
typedef struct {
    const char *path;
    FILE *stream;      /* NULL before the first text, and after the last */
    char *temporary;   /* what is written to in place of the file */
    bool is_direct;    /* a pipe, a device or standard output: without a temporary file, each text at once */
    bool is_committed; /* the file holds all that was written: what comes later is added to it */
    bool failed;
} output_file;

/* Writes the text, and empties it. */
void output_write(output_file *file, GString *text);

/* Ends the file: renames the temporary one to its path, or closes the stream. Opens it first where nothing was written, so that
 * there is an empty file. */
void output_commit(output_file *file);

/* Writes all of `text`, which is freed, in place of what the file held. */
void output_whole(output_file *file, GString *text);

/* Reports the sentence as a failure (on the terminal or in a dialog), and makes the program end with exit status 1.
 * Wireshark lets a tap that is drawn neither fail nor set the status; so it is set when everything else is done. */
void output_failed(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Warns of what an output had to leave out, one line each and once a run; `what` are those that can be assumed: "values". */
void output_print_omissions(const omissions *o, const char *what);

/* A statistic that writes a file, `-z NAME,FILE[,FILTER]`. Its functions may be NULL, but for draw(). */
typedef struct {
    const char *name;
    const char *place; /* instead of FILE; NULL: it is needed */
    size_t task_size;
    bool takes_paths;          /* paths may stand in the place of a filter */
    bool (*begin)(void *task); /* once; returns false, and reports it, if the statistic is not possible */
    void (*reset)(void *task); /* forgets all that was counted */
    void (*count)(void *task, packet_info *pinfo, const tapped_call *tapped);
    void (*draw)(void *task);
    stat_tap_ui ui; /* output.c's own */
} output_statistic;

/* The task of one -z: the first member of a statistic's own. */
typedef struct {
    const output_statistic *statistic;
    output_file file;
    omissions omitted;
} output_task;

/* Registers `-z NAME,FILE`. A path that cannot be written is reported before the capture is read. */
void output_register(output_statistic *statistic);

/* Registers a listener of ours. Returns false, and reports it, if the filter is wrong. Without `packet` it is drawn if any came. */
bool output_listen(const char *tap, void *data, const char *filter, tap_reset_cb reset, tap_packet_cb packet,
                   tap_draw_cb draw);

/* Has a function called once all packets have gone by, before anything else that listens now is drawn. Needs: it is asked for anew each time
 * that packets begin anew. */
void output_call_at_end(void (*end)(void));
