/* handles.c
 * Context handles.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/handles.h"

static wmem_map_t *handles; /* state_handle, as its own key -> the newest; emptied with the file */

static uint32_t numbers[NUM_HANDLE_KINDS]; /* given out so far; from 0 again with the file */

static unsigned handle_hash(const void *handle)
{
    const state_handle *h = handle;

    return wmem_strong_hash(h->bytes, sizeof h->bytes) + (unsigned)(uintptr_t)h->server;
}

static gboolean handle_equal(const void *a, const void *b)
{
    const state_handle *x = a, *y = b;

    return x->server == y->server && x->kind == y->kind && memcmp(x->bytes, y->bytes, sizeof x->bytes) == 0;
}

void handle_confirm(state_handle *handle)
{
    if (handle->number == 0) {
        handle->number = ++numbers[handle->kind];
    }
}

state_handle *handle_open(state_handle_kind kind, state_server *server, const uint8_t *bytes, uint32_t frame,
                          const char *machine)
{
    state_handle *handle = wmem_new(wmem_file_scope(), state_handle);

    *handle = (state_handle){.kind = kind, .server = server, .opened_frame = frame, .machine = machine};
    memcpy(handle->bytes, bytes, sizeof handle->bytes);
    handle->series = wmem_map_new(wmem_file_scope(), wmem_str_hash, g_str_equal);
    wmem_map_remove(handles, handle);
    wmem_map_insert(handles, handle, handle);
    if (frame != 0) {
        handle_confirm(handle);
    }
    return handle;
}

state_handle *handle_find(state_handle_kind kind, state_server *server, const uint8_t *bytes)
{
    state_handle key = {.kind = kind, .server = server};

    memcpy(key.bytes, bytes, sizeof key.bytes);
    return wmem_map_lookup(handles, &key);
}

bool handle_is_null(const uint8_t *bytes)
{
    static const uint8_t null_handle[PERF_HANDLE_SIZE];

    return memcmp(bytes, null_handle, PERF_HANDLE_SIZE) == 0;
}

const char *handle_machine(const state_handle *handle, const state_server *server)
{
    return handle && handle->machine && *handle->machine ? handle->machine : server->text;
}

static void reset_numbers(void)
{
    memset(numbers, 0, sizeof numbers);
}

void handles_register(void)
{
    register_cleanup_routine(reset_numbers);
    handles = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), handle_hash, handle_equal);
}
