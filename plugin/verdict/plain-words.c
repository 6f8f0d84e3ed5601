/* plain-words.c
 * Findings in words for readers without Wireshark.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/plain-words.h"

/* The list of what was refused is on the same page. */
#define SEE_LIST "The list below has all."

const plain_words verdict_plain_words[VERDICT_NUM_KINDS] = {
    [VERDICT_UNREACHABLE] =
        {"cannot be reached on its port",
         "Let the port through the firewalls between client and server (445: file and printer sharing)."},
    [VERDICT_REFUSED_CONNECTION] =
        {"refuses connections to its port",
         "The service does not run, or a firewall rejects the port. Start the service, or open the port."},
    [VERDICT_LOGON_FAILED] = {"refuses the logon", "Check the account, its password, and the clocks of both machines."},
    [VERDICT_SHARE_DENIED] = {"denies the share IPC$", "Give the account the right to log on from the network."},
    [VERDICT_PIPE_MISSING] = {"has no service for counters", "Start the service Remote Registry on the server."},
    [VERDICT_PIPE_STARTING] = {"is still starting the service for counters",
                               "Let the client try again after a second: its first try may have started the service."},
    [VERDICT_PIPE_DENIED] = {"denies access to the counters",
                             "Put the account into the server's group Performance Monitor Users."},
    [VERDICT_BIND_REFUSED] = {"refuses the kind of call",
                              "Client and server do not agree on how calls are protected: compare their policies."},
    [VERDICT_INTERFACE_MISSING] = {"does not know these calls",
                                   "They exist since Windows Vista, and only while Remote Registry runs."},
    [VERDICT_NOT_SEALED] = {"sends calls that are not encrypted",
                            "The server accepts encrypted calls only: set the client to packet privacy."},
    [VERDICT_SESSION_EXPIRED] = {"goes on in a session that ended",
                                 "Let the client log on again: restart its collector."},
    [VERDICT_PIPE_BROKEN] = {"ended the service for counters while it was used",
                             "Find out why Remote Registry ended. The client has to connect again."},
    [VERDICT_CALL_FAILED] = {"answers calls with errors",
                             "The account may lack rights, or the thing asked for is not there. " SEE_LIST},
    [VERDICT_NO_DATA] = {"gets no data: its buffer is too small each time",
                         "The client has to offer as much room as the response names, and a little more."},
    [VERDICT_OTHER_CLOCK] = {"was restarted, or is another machine",
                             "Ask one machine by its own name. Rates continue with the second sample after a restart."},
    [VERDICT_PAUSE] = {"paused between two queries", "It had closed its query: nothing was to come."},
    [VERDICT_BROKEN] = {"closed the connection",
                        "The server, or a firewall in between, closed it. The client has to connect again."},
    [VERDICT_UNANSWERED] = {"does not respond", "Its service hangs, or the network loses packets."},
    [VERDICT_SLOW] = {"responds slowly",
                      "Something keeps it busy: look at its processor and disks below at that time."},
    [VERDICT_DAMAGED] = {"sends malformed data", "Values of these samples are missing or may be wrong."},
    [VERDICT_ASKED_LATE] = {"polls late", "Find out what kept the client busy at these times."},
    [VERDICT_ONE_WAY] = {"has one direction only", "Capture at a place that both directions pass."},
    [VERDICT_LOST] = {"lacks packets", "The packets were sent but not captured: capture with a larger buffer."},
    [VERDICT_OUT_OF_ORDER] = {"has packets in the wrong order",
                              "Values may be missing. The tool reordercap puts packets in order."},
    [VERDICT_CUT] = {"has truncated packets", "Capture whole packets, without a snapshot length."},
    [VERDICT_FROM_MIDDLE] = {"begins in the middle", "Begin to capture before the client connects."},
    [VERDICT_OTHER_PORT] = {"has calls on an unusual port", "In Wireshark, Decode As says what the port carries."},
    [VERDICT_NOT_DELIVERED] = {"never delivers requested counters",
                               "Their provider is disabled or gone, or has no instances now. " SEE_LIST},
    [VERDICT_BLOCK_FAILED] = {"returns an error instead of values",
                              "The instance, or its provider, may be gone for now. " SEE_LIST},
    [VERDICT_REFUSED] = {"refuses counters",
                         "Its Windows has another version of their provider, or lacks it. " SEE_LIST},
    [VERDICT_EMPTY] = {"returns samples without values",
                       "No counter was accepted, or everything that had values is gone."},
    [VERDICT_RESET] = {"reset counters", "Did the program that provides these counters start again?"},
    [VERDICT_NAMES] = {"sends a malformed list of names", "These counters stay numbers. A names file can name them."},
    [VERDICT_HANDLES_OPEN] = {"leaves queries open",
                              "The client has to close its queries, or the server runs out of memory."},
    [VERDICT_MANY_CALLS] = {"needs many calls for each sample", "The client has to offer more room at once."},
    [VERDICT_ASSUMED] =
        {"does not prove the counter of some values",
         "Some values may belong to another counter or instance: capture from the client's first call on."},
    [VERDICT_UNTYPED] = {"lacks the types of values",
                         "A value without a type has no result: capture before the client connects, or use a "
                         "names file of an earlier capture."},
};

const char *verdict_format_who(const verdict_monitor *monitor, const verdict_finding *finding)
{
    wmem_allocator_t *pool = monitor->pool;

    switch (finding->party) {
    case PARTY_CLIENT:
        return wmem_strconcat(pool, "Client ", verdict_client(monitor), NULL);
    case PARTY_SERVER:
        return wmem_strconcat(pool, "Server ", verdict_server(monitor), NULL);
    case PARTY_NETWORK:
        return wmem_strconcat(pool, "Network to ", verdict_server(monitor), NULL);
    case PARTY_CAPTURE:
        return "Capture";
    case PARTY_UNKNOWN:
        break;
    }
    return wmem_strconcat(pool, verdict_client(monitor), " to ", verdict_server(monitor), NULL);
}

double verdict_find_until(const verdict_monitor *monitor, const verdict_finding *finding)
{
    uint32_t last = finding->frames[finding->count - 1];

    for (const verdict_call *call = monitor->end; call > monitor->calls; call--) {
        if (call[-1].frame == last || call[-1].asked_frame == last) {
            return call[-1].frame == last ? call[-1].answered : call[-1].asked;
        }
    }
    return finding->since;
}
