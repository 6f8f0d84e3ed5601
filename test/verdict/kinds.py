# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of the findings in JSON, and a word or two by which the first line tells each. What a finding is called is said here alone."""

# name used in the tables of scenarios: (kinds in JSON that are right, what the first line says)
KINDS = {
    # the ladder
    'unreachable': (['unreachable'], r'reach|answer|firewall'),
    'refused_connection': (['refused_connection'], r'refus|listen|reset'),
    'logon_failed': (['logon_failed'], r'log|SMB|password'),
    'share_denied': (['share_denied'], r'IPC\$'),
    'pipe_missing': (['pipe_missing'], r'pipe winreg'),
    'pipe_starting': (['pipe_starting'], r'start'),
    'pipe_denied': (['pipe_denied'], r'pipe winreg|denies'),
    'pipe_broken': (['pipe_broken'], r'pipe'),
    'bind_refused': (['bind_refused'], r'interface \(refused\)'),
    'interface_missing': (['bind_refused'], r'not there|unk_if'),
    'not_sealed': (['not_sealed'], r'seal'),
    'session_expired': (['session_expired'], r'session'),
    'smb_failed': (['pipe_broken', 'call_failed'], r'pipe winreg'),
    'call_failed': (['call_failed'], r'ERROR_|nca_|fault|RPC_S|fail|den'),
    # timing
    'asked_late': (['asked_late'], r'late'),
    'slow': (['slow'], r'slow'),
    'resent': (['slow', 'asked_late'], r'[Nn]etwork'),
    'zero_window': (['slow', 'asked_late'], r'window'),
    'other_clock': (['other_clock'], r'restarted, or another machine'),
    'unanswered': (['unanswered'], r'answer|responses'),
    'broken': (['broken'], r'end|reset|clos|br[eo]|drop'),
    'idle_stop': (['pause'], r'stopped Remote Registry while'),
    # the books
    'counter_refused': (['counter_refused'], r'refus'),
    'block_failed': (['block_failed'], r'ERROR_NO_DATA'),
    'not_delivered': (['not_delivered'], r'never|not|no longer|gone|without'),
    'names_failed': (['names_failed'], r'list of names'),
    'damaged': (['damaged'], r'malformed'),
    'failed_by_size': (['no_data', 'probe_loop'], r'size|fail|without'),
    'probe_loop': (['probe_loop', 'no_data'], r'room|size|probe'),
    'assumed': (['assumed'], r'assumed'),
    # what else there is
    'handles_open': (['handles_open'], r'10 '),
    # the capture
    'lost': (['lost'], r'captur'),
    'lost_on_its_way': (['lost'], r'sent again'),
    'out_of_order': (['lost'], r'order'),
    'cut': (['lost', 'damaged'], r'cut|snap'),
    'one_way': (['lost'], r'direction|way'),
    'from_middle': (['lost'], r'beg[ai]n|middle|bind'),
}
# Notes, which make nobody unhealthy
NOTES = {'handles_open', 'assumed', 'pause'}
# Whose first line needs no time of day
UNTIMED = {'not_sealed', 'one_way', 'from_middle', 'cut'}


def of(found):
    """All findings and notes of the JSON."""
    return [f for m in found['monitors'] for f in m['findings']]
