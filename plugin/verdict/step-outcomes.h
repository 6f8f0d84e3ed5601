/* step-outcomes.h
 * What a server, or Kerberos, says of a step that fails: its name, and what it means. docs/symptoms.md has the same list.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/finding-kinds.h"

/* Outcomes that are no NTSTATUS. Kerberos errors (RFC 4120 7.5.9) are counted from OUTCOME_KERBEROS. */
enum {
    OUTCOME_SILENT = 1,     /* SYN without an answer */
    OUTCOME_RESET = 2,      /* SYN answered with RST */
    OUTCOME_UNANSWERED = 3, /* a request without an answer */
    OUTCOME_ENDED = 4,      /* FIN or RST in the place of an answer */
    OUTCOME_SIGNING = 5,
    OUTCOME_GUEST = 6,
    OUTCOME_NAK = 7,       /* bind_nak */
    OUTCOME_REJECTED = 8,  /* bind_ack: the context is not accepted, */
    OUTCOME_NO_SYNTAX = 9, /* or the server does not have the interface */
    OUTCOME_MAP_FAULT = 10,
    OUTCOME_NOT_REGISTERED = 0x16c9a0d6, /* [C706] appendix E */
    OUTCOME_KERBEROS = 1000,
};

/* [MS-ERREF] 2.3.1 */
#define STATUS_ACCESS_DENIED 0xc0000022
#define STATUS_NETWORK_SESSION_EXPIRED 0xc000035c
#define STATUS_USER_SESSION_DELETED 0xc0000203

/* X(number, name ("": none), kind (NONE: the step's; of PIPE_x: where the pipe is opened), party, meaning) */
#define STEP_OUTCOMES(X) \
    X(0xc000006d, "STATUS_LOGON_FAILURE", NONE, CLIENT, "wrong name or password") \
    X(0xc000006a, "STATUS_WRONG_PASSWORD", NONE, CLIENT, "wrong password") \
    X(0xc0000064, "STATUS_NO_SUCH_USER", NONE, CLIENT, "no such account") \
    X(0xc0000234, "STATUS_ACCOUNT_LOCKED_OUT", NONE, CLIENT, "account is locked") \
    X(0xc0000072, "STATUS_ACCOUNT_DISABLED", NONE, CLIENT, "account is disabled") \
    X(0xc0000193, "STATUS_ACCOUNT_EXPIRED", NONE, CLIENT, "account expired") \
    X(0xc000006e, "STATUS_ACCOUNT_RESTRICTION", NONE, CLIENT, "account is restricted") \
    X(0xc0000071, "STATUS_PASSWORD_EXPIRED", NONE, CLIENT, "password expired") \
    X(0xc0000224, "STATUS_PASSWORD_MUST_CHANGE", NONE, CLIENT, "password has to be changed") \
    X(0xc000006f, "STATUS_INVALID_LOGON_HOURS", NONE, CLIENT, "not at this hour") \
    X(0xc0000070, "STATUS_INVALID_WORKSTATION", NONE, CLIENT, "not from this machine") \
    X(0xc000015b, "STATUS_LOGON_TYPE_NOT_GRANTED", NONE, CLIENT, "not from the network") \
    X(0xc0000133, "STATUS_TIME_DIFFERENCE_AT_DC", NONE, CLIENT, "clock skew") \
    X(0xc0000418, "STATUS_NTLM_BLOCKED", NONE, SERVER, "NTLM is not allowed") \
    X(0xc000005e, "STATUS_NO_LOGON_SERVERS", NONE, SERVER, "no domain controller found") \
    X(0xc000018d, "STATUS_TRUSTED_RELATIONSHIP_FAILURE", NONE, SERVER, "no trust in its domain") \
    X(0xc000018c, "STATUS_TRUSTED_DOMAIN_FAILURE", NONE, SERVER, "no trust in the account's domain") \
    X(0xc000018b, "STATUS_NO_TRUST_SAM_ACCOUNT", NONE, SERVER, "no account in its domain") \
    X(0xc00000d0, "STATUS_REQUEST_NOT_ACCEPTED", NONE, SERVER, "no more sessions") \
    X(STATUS_ACCESS_DENIED, "STATUS_ACCESS_DENIED", PIPE_DENIED, SERVER, "no rights") \
    X(0xc00000bb, "STATUS_NOT_SUPPORTED", NONE, SERVER, "not supported") \
    X(0xc00000cc, "STATUS_BAD_NETWORK_NAME", NONE, SERVER, "no such share") \
    X(0xc0000034, "STATUS_OBJECT_NAME_NOT_FOUND", NONE, SERVER, "Remote Registry is disabled?") \
    X(0xc00000ac, "STATUS_PIPE_NOT_AVAILABLE", PIPE_STARTING, SERVER, "Remote Registry is starting?") \
    X(0xc00000ab, "STATUS_INSTANCE_NOT_AVAILABLE", PIPE_STARTING, SERVER, "no free instance; starting?") \
    X(0xc000014b, "STATUS_PIPE_BROKEN", NONE, SERVER, "service ended?") \
    X(0xc00000b0, "STATUS_PIPE_DISCONNECTED", NONE, SERVER, "service ended?") \
    X(0xc00000b1, "STATUS_PIPE_CLOSING", NONE, SERVER, "service ends?") \
    X(0xc00000c9, "STATUS_NETWORK_NAME_DELETED", NONE, SERVER, "the share was ended") \
    X(0xc0000128, "STATUS_FILE_CLOSED", NONE, SERVER, "the pipe was closed") \
    X(0xc00000b5, "STATUS_IO_TIMEOUT", NONE, SERVER, "timed out") \
    X(STATUS_NETWORK_SESSION_EXPIRED, "STATUS_NETWORK_SESSION_EXPIRED", SESSION_EXPIRED, SERVER, "expired") \
    X(STATUS_USER_SESSION_DELETED, "STATUS_USER_SESSION_DELETED", SESSION_EXPIRED, SERVER, "deleted") \
    X(OUTCOME_KERBEROS + 6, "KDC_ERR_C_PRINCIPAL_UNKNOWN", NONE, CLIENT, "no such account") \
    X(OUTCOME_KERBEROS + 7, "KDC_ERR_S_PRINCIPAL_UNKNOWN", NONE, SERVER, "no SPN of the name that the client uses") \
    X(OUTCOME_KERBEROS + 14, "KDC_ERR_ETYPE_NOSUPP", NONE, SERVER, "no encryption type in common") \
    X(OUTCOME_KERBEROS + 18, "KDC_ERR_CLIENT_REVOKED", NONE, CLIENT, "account is locked or disabled") \
    X(OUTCOME_KERBEROS + 23, "KDC_ERR_KEY_EXPIRED", NONE, CLIENT, "password expired") \
    X(OUTCOME_KERBEROS + 24, "KDC_ERR_PREAUTH_FAILED", NONE, CLIENT, "wrong password") \
    X(OUTCOME_KERBEROS + 37, "KRB_AP_ERR_SKEW", NONE, CLIENT, "clock skew") \
    X(OUTCOME_KERBEROS + 41, "KRB_AP_ERR_MODIFIED", NONE, CLIENT, "wrong key: alias or SPN?") \
    X(OUTCOME_SIGNING, "", NONE, CLIENT, "one side requires SMB signing?") \
    X(OUTCOME_GUEST, "", NONE, CLIENT, "guest access only") \
    X(OUTCOME_NAK, "bind_nak", NONE, SERVER, "the bind is refused") \
    X(OUTCOME_REJECTED, "bind_ack: provider rejection", NONE, SERVER, "the bind is refused") \
    X(OUTCOME_NO_SYNTAX, "bind_ack: abstract syntax not supported", NONE, SERVER, "it is not there") \
    X(OUTCOME_NOT_REGISTERED, "ept_s_not_registered", NONE, SERVER, "not in its endpoint mapper") \
    X(OUTCOME_MAP_FAULT, "fault", NONE, SERVER, "of its endpoint mapper")
