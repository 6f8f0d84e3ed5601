# SPDX-License-Identifier: GPL-2.0-or-later
"""What is kept beside a capture: NAME.expect.json, and the capture's line in keys.json.

NAME.expect.json: {"messages": [message...]}, a line for each message in the order of the frames that complete them.
    frame, opnum, direction ("request", "response" or "fault")
    fields: [name, value] of every wire field in order; a structure's value is null, bytes are hexadecimal digits
    values: [path, calculated value or null] of each counter value in order, where there are any; of
        HKEY_PERFORMANCE_DATA the path without its server
    fault: the code of a fault
    asked, status, cut: of HKEY_PERFORMANCE_DATA the value name, the status, and true for a block that ends behind its
        header
keys.json: for each capture tshark's -o options; {pcaps} stands for the folder that holds the capture.
"""

import json
import os

PCAPS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'pcaps')


def write_messages(capture, messages):
    lines = ',\n'.join(json.dumps(message, ensure_ascii=False, separators=(',', ':')) for message in messages)
    with open(os.path.splitext(capture)[0] + '.expect.json', 'w', encoding='utf-8', errors='surrogatepass') as file:
        file.write('{"messages":[\n%s\n]}\n' % lines)


def wire_fields(fields):
    """A model's record without the parameters that have no field (array counts)."""
    return [[field.name, field.value] for field in fields if field.name]


def pcq_messages(pairs):
    """The messages of (request Stub, response Stub, Call) triples."""
    messages = []
    for request, answer, call in pairs:
        messages.append({'frame': request.frame, 'opnum': call.opnum, 'direction': 'request',
                         'fields': wire_fields(call.record['request'])})
        if call.fault:
            messages.append({'frame': answer.frame, 'opnum': call.opnum, 'direction': 'fault', 'fault': call.fault,
                             'fields': []})
            continue
        response = {'frame': answer.frame, 'opnum': call.opnum, 'direction': 'response',
                    'fields': wire_fields(call.record['response'])}
        if 'values' in call.record:
            response['values'] = [[value['path'], value['cooked']] for value in call.record['values']]
        messages.append(response)
    return sorted(messages, key=lambda message: message['frame'])


def remember_key(capture, options):
    """options: the values of tshark's -o."""
    folder, name = os.path.split(capture)
    path = os.path.join(folder, 'keys.json')
    keys = {}
    if os.path.exists(path):
        with open(path, encoding='utf-8') as file:
            keys = json.load(file)
    keys[name] = options
    lines = ',\n'.join('  %s: %s' % (json.dumps(key), json.dumps(keys[key])) for key in sorted(keys))
    with open(path, 'w', encoding='utf-8') as file:
        file.write('{\n%s\n}\n' % lines)


def as_arguments(options, folder):
    """keys.json's options as tshark wants them."""
    return [word for option in options for word in ('-o', option.replace('{pcaps}', folder))]
