/* ws_compat.h
 * Wireshark 4.0, 4.4 and 4.6 seen as one. No other file of the plugin asks for Wireshark's version.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <ws_version.h>

#define WS_AT_LEAST(major, minor) \
    (WIRESHARK_VERSION_MAJOR > (major) || (WIRESHARK_VERSION_MAJOR == (major) && WIRESHARK_VERSION_MINOR >= (minor)))

#include <epan/packet.h>

#include <epan/prefs.h>
#include <wsutil/str_util.h>
#include <wsutil/ws_assert.h>
#include <epan/dissectors/packet-dcerpc.h>

/* Types of: a preference (one of the wrong size overwrites its neighbor), the result of a heuristic dissector and of a callback of wmem, and the table of
 * operations, as dcerpc_init_uuid() takes it. Debian's 4.0 packages do not install wsutil/plugins.h, and 4.0 does not ask for a description. */
#if WS_AT_LEAST(4, 4)
#include <wsutil/array.h>
#include <wsutil/plugins.h>
typedef bool ws_pref_bool;
typedef bool ws_heuristic;
typedef bool ws_wmem_result;
typedef const dcerpc_sub_dissector ws_dcerpc_table;
#else
#define WS_PLUGIN_DESC_DISSECTOR 1
typedef gboolean ws_pref_bool;
typedef gboolean ws_heuristic;
typedef gboolean ws_wmem_result;
typedef dcerpc_sub_dissector ws_dcerpc_table;
#include <epan/strutil.h>
#define tvb_get_uint8 tvb_get_guint8
#define tvb_get_uint16 tvb_get_guint16
#define tvb_get_uint32 tvb_get_guint32
#define tvb_get_uint64 tvb_get_guint64
#endif

/* 4.6 puts the pool first where a value is named, and knows its data sources by other names; a frame has one, as what was decrypted is, or not. */
#if WS_AT_LEAST(4, 6)
#define ws_val_to_str_ext(pool, val, vs, fmt) val_to_str_ext((pool), (val), (vs), (fmt))
#define ws_has_data_source(pinfo, name) (get_data_source_by_name((pinfo), (name)) != NULL)
#else
#define ws_val_to_str_ext(pool, val, vs, fmt) val_to_str_ext_wmem((pool), (val), (vs), (fmt))
#define ws_has_data_source(pinfo, name) (get_data_source_tvb_by_name((pinfo), (name)) != NULL)
#endif

/* Control characters and marks of direction as escapes; 4.0 takes unsigned characters. */
#define ws_format_text(pool, text, size) format_text((pool), (const void *)(text), (size))

/* A field's value in the tree, as fvalue_to_string_repr() takes it. */
#if WS_AT_LEAST(4, 2)
#define WS_FIELD_VALUE(field) ((field)->value)
#else
#define WS_FIELD_VALUE(field) (&(field)->value)
#endif

/* A cell without the number that its column has, in a window: what is left out when its rows are saved would shift the cells behind it.
 * Before 4.6 cells go by their own type, and a column's format by nobody; later a text in a column of numbers would be taken for one. */
#define WS_TABLE_IGNORES_FORMATS !WS_AT_LEAST(4, 6)
#if WS_TABLE_IGNORES_FORMATS
#define WS_TABLE_NO_NUMBER \
    (stat_tap_table_item_type) \
    { \
        .type = TABLE_ITEM_STRING, .value.string_value = "" \
    }
#else
#define WS_TABLE_NO_NUMBER \
    (stat_tap_table_item_type) \
    { \
        .type = TABLE_ITEM_FLOAT, .value.float_value = NAN \
    }
#endif

/* In the flags of a tcp_acked: packet-tcp.c keeps their names to itself. A retransmission, a fast one, a spurious one. */
#define WS_TCP_RESENT (0x0001 | 0x0400 | 0x4000)
#define WS_TCP_LOST_PACKET 0x0002
#define WS_TCP_ACK_LOST_PACKET 0x0004
#define WS_TCP_ZERO_WINDOW 0x0020

/* The analysis of a packet's TCP connection, which exists behind its dissection. From 4.4 on the older function may begin another one. */
#if WS_AT_LEAST(4, 4)
#define ws_tcp_analysis(pinfo) get_tcp_conversation_data_idempotent(find_conversation_pinfo((pinfo), 0))
#else
#define ws_tcp_analysis(pinfo) get_tcp_conversation_data(NULL, (pinfo))
#endif

/* Result of the init function of a -z statistic: 4.6 takes false if it could not start, before that a program ended. */
#if WS_AT_LEAST(4, 6)
typedef bool ws_stat_started;
#define WS_STAT_STARTED(started) return started
#else
typedef void ws_stat_started;
#define WS_STAT_STARTED(started) \
    if (!(started)) \
    exit(1)
#endif
