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
#include <epan/dissectors/packet-dcerpc.h>

/* Debian's 4.0 packages do not install wsutil/plugins.h, and 4.0 does not ask for a description. */
#if WS_AT_LEAST(4, 4)
#include <wsutil/array.h>
#include <wsutil/plugins.h>
#else
#define WS_PLUGIN_DESC_DISSECTOR 1
#endif

/* A preference is written through a pointer: a type of the wrong size overwrites its neighbour. */
#if WS_AT_LEAST(4, 4)
typedef bool ws_pref_bool;
#else
typedef gboolean ws_pref_bool;
#endif

/* What a heuristic dissector returns. */
#if WS_AT_LEAST(4, 4)
typedef bool ws_heuristic;
#else
typedef gboolean ws_heuristic;
#endif

/* The table of operations, as dcerpc_init_uuid() takes it. */
#if WS_AT_LEAST(4, 4)
typedef const dcerpc_sub_dissector ws_dcerpc_table;
#else
typedef dcerpc_sub_dissector ws_dcerpc_table;
#endif

#if !WS_AT_LEAST(4, 4)
#define tvb_get_uint8 tvb_get_guint8
#define tvb_get_uint16 tvb_get_guint16
#define tvb_get_uint32 tvb_get_guint32
#define tvb_get_uint64 tvb_get_guint64
#endif

/* 4.6 puts the memory pool first. */
#if WS_AT_LEAST(4, 6)
#define ws_val_to_str_ext(pool, val, vs, fmt) val_to_str_ext((pool), (val), (vs), (fmt))
#else
#define ws_val_to_str_ext(pool, val, vs, fmt) val_to_str_ext_wmem((pool), (val), (vs), (fmt))
#endif

/* True if a frame has such a data source, as what was decrypted is. */
#if WS_AT_LEAST(4, 6)
#define ws_has_data_source(pinfo, name) (get_data_source_by_name((pinfo), (name)) != NULL)
#else
#define ws_has_data_source(pinfo, name) (get_data_source_tvb_by_name((pinfo), (name)) != NULL)
#endif

/* A field's value in the tree, as fvalue_to_string_repr() takes it. */
#if WS_AT_LEAST(4, 2)
#define WS_FIELD_VALUE(field) ((field)->value)
#else
#define WS_FIELD_VALUE(field) (&(field)->value)
#endif

/* Opens a capture of any kind, compressed ones too; NULL and why not. */
#if WS_AT_LEAST(4, 7)
#define ws_open_capture(path, error, details) \
    wtap_open_offline((path), WTAP_TYPE_AUTO, (error), (details), false, "WIRESHARK")
#else
#define ws_open_capture(path, error, details) wtap_open_offline((path), WTAP_TYPE_AUTO, (error), (details), false)
#endif

/* In the flags of a tcp_acked: packet-tcp.c keeps their names to itself. */
#define WS_TCP_LOST_PACKET 0x0002

/* What the init function of a -z statistic returns: 4.6 takes false if it could not start, before that a program ended. */
#if WS_AT_LEAST(4, 6)
typedef bool ws_stat_started;
#define WS_STAT_STARTED(started) return started
#else
typedef void ws_stat_started;
#define WS_STAT_STARTED(started) \
    if (!(started)) \
    exit(1)
#endif
