/* pcq_endpoint.c
 * A DCE/RPC endpoint server for Samba that answers PerflibV2 calls with the help of another process
 *
 * Samba does everything below the stub: binding, authentication, sealing, fragments, SMB. This module registers the
 * interface on \PIPE\winreg ([MS-PCQ] 2.1) and on one TCP port, takes each request stub as it is, asks the process
 * behind a Unix socket for the response stub and hands that back as it is.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <util/data_blob.h>
#include <core/ntstatus.h>
#include <gen_ndr/dcerpc.h>
#include <dcerpc_server.h>

#define ENDPOINT_PIPE "ncacn_np:[\\pipe\\winreg]"
#define ENDPOINT_TCP "ncacn_ip_tcp:[49671]"

/* Where the answering process listens */
#define SOCKET_ENVIRONMENT "PCQ_LAB_SOCKET"

/* What goes through the socket: this and the request stub, then the answer and the response stub. One connection for
   each call, all numbers in host order. */
struct call_header {
    uint32_t opnum;
    uint32_t auth_level;
    uint32_t drep; /* first byte of the data representation: 0x10 is little-endian */
    uint32_t length;
};

struct answer_header {
    uint32_t fault;
    uint32_t length;
};

NTSTATUS samba_init_module(TALLOC_CTX *context);

static bool send_all(int fd, const void *from, size_t length)
{
    const uint8_t *at = from;

    while (length > 0) {
        ssize_t sent = write(fd, at, length);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        length -= (size_t)sent;
    }
    return true;
}

static bool receive_all(int fd, void *to, size_t length)
{
    uint8_t *at = to;

    while (length > 0) {
        ssize_t received = read(fd, at, length);

        if (received < 0 && errno == EINTR)
            continue;
        if (received <= 0)
            return false;
        at += received;
        length -= (size_t)received;
    }
    return true;
}

static int connect_to_model(void)
{
    const char *path = getenv(SOCKET_ENVIRONMENT);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd;

    if (path == NULL || strlen(path) >= sizeof(address.sun_path))
        return -1;
    strcpy(address.sun_path, path);
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Replace the request stub in `stub` by the response stub; true when there is an answer */
static bool ask_model(TALLOC_CTX *memory, const struct call_header *call, DATA_BLOB *stub, uint32_t *fault)
{
    struct answer_header answer;
    int fd = connect_to_model();
    bool ok;

    if (fd < 0)
        return false;
    ok = send_all(fd, call, sizeof(*call)) && send_all(fd, stub->data, stub->length) &&
         receive_all(fd, &answer, sizeof(answer));
    if (ok) {
        stub->data = talloc_size(memory, (size_t)answer.length + 1);
        stub->length = answer.length;
        *fault = answer.fault;
        ok = stub->data != NULL && receive_all(fd, stub->data, answer.length);
    }
    close(fd);
    return ok;
}

/* "Parsing" a request keeps its bytes */
static NTSTATUS pull_stub(struct dcesrv_call_state *call, TALLOC_CTX *memory, struct ndr_pull *pull, void **out)
{
    DATA_BLOB *stub = talloc(memory, DATA_BLOB);

    (void)call;
    if (stub == NULL)
        return NT_STATUS_NO_MEMORY;
    stub->data = pull->data;
    stub->length = pull->data_size;
    pull->offset = pull->data_size; /* or Samba would take the rest for an unread one */
    *out = stub;
    return NT_STATUS_OK;
}

static NTSTATUS dispatch(struct dcesrv_call_state *call, TALLOC_CTX *memory, void *stub)
{
    struct call_header header;
    enum dcerpc_AuthType type;
    enum dcerpc_AuthLevel level;
    uint32_t fault = DCERPC_FAULT_OTHER;

    dcesrv_call_auth_info(call, &type, &level);
    header.opnum = call->pkt.u.request.opnum;
    header.auth_level = level;
    header.drep = call->pkt.drep[0];
    header.length = (uint32_t)((DATA_BLOB *)stub)->length;

    if (!ask_model(memory, &header, stub, &fault))
        fault = DCERPC_FAULT_OTHER;
    call->fault_code = fault;
    return fault == 0 ? NT_STATUS_OK : NT_STATUS_NET_WRITE_FAULT;
}

static NTSTATUS push_stub(struct dcesrv_call_state *call, TALLOC_CTX *memory, struct ndr_push *push, const void *in)
{
    const DATA_BLOB *stub = in;

    (void)call;
    (void)memory;
    return ndr_map_error2ntstatus(ndr_push_bytes(push, stub->data, (uint32_t)stub->length));
}

static NTSTATUS accept_bind(struct dcesrv_connection_context *context, const struct dcesrv_interface *interface)
{
    (void)context;
    (void)interface;
    return NT_STATUS_OK;
}

static NTSTATUS no_reply_work(struct dcesrv_call_state *call, TALLOC_CTX *memory, void *stub)
{
    (void)call;
    (void)memory;
    (void)stub;
    return NT_STATUS_OK;
}

/* [MS-PCQ] 1.9: da5a86c5-12c2-4943-ab30-7f74a813d853, version 1.0 */
static const struct dcesrv_interface perflib_v2 = {
    .name = "PerflibV2",
    .syntax_id = {{0xda5a86c5, 0x12c2, 0x4943, {0xab, 0x30}, {0x7f, 0x74, 0xa8, 0x13, 0xd8, 0x53}}, 1},
    .bind = accept_bind,
    .ndr_pull = pull_stub,
    .dispatch = dispatch,
    .reply = no_reply_work,
    .ndr_push = push_stub,
    .local = dispatch,
};

static NTSTATUS start_server(struct dcesrv_context *context, const struct dcesrv_endpoint_server *server)
{
    NTSTATUS status = dcesrv_interface_register(context, ENDPOINT_PIPE, NULL, &perflib_v2, NULL);

    (void)server;
    if (!NT_STATUS_IS_OK(status))
        return status;
    return dcesrv_interface_register(context, ENDPOINT_TCP, NULL, &perflib_v2, NULL);
}

static NTSTATUS stop_server(struct dcesrv_context *context, const struct dcesrv_endpoint_server *server)
{
    (void)context;
    (void)server;
    return NT_STATUS_OK;
}

static bool interface_by_uuid(struct dcesrv_interface *interface, const struct GUID *uuid, uint32_t version)
{
    (void)version;
    if (!GUID_equal(uuid, &perflib_v2.syntax_id.uuid))
        return false;
    *interface = perflib_v2;
    return true;
}

static bool interface_by_name(struct dcesrv_interface *interface, const char *name)
{
    if (strcmp(name, perflib_v2.name) != 0)
        return false;
    *interface = perflib_v2;
    return true;
}

NTSTATUS
samba_init_module(TALLOC_CTX *context)
{
    static const struct dcesrv_endpoint_server server = {
        .name = "pcq",
        .init_server = start_server,
        .shutdown_server = stop_server,
        .interface_by_uuid = interface_by_uuid,
        .interface_by_name = interface_by_name,
    };

    (void)context;
    return dcerpc_register_ep_server(&server);
}
