/* begin.c
 * Preloaded into the tshark that callgrind runs: instructions count from where the capture is opened. What comes before
 * is the same for all, and takes callgrind ten seconds.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <valgrind/callgrind.h>

/* Of libwiretap; all that is needed to know of its arguments is that there are five. */
void *wtap_open_offline(const char *path, unsigned type, int *error, char **info, bool random);

__attribute__((visibility("default"))) void *wtap_open_offline(const char *path, unsigned type, int *error, char **info,
                                                               bool random)
{
    void *(*stock)(const char *, unsigned, int *, char **, bool);

    *(void **)&stock = dlsym(RTLD_NEXT, "wtap_open_offline");
    CALLGRIND_START_INSTRUMENTATION;
    return stock(path, type, error, info, random);
}
