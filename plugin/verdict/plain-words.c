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
        {"Server not reachable", ", port ",
         "Let the port through the firewalls between client and server (445: file and printer sharing)."},
    [VERDICT_REFUSED_CONNECTION] =
        {"Connection refused", ", port ",
         "The service does not run, or a firewall rejects the port. Start the service, or open the port."},
    [VERDICT_LOGON_FAILED] = {"Logon refused", NULL,
                              "Check the account, its password, and the clocks of both machines."},
    [VERDICT_SHARE_DENIED] = {"Share IPC$ denied", NULL, "Give the account the right to log on from the network."},
    [VERDICT_PIPE_MISSING] = {"Service for counters not running", NULL,
                              "Start the service Remote Registry on the server."},
    [VERDICT_PIPE_STARTING] = {"Service for counters still starting", NULL,
                               "Let the client try again after a second: its first try may have started the service."},
    [VERDICT_PIPE_DENIED] = {"Access to the counters denied", NULL,
                             "Put the account into the server's group Performance Monitor Users."},
    [VERDICT_BIND_REFUSED] = {"Kind of call refused", NULL,
                              "Client and server do not agree on how calls are protected: compare their policies."},
    [VERDICT_NOT_SEALED] = {"Calls not encrypted", NULL,
                            "The server accepts encrypted calls only: set the client to packet privacy."},
    [VERDICT_SESSION_EXPIRED] = {"Session expired", NULL, "Let the client log on again: restart its collector."},
    [VERDICT_PIPE_BROKEN] = {"Service for counters ended while in use", NULL,
                             "Find out why Remote Registry ended. The client has to connect again."},
    [VERDICT_CALL_FAILED] = {"Calls failed", NULL,
                             "The account may lack rights, or the thing asked for is not there. " SEE_LIST},
    [VERDICT_NO_DATA] = {"Responses without data", NULL,
                         "The call fails, or the client offers too small a buffer each time: it needs as much as the "
                         "response says, and a little more."},
    [VERDICT_OTHER_CLOCK] = {"Restarted, or another machine", NULL,
                             "Ask one machine by its own name. Rates continue with the second sample after a restart."},
    [VERDICT_BROKEN] = {"Connection closed while in use", NULL,
                        "The server, or a firewall in between, closed it. The client has to connect again."},
    [VERDICT_UNANSWERED] = {"No response", NULL, "The service hangs, or the network loses packets."},
    [VERDICT_SLOW] = {"Slow responses", NULL,
                      "Look at the processor and disks of the machine at these times. Captures at both ends tell the "
                      "machine from the network."},
    [VERDICT_DAMAGED] = {"Malformed data", NULL, "Values of these samples are missing or may be wrong."},
    [VERDICT_ASKED_LATE] = {"Late polls", NULL, "Find out what kept the machine busy at these times."},
    [VERDICT_LOST] = {"Packets not captured", NULL, "The packets were sent: capture with a larger buffer."},
    [VERDICT_NOT_DELIVERED] = {"Counters never delivered", ", first ",
                               "Their provider is disabled or gone, or has no instances now. " SEE_LIST},
    [VERDICT_BLOCK_FAILED] = {"Errors instead of values", ", first ",
                              "The instance, or its provider, may be gone for now. " SEE_LIST},
    [VERDICT_REFUSED] = {"Counters refused", ", first ",
                         "The server's Windows has another version of their provider, or lacks it. " SEE_LIST},
    [VERDICT_NAMES_FAILED] = {"No good list of names", NULL, "Rebuild it on the server: lodctr /R."},
    [VERDICT_RESET] = {"Counters reset", ", first ", "Did the program that provides these counters start again?"},
    [VERDICT_HANDLES_OPEN] = {"Queries left open", NULL,
                              "The client has to close its queries, or the server runs out of memory."},
    [VERDICT_ASSUMED] =
        {"Values assumed", ", first ",
         "Some values may belong to another counter or instance: capture from the client's first call on."},
    [VERDICT_PAUSE] = {"Pause between two queries", NULL, "The client had closed its query: no sample was due."},
};

const char *verdict_format_what(const verdict_monitor *monitor, const verdict_finding *finding)
{
    const plain_words *words = &verdict_plain_words[finding->kind];
    bool has_first = words->lead && finding->which;

    return words->what == NULL
               ? finding->text
               : wmem_strconcat(monitor->pool, words->what, has_first ? words->lead : NULL, finding->which, NULL);
}

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
