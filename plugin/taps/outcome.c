/* outcome.c
 * What whoever asked for a file is told when it could not be written.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/outcome.h"

#include <stdlib.h>

#include <wsutil/report_message.h>

static bool failed;

void outcome_failed(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *sentence = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    report_failure("%s", sentence);
    g_free(sentence);
    failed = true;
}

static void leave(void)
{
    if (failed) {
        exit(EXIT_FAILURE);
    }
}

void outcome_register(void)
{
    register_shutdown_routine(leave);
}
