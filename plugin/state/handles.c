/* handles.c
 * Lives of handles: from the response that opened one to the request that closed it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/handles.h"

static wmem_map_t *handles; /* handle_key -> the state_handle that was opened last; emptied with the file */

static uint32_t numbers[NUM_HANDLE_KINDS]; /* given out so far; from 0 again with the file */

typedef struct {
    state_host *server;
    state_handle_kind kind;
    uint8_t bytes[PERF_HANDLE_SIZE];
} handle_key;

static struct {
    handle_key key;
    state_handle *newest; /* NULL: nothing was asked for, or not found */
} asked_last;

static unsigned handle_key_hash(const void *key)
{
    const handle_key *k = key;

    return wmem_strong_hash(k->bytes, sizeof k->bytes) + (unsigned)(uintptr_t)k->server + k->kind;
}

static gboolean handle_key_equal(const void *a, const void *b)
{
    const handle_key *x = a, *y = b;

    return x->server == y->server && x->kind == y->kind && memcmp(x->bytes, y->bytes, sizeof x->bytes) == 0;
}

/* A client mostly polls one query. */
static state_handle *newest_of(const handle_key *key)
{
    if (asked_last.newest == NULL || !handle_key_equal(&asked_last.key, key)) {
        asked_last.key = *key;
        asked_last.newest = wmem_map_lookup(handles, key);
    }
    return asked_last.newest;
}

void handle_confirm(state_handle *handle)
{
    if (handle->number == 0 && handle->kind != PERF_HANDLE_OTHER_KEY) {
        handle->number = ++numbers[handle->kind];
    }
}

state_handle *handle_open(state_handle_kind kind, state_host *server, const uint8_t *bytes, uint32_t event,
                          uint32_t frame, const char *machine)
{
    handle_key key = {server, kind == PERF_HANDLE_OTHER_KEY ? PERF_HANDLE_HKPD : kind, {0}};
    state_handle *handle = wmem_new0(wmem_file_scope(), state_handle);

    memcpy(key.bytes, bytes, sizeof key.bytes);
    handle->kind = kind;
    handle->server = server;
    memcpy(handle->bytes, bytes, sizeof handle->bytes);
    handle->begin = event;
    handle->end = UINT32_MAX;
    handle->opened_frame = frame;
    handle->machine = machine;
    const handle_key *kept = newest_of(&key) ? &key : wmem_memdup(wmem_file_scope(), &key, sizeof key);
    wmem_map_insert(handles, kept, handle); /* which keeps the key that it has */
    asked_last.newest = handle;
    if (frame != 0) {
        handle_confirm(handle);
    }
    return handle;
}

state_handle *handle_find(state_handle_kind kind, state_host *server, const uint8_t *bytes)
{
    handle_key key = {server, kind, {0}};

    memcpy(key.bytes, bytes, sizeof key.bytes);
    return newest_of(&key);
}

const char *handle_machine(const state_handle *handle, const state_host *server)
{
    return handle && handle->machine && *handle->machine ? handle->machine : host_address(server);
}

void handle_close(state_handle *handle, uint32_t event, uint32_t frame)
{
    handle->end = event;
    handle->closed_frame = frame;
}

void handle_not_closed(state_handle *handle)
{
    handle->end = UINT32_MAX;
    handle->closed_frame = 0;
}

static void reset(void)
{
    memset(numbers, 0, sizeof numbers);
    asked_last.newest = NULL;
}

void handles_register(void)
{
    register_cleanup_routine(reset);
    handles = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), handle_key_hash, handle_key_equal);
}
