/* report-page.h
 * The report's page, as the build embeds it (embed.cmake).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

/* HTML with @NONCE@ and @DATA@ for what is written into it; "" if it was built without the chart library. */
extern const unsigned char report_page_bytes[];
#define report_page ((const char *)report_page_bytes)
