-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- tshark -q -r FILE -X lua_script:evidence.lua
--
-- How often a capture confirms what pcq takes for true of Windows, and numbers that are nobody's. All of it is counted of the fields that pcq
-- shows. Nothing that it writes is a name, an address, a path, a value or a time of day: whoever may not give a capture may give this.
-- The script runs in Lua 5.2 (Wireshark of Debian 12) and in 5.4.

-- { id, what is assumed, source, what it means if it does not hold, where it was seen to hold }. docs/developers/evidence.md is made of this. "Seen" names
-- systems of test/evidence, and is changed by hand when somebody's output has come. Sources: PCQ [MS-PCQ], SDK perflib.h and winperf.h, API
-- their reference, Win32 that of other functions, else the program whose published code relies on it.
local ledger = {
    { "SEALED", "Calls of PerflibV2 are sealed (packet privacy)", "PCQ 2.1", "Their values lie open on the network", "" },
    { "NDR", "Calls of PerflibV2 use NDR, not NDR64", "PCQ 2.1", "NDR64 is read as well, and less tried", "" },
    { "PROBE", "A call without a buffer gets status 8, no data and the needed size", "PCQ 3.1.4.1",
      "A size probe is shown as a failed call", "" },
    { "PROBE_SIZE", "The size that a probe gets suffices for the next call", "API PerfQueryCounterData", "Clients ask again and again", "" },
    { "INFO_FIRST", "A client calls QueryCounterInfo before a handle's first QueryCounterData", "none",
      "The counter of a block is assumed from the order of adding", "" },
    { "REGISTRATION", "A registration has 32 bytes and 48 for each of NumCounters", "SDK", "Types are read at wrong places", "" },
    { "IDS_UNIQUE", "No counter id comes twice in a counterset", "PCQ 2.2.4.2", "The first counter's name and type count", "" },
    { "RELATIONS", "The ids of base, time, frequency and multiplier are 0xFFFFFFFF or the set's", "SDK", "Such a counter has no result", "" },
    { "STRING_BASE", "dwOffset of a string counts from the start of the block, 0xFFFFFFFF is none", "SDK, API",
      "Names are cut or another counter's", "" },
    { "STRING_END", "Texts end with a terminator", "PCQ 2.2.4.4", "A name runs into the next", "" },
    { "INSTANCE_LIST", "Size of an instance is a multiple of 8 and covers its name", "PCQ 2.2.4.5", "Instances behind it are not found", "" },
    { "IDENTIFIER", "Size of an identifier is a multiple of 8, 40 without a name", "PCQ 2.2.4.6, API", "Counters behind it are not found", "" },
    { "INDEX", "Index of QueryCounterInfo numbers the blocks, each once", "PCQ 3.1.4.1.5", "Values get another counter's name", "" },
    { "ADDED_ORDER", "Blocks stand in the order in which counters were added", "none; System Informer saw another",
      "What is marked as assumed is wrong", "" },
    { "TOTAL", "dwTotalSize is all that was returned", "PCQ 2.2.4.7", "An expert info says so, the blocks are read", "" },
    { "HEADER", "PERF_DATA_HEADER has 48 bytes: the first block stands behind it", "SDK; drawn otherwise in PCQ 2.2.4.7",
      "Nothing can be read", "" },
    { "BLOCK", "dwSize of a block is a multiple of 8", "PCQ 2.2.4.8", "Nothing: it is rounded up", "" },
    { "BLOCK_TYPE", "dwType follows from the wildcards of the identifier", "Vanara, fastfetch", "The block is taken for another counter's", "" },
    { "ERROR_BLOCK", "A block with an error has 16 bytes", "Vanara", "The block is malformed", "" },
    { "ERROR_NO_DATA", "The error of an absent instance is 232 (ERROR_NO_DATA)", "nextm", "Its number and name are shown, no explanation", "" },
    { "IDS_NOT_PADDED", "Behind an odd number of ids PERF_MULTI_COUNTERS has no padding", "SDK; PCQ 2.2 says otherwise",
      "Nothing: dwSize says where the next structure begins", "" },
    { "VALUE_PADDED", "dwSize of a value is 8 and its bytes padded to 8", "SDK, API", "Nothing: dwSize says where the next value begins", "" },
    { "VALUE_SIZE", "A value has 4 or 8 bytes", "API PERF_COUNTER_DATA", "It has no result, its bytes are shown", "" },
    { "VALUE_TYPE", "A value has as many bytes as its type says", "PCQ 2.2.4.2; netdata saw others",
      "8 bytes are calculated, 4 for 8 are not", "" },
    { "INSTANCE", "Size of an instance in a response is a multiple of 8", "PCQ 2.2.4.11", "Nothing: it is rounded up", "" },
    { "INSTANCE_END", "The name of an instance ends with a terminator", "SDK", "The name ends with the structure", "" },
    { "INSTANCE_UNIQUE", "No two instances of a block have one name and id", "PCQ 2.2.4.11", "The instance in the sample before is assumed", "" },
    { "INSTANCE_ORDER", "Instances of a block stand in the order of the response before, where they are the same", "none",
      "Instances of equal names may be others than assumed", "" },
    { "SYSTEM_TIME", "SystemTime is PerfTime100NSec to the millisecond", "nextm, Wine", "One of the two clocks is another", "" },
    { "FREQUENCY", "PerfFreq of a handle stays the same", "Win32 QueryPerformanceFrequency", "Rates are wrong", "" },
    { "CLOCKS", "Between two responses both clocks go on alike, within 1 %", "none", "Results depend on the type's clock", "" },
    { "HKPD_TOTAL", "TotalByteLength of PERF_DATA_BLOCK is all that was returned", "API PERF_DATA_BLOCK",
      "An expert info says so, the objects are read",
      "Windows XP (in clear), Windows Vista (data blocks)" },
    { "HKPD_OBJECT", "TotalByteLength of an object is a multiple of 8", "none", "Nothing: it says where the next object begins",
      "Samba 4.17, Windows XP (in clear), Windows Vista (data blocks)" },
    { "HKPD_WIDE", "Names of instances are UTF-16 (CodePage 0)", "API PERF_OBJECT_TYPE", "They are read by their code page",
      "Samba 4.17, Windows XP (in clear), Windows Vista (data blocks)" },
    { "HKPD_NO_ID", "Instances have no UniqueID (-1)", "API PERF_INSTANCE_DEFINITION", "A name with another id than in the sample before is assumed",
      "Samba 4.17, Windows XP (in clear), Windows Vista (data blocks)" },
    { "HKPD_TYPE", "CounterSize is what the type says", "API; netdata saw others", "8 bytes are calculated, 4 for 8 are not",
      "Windows XP (in clear)" },
    { "HKPD_ROOM", "Too small a buffer is answered with 234 (ERROR_MORE_DATA)", "Win32 RegQueryValueEx", "It is shown as a failed call",
      "Windows XP (in clear)" },
}

-- Counts -----------------------------------------------------------------------------------------------------

local frame           -- that is looked at
local rows = {}       -- id -> { held, failed, first frame where it did not hold, else where it did }
local numbers = {}    -- text -> how often
for _, row in ipairs(ledger) do
    rows[row[1]] = { held = 0, failed = 0, frame = 0 }
end

local function see(id, holds)
    local row = rows[id]
    if row.frame == 0 or (not holds and row.failed == 0) then
        row.frame = frame
    end
    if holds then
        row.held = row.held + 1
    else
        row.failed = row.failed + 1
    end
end

local function count(...)
    local text = string.format(...)
    numbers[text] = (numbers[text] or 0) + 1
end

-- Fields --------------------------------------------------------------------------------------------------------------

local names = { "dcerpc.pkt_type", "dcerpc.cn_call_id", "dcerpc.opnum", "dcerpc.request_in",
    "dcerpc.cn_status", "dcerpc.auth_level", "winreg.werror", "winreg.winreg_QueryValue.data_size" }
for name in ([[pcq add array.actual_count array.max_count block block.size block.status block.type counter.base_id counter.id counter.multi_id
    counter.description counter.name counter.perf_freq_id counter.perf_time_id counter.type counter_data counter_reg_info counterset.description
    counterset.guid counterset.name counterset.num_counters data data.num_counters data.perf_freq data.perf_time_100ns
    data.perf_time_stamp data.system_time data.total_size identifier identifier.index identifier.size identifier.status
    in_size instance instance.id instance.name instance.size multi_counters.count multi_counters.size opnum out_size
    provider.name query.number request_code rtn_size status string.offset value.data_size value.size]]):gmatch("[%w_.]+") do
    names[#names + 1] = name == "pcq" and name or "pcq." .. name
end
for name in ([[hkpd counter.size counter.type counter_definition instance.unique_id object.code_page
    object.num_instances object.total_size total_size]]):gmatch("[%w_.]+") do
    names[#names + 1] = name == "hkpd" and name or "hkpd." .. name
end
if not pcall(Field.new, "pcq") then
    error("pcq is not loaded: tshark -G plugins has to list it (root gets no plugins)")
end
for _, name in ipairs(Field.list()) do
    if name:find("^pcq%.expert%.") or name:find("^hkpd%.expert%.") then
        names[#names + 1] = name
    end
end
for _, name in ipairs(names) do
    Field.new(name)
end

-- A PDU: its fields in the order of the tree, and the first of each name that stands on the wire, or was found out by pcq.
local function new_pdu()
    return { fields = {}, first = {} }
end

local function value(pdu, name)
    local field = pdu.first[name]
    return field and field.value
end

-- Numbers of 64 bits.
local function long(pdu, name)
    return tonumber(tostring(value(pdu, name)))
end

local function pdus_of(infos)
    local pdus = {}
    for _, field in ipairs(infos) do
        if field.name == "dcerpc.pkt_type" then
            pdus[#pdus + 1] = new_pdu()
        end
        local pdu = pdus[#pdus]
        if pdu then
            pdu.fields[#pdu.fields + 1] = field
            pdu.first[field.name] = pdu.first[field.name] or field
        end
    end
    return pdus
end

-- All of a name.
local function each(pdu, name)
    local found = {}
    for _, field in ipairs(pdu.fields) do
        if field.name == name and field.len > 0 then
            found[#found + 1] = field
        end
    end
    return found
end

local function has_end(field)
    return field.len >= 2 and field.range:range(field.len - 2, 2):uint() == 0
end

local function fits(size, least, field, last)
    return size >= least and size % 8 == 0 and field.offset + size <= last
end

-- Memory --------------------------------------------------------------------------------------------------

local requests = {}   -- "frame:call id" -> what the request of a call asked for
local queries = {}    -- number of a query -> what is known of it

local function query_of(pdu)
    local number = value(pdu, "pcq.query.number")
    if not number then
        return nil
    end
    queries[number] = queries[number] or { needed = {}, added = {}, orders = {} }
    return queries[number]
end

-- Lists ---------------------------------------------------------------------------------------------------------------

local function see_registration(pdu, size)
    see("REGISTRATION", size == 32 + 48 * (value(pdu, "pcq.counterset.num_counters") or 0))
    local ids, unique, known = {}, true, true
    for _, field in ipairs(each(pdu, "pcq.counter.id")) do
        unique = unique and not ids[field.value]
        ids[field.value] = true
    end
    for _, relation in ipairs { "base_id", "perf_time_id", "perf_freq_id", "multi_id" } do
        for _, field in ipairs(each(pdu, "pcq.counter." .. relation)) do
            known = known and (field.value == 0xFFFFFFFF or ids[field.value] ~= nil)
        end
    end
    see("IDS_UNIQUE", unique)
    see("RELATIONS", known)
end

local function see_strings(pdu, size)
    local offsets, texts, based = each(pdu, "pcq.string.offset"), each(pdu, "pcq.counter.name"), true
    texts = #texts > 0 and texts or each(pdu, "pcq.counter.description")
    for _, field in ipairs(offsets) do
        based = based and (field.value == 0xFFFFFFFF or (field.value >= 8 + 8 * #offsets and field.value < size))
    end
    if #offsets > 0 then
        see("STRING_BASE", based)
    end
    if #texts > 0 and based then
        see("STRING_END", has_end(texts[#texts]))
    end
end

local function see_instances(pdu, data)
    local last
    for _, field in ipairs(pdu.fields) do
        if field.name == "pcq.instance.size" then
            last = field.offset + field.value
            local holds = fits(field.value, 8, field, data.offset + data.len)
            see("INSTANCE_LIST", holds)
            if not holds then
                return
            end
        elseif field.name == "pcq.instance.name" and field.len > 0 and field.offset + field.len > last then
            see("INSTANCE_LIST", false)
            return
        end
    end
end

-- Parts of a response, or of an addition.
local function identifiers_of(pdu)
    local all, at = {}, nil
    for _, field in ipairs(pdu.fields) do
        local name = field.name
        if name == "pcq.identifier" then
            at = { field = field, name = "" }
            all[#all + 1] = at
        elseif at and field.len > 0 then
            local part = name:match("^pcq%.identifier%.(%l+)$")
            if part then
                at[part] = field.value
            elseif name == "pcq.counterset.guid" then
                at.guid = field.label
            elseif name == "pcq.counter.id" then
                at.counter = field.value
            elseif name == "pcq.instance.id" then
                at.instance = field.value
            elseif name == "pcq.instance.name" then
                at.name = field.value
            end
        elseif at and name == "pcq.counter.type" then
            at.type = field.value
        end
    end
    for _, identifier in ipairs(all) do
        identifier.key = string.format("%s %s %s %s", identifier.guid, identifier.counter, identifier.instance, identifier.name)
    end
    return all
end

-- ValidateCounters.
local function see_change(pdu, query, adds)
    local before = query.added
    query.index = nil
    for _, identifier in ipairs(identifiers_of(pdu)) do
        if adds and identifier.status == 0 then
            before[#before + 1] = identifier.key
        elseif not adds then
            for i = #before, 1, -1 do
                if before[i] == identifier.key then
                    table.remove(before, i)
                end
            end
        end
    end
end

-- QueryCounterInfo.
local function see_info(pdu, query, data)
    local all, by_key, index, is_index = identifiers_of(pdu), {}, {}, true
    for _, identifier in ipairs(all) do
        local holds = fits(identifier.size or 0, 40, identifier.field, data.offset + data.len)
        see("IDENTIFIER", holds)
        if not holds then
            return
        end
        is_index = is_index and identifier.index < #all and index[identifier.index] == nil
        index[identifier.index] = identifier
        by_key[identifier.key] = identifier
    end
    if #all == 0 then
        return
    end
    see("INDEX", is_index)
    local found, in_order = 0, true
    for _, key in ipairs(query.added) do
        if by_key[key] then
            in_order = in_order and by_key[key].index == found
            found = found + 1
        end
    end
    if is_index and found == #all and found > 1 then
        see("ADDED_ORDER", in_order)
    end
    query.index = is_index and index or nil
end

-- Counter data --------------------------------------------------------------------------------------------------------

local KNOWN = { [0] = true, [1] = true, [2] = true, [4] = true, [6] = true }

-- Bytes by the size bits of a type; nil if it may have any.
local function size_of(counter_type)
    return counter_type and ({ [0] = 4, [1] = 8 })[math.floor(counter_type / 256) % 4]
end

local function see_clocks(pdu, query)
    local time, date = value(pdu, "pcq.data.perf_time_100ns"), value(pdu, "pcq.data.system_time")
    see("SYSTEM_TIME", time ~= nil and date ~= nil and time.secs == date.secs and math.floor(time.nsecs / 1e6) == math.floor(date.nsecs / 1e6))
    local now = { freq = long(pdu, "pcq.data.perf_freq"), counter = long(pdu, "pcq.data.perf_time_stamp"),
        time = time and time.secs + time.nsecs / 1e9 }
    local last = query.clocks
    if last and last.freq ~= 0 and now.freq ~= 0 then
        see("FREQUENCY", last.freq == now.freq)
        local by_time = now.time and last.time and now.time - last.time or 0
        if by_time >= 0.5 and last.freq == now.freq then
            see("CLOCKS", math.abs((now.counter - last.counter) / now.freq - by_time) <= by_time / 100)
        end
    end
    query.clocks = now
end

local function see_wildcards(block, identifier)
    local all_counters, all_instances = identifier.counter == 0xFFFFFFFF, identifier.name == "*"
    local is_pattern = not all_instances and identifier.name:find("[*?]")
    local for_all = ({ [1] = "", [2] = "c", [4] = "i", [6] = "ci" })[block.type] or ""
    see("BLOCK_TYPE", (for_all:find("c") ~= nil) == all_counters and (is_pattern or (for_all:find("i") ~= nil) == all_instances))
end

-- `number` counts the blocks of an answer from 0.
local function see_block(query, block, number)
    see("BLOCK", block.size % 8 == 0)
    count("dwType %2d", block.type)
    if block.type == 0 then
        see("ERROR_BLOCK", block.size == 16)
        see("ERROR_NO_DATA", block.status == 232)
        count("dwStatus %5d", block.status)
        return
    end
    local identifier = query.index and query.index[number]
    if identifier then
        see_wildcards(block, identifier)
    end
    if #block.ids % 2 == 1 then
        see("IDS_NOT_PADDED", block.ids.size % 8 ~= 0)
    end
    for _, v in ipairs(block.values) do
        see("VALUE_SIZE", v.bytes == 4 or v.bytes == 8)
        see("VALUE_PADDED", v.size == 8 + math.ceil(v.bytes / 8) * 8)
        local id = block.ids[v.number] or identifier
        if size_of(id and id.type) then
            see("VALUE_TYPE", v.bytes == size_of(id.type))
        end
    end
    local there, unique, sorted = {}, true, {}
    for i, key in ipairs(block.instances) do
        unique = unique and not there[key]
        there[key] = true
        sorted[i] = key
    end
    if #sorted == 0 then
        return
    end
    see("INSTANCE_UNIQUE", unique)
    table.sort(sorted)
    local any_order, in_order, before = table.concat(sorted, "\n"), table.concat(block.instances, "\n"), query.orders[number]
    if before and before.any_order == any_order and #sorted > 1 then
        see("INSTANCE_ORDER", before.in_order == in_order)
    end
    query.orders[number] = { any_order = any_order, in_order = in_order }
end

-- The blocks of an answer; what stands in its instances is looked at on the way.
local function blocks_of(pdu)
    local blocks, block, instance, value_at = {}, nil, nil, 0
    for _, field in ipairs(pdu.fields) do
        local name = field.name
        if name == "pcq.block" then
            block = { size = 0, type = -1, status = 0, ids = {}, values = {}, instances = {} }
            blocks[#blocks + 1] = block
            instance, value_at = nil, 0
        elseif not block then
            -- the header
        elseif name == "pcq.block.size" or name == "pcq.block.type" or name == "pcq.block.status" then
            block[name:match("%l+$")] = field.value
        elseif name == "pcq.multi_counters.size" then
            block.ids.size = field.value
        elseif name == "pcq.counter.id" and field.len > 0 and not instance then
            block.ids[#block.ids + 1] = {}
        elseif name == "pcq.counter.type" and #block.ids > 0 and not instance then
            block.ids[#block.ids].type = field.value
        elseif name == "pcq.instance.size" then
            see("INSTANCE", field.value % 8 == 0)
        elseif name == "pcq.instance.id" then
            instance, value_at = field.value, 0
        elseif name == "pcq.instance.name" and field.len > 0 and instance then
            see("INSTANCE_END", has_end(field))
            block.instances[#block.instances + 1] = string.format("%d %s", instance, field.value)
        elseif name == "pcq.counter_data" then
            value_at = value_at + 1
        elseif name == "pcq.value.data_size" then
            block.values[#block.values + 1] = { number = value_at, bytes = field.value }
        elseif name == "pcq.value.size" then
            block.values[#block.values].size = field.value
        end
    end
    return blocks
end

local function see_data(pdu, query, data)
    local blocks = value(pdu, "pcq.data.num_counters")
    if not blocks or data.len < 48 then
        return
    end
    if not query.clocks and blocks > 0 and query.is_opened then
        see("INFO_FIRST", query.has_info == true)
    end
    see("TOTAL", value(pdu, "pcq.data.total_size") == data.len)
    see_clocks(pdu, query)
    if blocks > 0 and data.len >= 64 then
        local first, kind, size = pdu.first["pcq.block"], value(pdu, "pcq.block.type"), value(pdu, "pcq.block.size")
        local is_header = first ~= nil and first.offset == data.offset + 48 and KNOWN[kind] == true and size ~= nil and size >= 16 and
            size <= data.len - 48
        see("HEADER", is_header)
        if is_header then
            for i, block in ipairs(blocks_of(pdu)) do
                see_block(query, block, i - 1)
            end
        end
    end
end

-- Calls ---------------------------------------------------------------------------------------------------------------

-- The sizes of a response, by what its request had room for.
local function see_probe(asked, query, opnum, status, out, needed)
    local is_probe = status == 8 and out == 0 and needed > 0
    if asked.room == 0 and (needed > 0 or out > 0) then
        see("PROBE", is_probe)
    end
    if asked.needed and asked.room >= asked.needed and (is_probe or status == 0) then
        see("PROBE_SIZE", status == 0)
    end
    if query and is_probe then
        query.needed[opnum] = needed
    end
end

local function see_buffer(pdu, asked, query, opnum, data)
    if opnum == 1 and asked.code == 1 then
        see_registration(pdu, data.len)
    elseif opnum == 1 and pdu.first["pcq.string.offset"] then
        see_strings(pdu, data.len)
    elseif opnum == 1 then
        for _, name in ipairs { "counterset.name", "counterset.description", "provider.name" } do
            for _, text in ipairs(each(pdu, "pcq." .. name)) do
                see("STRING_END", has_end(text))
            end
        end
    elseif opnum == 2 then
        see_instances(pdu, data)
    elseif query and opnum == 5 then
        see_info(pdu, query, data)
    elseif query and opnum == 6 then
        see_data(pdu, query, data)
    elseif query and opnum == 7 then
        see_change(pdu, query, asked.adds)
    end
end

local function see_pcq(pdu, asked, is_request)
    local opnum, query = value(pdu, "pcq.opnum"), query_of(pdu)
    if is_request then
        count("PerflibV2 operation %2d", opnum)
        see("SEALED", value(pdu, "dcerpc.auth_level") == 6)
        if pdu.first["pcq.array.max_count"] then
            see("NDR", pdu.first["pcq.array.max_count"].len == 4)
        end
        if value(pdu, "pcq.request_code") then
            count("RequestCode %2d", value(pdu, "pcq.request_code"))
        end
        asked.room, asked.code, asked.adds = value(pdu, "pcq.in_size"), value(pdu, "pcq.request_code"), value(pdu, "pcq.add")
        asked.adds = asked.adds == true or asked.adds == 1
        if query then
            asked.needed, query.needed[opnum] = query.needed[opnum], nil
            query.has_info = query.has_info or opnum == 5
        end
        return
    end
    local status, data = value(pdu, "pcq.status"), pdu.first["pcq.data"]
    if not status then
        return -- it is the last parameter: the answer was cut when it was captured
    end
    count("PerflibV2 status %5d", status)
    if query and opnum == 3 and status == 0 then
        query.is_opened = true
    end
    local out, needed = value(pdu, "pcq.out_size"), value(pdu, "pcq.rtn_size")
    if asked.room and out and needed then
        see_probe(asked, query, opnum, status, out, needed)
    end
    if status == 0 and data and data.len > 0 then
        see_buffer(pdu, asked, query, opnum, data)
    end
end

local function see_hkpd(pdu, asked, is_request)
    local opnum, size = value(pdu, "dcerpc.opnum"), value(pdu, "winreg.winreg_QueryValue.data_size")
    if is_request then
        count("winreg operation %2d", opnum)
        asked.room = size
        return
    end
    local status = value(pdu, "winreg.werror")
    if not status then
        return
    end
    count("winreg status %5d", status)
    if status == 234 or (status == 0 and size and asked.room and size > asked.room) then
        see("HKPD_ROOM", status == 234)
    end
    if status ~= 0 or not value(pdu, "hkpd.total_size") then
        return
    end
    see("HKPD_TOTAL", value(pdu, "hkpd.total_size") == long(pdu, "pcq.array.actual_count"))
    local has_pages, counter_type = false, nil
    for _, field in ipairs(pdu.fields) do
        local name = field.name
        if name == "hkpd.object.total_size" then
            see("HKPD_OBJECT", field.value % 8 == 0)
        elseif name == "hkpd.object.num_instances" then
            has_pages = field.value > 0
        elseif name == "hkpd.object.code_page" and has_pages then
            see("HKPD_WIDE", field.value == 0)
        elseif name == "hkpd.instance.unique_id" then
            see("HKPD_NO_ID", field.value == -1)
        elseif name == "hkpd.counter.type" then
            counter_type = field.value
        elseif name == "hkpd.counter.size" and size_of(counter_type) then
            see("HKPD_TYPE", field.value == size_of(counter_type))
        end
    end
end

local function see_findings(pdu)
    local unread, again = false, false
    for _, field in ipairs(pdu.fields) do
        local finding = field.name:match("^pcq%.expert%.(.*)") or field.name:match("^hkpd%.expert%.(.*)")
        if finding then
            count("finding %s", field.name)
            unread = unread or finding == "sealed" or finding == "key_does_not_fit" or finding == "not_decrypted"
            again = again or finding == "second_response"
        end
    end
    return unread, again
end

local function see_pdu(pdu)
    local is_pcq, kind = pdu.first["pcq"] ~= nil, value(pdu, "dcerpc.pkt_type")
    local unread, again = see_findings(pdu)
    if not is_pcq and not pdu.first["hkpd"] and not unread then
        return
    end
    local request_frame = kind == 0 and frame or value(pdu, "dcerpc.request_in") or 0
    local key = string.format("%d:%d", request_frame, value(pdu, "dcerpc.cn_call_id") or 0)
    local asked = kind == 0 and {} or requests[key] or {}
    if unread then
        count("not read: sealed or noise")
    elseif again then
        count("repeated")
    elseif kind == 3 then
        count("fault 0x%08x", value(pdu, "dcerpc.cn_status") or 0)
    else
        local look = is_pcq and see_pcq or see_hkpd
        look(pdu, asked, kind == 0)
        requests[key] = kind == 0 and asked or nil
    end
end

local listener = Listener.new(nil, "pcq || hkpd || pcq.expert.sealed || pcq.expert.key_does_not_fit")

function listener.packet(pinfo)
    frame = pinfo.number
    for _, pdu in ipairs(pdus_of { all_field_infos() }) do
        see_pdu(pdu)
    end
end

function listener.draw()
    print("What a capture says of the assumptions of pcq (docs/developers/evidence.md), read by Wireshark " .. get_version() .. ". Counts and")
    print("numbers of frames alone: no name, address, path, value or time of day.\n")
    local texts = {}
    for text in pairs(numbers) do
        texts[#texts + 1] = text
    end
    table.sort(texts)
    for _, text in ipairs(texts) do
        print(string.format("%s: %d", text, numbers[text]))
    end
    print("\n   held  did not  first frame  assumption")
    for _, row in ipairs(ledger) do
        local seen = rows[row[1]]
        print(string.format("%7d  %7d  %11d  %s: %s", seen.held, seen.failed, seen.frame, row[1], row[2]))
    end
end
