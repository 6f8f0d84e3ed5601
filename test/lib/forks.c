/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loaded into tshark by forks.py: when tshark has registered everything and is about to read its arguments, it waits, and
 * each message that comes is run by a fork of it: its arguments, with the files that take its output. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct ws_option;
typedef int parser(int argc, char *const *argv, const char *letters, const struct ws_option *words, int *place);

static char message[1 << 17];
static char *arguments[1 << 12];
static int count;

static size_t receive(int socket, int files[2])
{
    union {
        char space[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec data = {message, sizeof message};
    struct msghdr header = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t size = recvmsg(socket, &header, 0);
    if (size <= 0) {
        _exit(0);
    }
    memcpy(files, CMSG_DATA(CMSG_FIRSTHDR(&header)), 2 * sizeof(int));
    return (size_t)size;
}

/* The message has the folder first, then the arguments. */
static void become(int socket, size_t size, const int files[2])
{
    close(socket);
    for (int i = 0; i < 2; i++) {
        dup2(files[i], 1 + i);
        close(files[i]);
    }
    for (char *word = message; word < message + size; word += strlen(word) + 1) {
        arguments[count++] = word;
    }
    if (chdir(arguments[0]) != 0) {
        abort();
    }
}

static int milliseconds(struct timeval time)
{
    return (int)(1000 * time.tv_sec + time.tv_usec / 1000);
}

/* Comes back in each fork only. */
static void wait_and_fork(int socket)
{
    int files[2], status = 0;
    struct rusage used;
    send(socket, &status, sizeof status, 0);
    for (;;) {
        size_t size = receive(socket, files);
        pid_t child = fork();
        if (child == 0) {
            become(socket, size, files);
            return;
        }
        close(files[0]);
        close(files[1]);
        send(socket, &child, sizeof child, 0);
        wait4(child, &status, 0, &used);
        int end[] = {status, milliseconds(used.ru_utime) + milliseconds(used.ru_stime), (int)used.ru_maxrss};
        send(socket, end, sizeof end, 0);
    }
}

/* What only looks for a few options before everything is registered wants no messages about the others. */
int ws_getopt_long(int argc, char *const *argv, const char *letters, const struct ws_option *words, int *place)
{
    parser *parse = (parser *)dlsym(RTLD_NEXT, "ws_getopt_long");
    const int *has_messages = dlsym(RTLD_DEFAULT, "ws_opterr");
    if (count == 0 && *has_messages) {
        wait_and_fork(atoi(getenv("PCQ_FORKS")));
    }
    return count > 0 ? parse(count, arguments, letters, words, place) : parse(argc, argv, letters, words, place);
}

/* What everything that was registered takes at the end, three quarters of a small run, is left to the system, unless
 * somebody asked to be called. */
static void (*called_at_end[256])(void);
static int calls_at_end;

void register_shutdown_routine(void (*routine)(void))
{
    if (calls_at_end == sizeof called_at_end / sizeof *called_at_end) {
        abort();
    }
    called_at_end[calls_at_end++] = routine;
}

void epan_cleanup(void)
{
    while (calls_at_end > 0) {
        called_at_end[--calls_at_end]();
    }
}
