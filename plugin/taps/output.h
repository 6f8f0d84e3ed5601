/* output.h
 * Where statistics and exports write to: a file, which is written whole or not at all, or a pipe, a device or standard output ("-"),
 * which are written to at once. The long form alone goes to a file row by row.
 *
 * A failure is reported with its reason, and the program ends with exit status 1.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

#include <stdio.h>

#include <epan/stat_tap_ui.h>
#include <epan/tap.h>

#include "taps/omissions.h"

/* A pipe, a device, standard output, or the file of the long form: text is written at once. Begins as zeros and the path. */
typedef struct {
    const char *path; /* "-": standard output */
    FILE *stream;     /* NULL before the first text */
    bool failed;      /* the error is reported, or is a closed pipe: nothing more is written */
} output_stream;

/* Appends the text, on a terminal with blanks for control characters. Changes: empties `text`; reports the first error. */
void output_write(output_stream *to, GString *text);

/* Writes all of `text` in place of what the file held; else reports the reason, as of a file that is no text, which then is as before. Changes: frees
 * `text`. */
void output_whole(const char *path, GString *text);

/* Reports the sentence as a failure (on the terminal or in a dialog), and makes the program end with exit status 1. Wireshark lets a tap that is drawn
 * neither fail nor set the status; so it is set when everything else is done. Changes: frees `sentence`. */
void output_failed(char *sentence);

/* Warns of all that an output left out. */
void output_print_omissions(const omissions *o);

/* A statistic that writes a file, `-z NAME[,FILE[,FILTER]]`. Its functions may be NULL, but for draw(). */
typedef struct {
    const char *name;
    size_t task_size;          /* bytes of its task, which begins with an output_task */
    bool takes_paths;          /* paths may stand in the place of a filter */
    void (*reset)(void *task); /* forgets all that was counted; also called once before all, calls or not */
    void (*count)(void *task, packet_info *pinfo, const call_tap_data *tapped);
    void (*draw)(void *task); /* writes the file */
    stat_tap_ui ui;           /* output.c's own */
} output_statistic;

/* The task of one -z: the first member of a statistic's own. Lasts as long as the program. */
typedef struct {
    const output_statistic *statistic;
    const char *path;  /* FILE; "-" without one */
    omissions omitted; /* counted by output.c, but those of values */
} output_task;

/* Registers `-z NAME,FILE`. */
void output_register(output_statistic *statistic);

/* Registers a listener for a tap. `filter`, functions: may be NULL. Needs: with a filter, no reading that began before, at which Wireshark would abort.
 * Returns false, and reports it, for a wrong filter. */
bool output_listen(const char *tap, void *data, const char *filter, tap_reset_cb reset, tap_packet_cb packet,
                   tap_draw_cb draw);

/* Returns true while a window is in the middle of reading its capture, for another statistic, or for its list. */
bool output_is_reading(void);

/* Has `end` called behind the last packet of each reading, before Wireshark draws any listener: tables get their rows then. Needs: its owner
 * calls this again whenever packets are read again; at most two functions, a third takes the second's place. */
void output_call_at_end(void (*end)(void));
