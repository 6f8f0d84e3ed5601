/* replay.c
 * Runs a fuzzer's target over files and folders, one input each, in place of libFuzzer.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#define _DEFAULT_SOURCE /* scandir() */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned inputs;

static void run_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size > 0 ? size : 1);

    if (file == NULL || fread(data, 1, size, file) != size) {
        perror(path);
        exit(2);
    }
    fclose(file);
    fprintf(stderr, "%s\n", path); /* the last one printed is the one that failed */
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    inputs++;
}

static void run(const char *path)
{
    struct stat about;

    if (stat(path, &about) != 0) {
        return; /* a target without regressions has no folder */
    }
    if (!S_ISDIR(about.st_mode)) {
        run_file(path, (size_t)about.st_size);
        return;
    }
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            run(inner);
        }
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    if (LLVMFuzzerInitialize) {
        LLVMFuzzerInitialize(&argc, &argv);
    }
    for (int i = 1; i < argc; i++) {
        run(argv[i]);
    }
    printf("%u inputs\n", inputs);
    return 0;
}
