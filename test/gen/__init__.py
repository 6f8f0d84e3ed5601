# SPDX-License-Identifier: GPL-2.0-or-later
"""A PerflibV2 model, its bytes and its captures, written from [MS-PCQ] alone.

Nothing here is shared with the dissector: each builder writes bytes and, beside them, the fields that a
dissector has to show for them.
"""
