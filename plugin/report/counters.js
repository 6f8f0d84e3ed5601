/* SPDX-License-Identifier: GPL-2.0-or-later
 * Counters: their lines and tiles, their order, groups and search; rules of thumb. */
const MOST_CHOSEN = 12, TILES_AT_FIRST = 240, TILES_OF_GROUP = 48, TILES_ON_PAPER = 1500;
const COLORS = ['#2f7ed8', '#e0700f', '#27a05a', '#a652c4', '#d33f3f', '#149a9a', '#96692f', '#d6589b', '#7f8c1f', '#6d77e0', '#778290', '#b8860b'];
// Rules of thumb, as PAL has them: object, counter, above (1) or below (-1), limit, words.
const RULES = [
    [/^Processor/, /^% Processor Time$/, 1, 90, '90 %: the processor is busy'],
    [/^Processor/, /^% (Privileged|Interrupt|DPC) Time$/, 1, 30, '30 %: drivers or devices keep the processor busy'],
    [/^System$/, /^Processor Queue Length$/, 1, 10, '10: threads wait for a processor'],
    [/^Memory$/, /^Available MBytes$/, -1, 100, '100 MB: memory is short'],
    [/^Memory$/, /^Available KBytes$/, -1, 102400, '100 MB: memory is short'],
    [/^Memory$/, /^Available Bytes$/, -1, 104857600, '100 MB: memory is short'],
    [/^Memory$/, /^% Committed Bytes In Use$/, 1, 80, '80 %: the page file is nearly needed whole'],
    [/^Memory$/, /^Pages\/sec$/, 1, 1000, '1,000/s: much is read from and written to the page file'],
    [/^Paging File$/, /^% Usage$/, 1, 70, '70 %: the page file fills up'],
    [/^(Physical|Logical)Disk$/, /^Avg\. Disk sec\//, 1, 0.025, '25 ms: the disk is slow'],
    [/^(Physical|Logical)Disk$/, /^(Current|Avg\.) Disk Queue Length$/, 1, 2, '2 a disk: requests wait for it'],
    [/^LogicalDisk$/, /^% Free Space$/, -1, 10, '10 %: the disk is nearly full'],
    [/^Network/, /^Output Queue Length$/, 1, 2, '2: packets wait for the network'],
    [/^Network/, /^Packets .*Errors$/, 1, 0, '0: packets are damaged or dropped'],
];
// The order in which an administrator looks: objects, and counters in each.
const OBJECTS = [/^Processor/, /^Memory$/, /^Paging File$/, /^PhysicalDisk$/, /^LogicalDisk$/, /^Network/, /^System$/, /^Process$/];
const FIRST = [/^% Processor Time$/, /^% (User|Privileged|Idle) Time$/, /^% Processor Utility$/, /^Available /, /^% Committed/, /^Pages\/sec$/,
    /^% (Disk|Free|Usage)/, /Disk Queue Length$/, /^Avg\. Disk sec/, /^(Disk Bytes|Bytes Total)\/sec$/, /Queue Length$/, /^Working Set$/, /^Private Bytes$/];

const collator = new Intl.Collator('en', {numeric: true});
const rank = (list, name) => { const at = list.findIndex((one) => one.test(name)); return at < 0 ? list.length : at; };
const scaleOf = ({base}, low, high) => {
    if (base === '%' && low >= 0 && high <= 100) return {low: 0, high: 100};
    const spread = high - low;
    if (spread > 0 && low > 0 && spread < high * 0.05) return {low: low - spread * 0.1, high: high + spread * 0.1, isTight: true};
    return {low: Math.min(0, low * 1.05), high: Math.max(0, high * 1.05) || (low < 0 ? 0 : 1)};
};

// Enough digits to tell the least from the greatest, where the scale shows that.
const digitsOf = (kind, low, high, fewest = 4) => !scaleOf(kind, low, high).isTight ? fewest
    : Math.min(15, Math.max(fewest, Math.ceil(Math.log10(high / (high - low))) + 2));

const isPast = ([, , way, limit], value) => way > 0 ? value > limit : value < limit;

// Times of each clock, and the longest interval that a line bridges: three times one that nine of ten do not exceed.
const clocks = data.clocks.map((steps) => {
    let at = 0;
    const times = steps.map((step) => timeOf(at += step)), pauses = steps.slice(1).sort((a, b) => a - b);
    return {times, longest: pauses.length < 4 ? Infinity : 3 * Math.max(pauses[Math.floor(pauses.length * 0.9)], 1) / 1000};
});

const series = data.series.map(([path, unit, count, low, mean, high, last, assumed, ofClock, values, turns]) => {
    const [, server = '', rest] = /^(?:\\\\([^\\]*))?\\?(.*)$/s.exec(path), cut = rest.lastIndexOf('\\'), set = rest.slice(0, Math.max(cut, 0));
    const counter = rest.slice(cut + 1), open = set.endsWith(')') ? set.indexOf('(') : -1;
    const object = open < 0 ? set : set.slice(0, open), instance = open < 0 ? '' : set.slice(open + 1, -1);
    const kind = kindOf(counter, unit), scale = scaleOf(kind, low, high), rule = RULES.find((one) => one[0].test(object) && one[1].test(counter));
    let sum = 0;
    for (const value of values) sum += value === null ? 0 : (value - mean) ** 2;
    const past = !rule || !isPast(rule, rule[2] > 0 ? high : low) ? ''
        : `${isPast(rule, mean) ? 'mean' : 'at times'} ${rule[2] > 0 ? 'above' : 'below'} ${rule[4].split(':')[0]}`;
    return {path: plain(path), server, object, instance, counter, kind, count, low, mean, high, last, assumed,
        ticks: clocks[ofClock], at: clocks[ofClock].times, values, turns, rule, past,
        folded: path.toLowerCase(), moved: scale.isTight ? 0 : Math.sqrt(sum / (values.length || 1)) / (scale.high - scale.low)};
});

// One flag for each value that is assumed; null: none is.
function assumedOf(one) {
    if (one.assumed === 0) return null;
    one.flags = one.flags || new Uint8Array(one.values.length);
    for (let i = 0; i < one.turns.length; i += 2) one.flags.fill(1, one.turns[i], one.turns[i + 1]);
    one.turns = [];
    return one.flags;
}

const isPause = (one, i) => one.at[i] - one.at[i - 1] > one.ticks.longest;

function firstFrom(at, time) {
    let [low, high] = [0, at.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (at[middle] < time) low = middle + 1; else high = middle;
    }
    return low;
}

// Statistics of the time in view, with `more` points at both ends.
function statsOf(one, more = 0) {
    if (!view) return one;
    const begin = Math.max(0, firstFrom(one.at, view[0]) - more), end = Math.min(one.at.length, firstFrom(one.at, view[1] + 1e-6) + more);
    const found = {low: Infinity, high: -Infinity, mean: NaN, last: NaN, count: 0};
    let sum = 0;
    for (let i = begin; i < end; i++) {
        const value = one.values[i];
        if (value === null) continue;
        [found.low, found.high, found.last, found.count] = [Math.min(found.low, value), Math.max(found.high, value), value, found.count + 1];
        sum += value;
    }
    return {...found, mean: sum / found.count};
}

// Places of the points to draw, -1 for breaks: of many points the least and the greatest of each part.
function pointsOf(one, begin, end) {
    const {values} = one, step = Math.max(1, Math.ceil((end - begin) / 500)), kept = [];
    for (let i = begin; i < end; i += step) {
        let low = -1, high = -1;
        const pour = () => { if (low >= 0) kept.push(...new Set([Math.min(low, high), Math.max(low, high)])); low = high = -1; };
        for (let k = i; k < Math.min(i + step, end); k++) {
            if (values[k] === null || (k > begin && isPause(one, k))) { pour(); kept.push(-1); }
            if (values[k] === null) continue;
            if (low < 0 || values[k] < values[low]) low = k;
            if (high < 0 || values[k] > values[high]) high = k;
        }
        pour();
    }
    return kept;
}

// Lines, assumed lines, areas below them, and single points, on 200 x 42.
function outline(one, {low, high}) {
    const [from, to] = shown(), {at, values} = one, found = {line: '', dashed: '', area: '', dots: ''}, flags = assumedOf(one) || [];
    const kept = pointsOf(one, Math.max(0, firstFrom(at, from) - 1), Math.min(at.length, firstFrom(at, to) + 1));
    const x = (i) => ((at[i] - from) / (to - from) * 196 + 2).toFixed(2), place = (i) => `${x(i)} ${(40 - (values[i] - low) / (high - low) * 38).toFixed(2)}`;
    let drawn = '';
    kept.forEach((i, n) => {
        const before = kept[n - 1] ?? -1, isLast = !(kept[n + 1] >= 0), kind = flags[i] || flags[before] ? 'dashed' : 'line';
        if (i < 0) return;
        found.area += (before < 0 ? `M${x(i)} 42L` : 'L') + place(i) + (isLast ? 'V42Z' : '');
        if (before < 0 && isLast) found.dots += `M${place(i)}h0`;
        if (before >= 0) found[kind] += kind === drawn ? `L${place(i)}` : `M${place(before)}L${place(i)}`;
        drawn = before < 0 ? '' : kind;
    });
    return found;
}

function fillTile(tile) {
    const {one} = tile, found = statsOf(one), {kind} = one, spread = found.high - found.low, place = chosen.indexOf(one);
    tile.replaceChildren();
    tile.setAttribute('aria-pressed', String(place >= 0));
    tile.style.setProperty('--mine', place >= 0 ? COLORS[place] : '');
    make('b', one.counter, tile);
    const where = [$('grouped').checked ? '' : one.object, one.hasOwn ? '' : one.instance].filter(Boolean).join(', ');
    make('small', where, tile);
    make('span', found.count ? amount(kind, found.last) : '–', tile, 'last').title = found.count ? `last value: ${exact(kind, found.last)}` : '';
    const wide = statsOf(one, 1), scale = scaleOf(kind, wide.low, wide.high), svg = makeDrawing(200, 42, tile);
    if (found.count) {
        const {line, dashed, area, dots} = outline(one, scale), limit = one.rule && one.rule[3] > scale.low && one.rule[3] < scale.high;
        if (!scale.isTight) draw('path', {d: area, class: 'area'}, svg); else svg.classList.add('tight');
        if (limit) draw('path', {d: `M0 ${40 - (one.rule[3] - scale.low) / (scale.high - scale.low) * 38}H200`, class: 'limit'}, svg);
        draw('path', {d: line}, svg);
        if (dashed) draw('path', {d: dashed, class: 'assumed'}, svg);
        draw('path', {d: dots, class: 'dots'}, svg);
    }
    const unit = unitOf(kind, Math.max(Math.abs(found.low), Math.abs(found.high)) * kind.times), notes = make('div', null, tile);
    const digits = digitsOf(kind, found.low, found.high), tell = (value) => number(value * kind.times / unit.by, digits);
    const say = (text, className) => make('small', text, notes, className);
    say(!found.count ? 'no value in the time in view' : found.count === 1 ? 'one sample' : tell(found.low) === tell(found.high) ? 'always the same'
        : `${tell(found.low)} to ${tell(found.high)}, mean\u00a0${tell(found.mean)}`);
    if (scale.isTight) say(`moves by ${number(spread / found.high * 100, 2)}\u00a0%: the picture does not begin at 0`);
    const lastAt = one.at[one.values.findLastIndex((value) => value !== null)];
    if (!view && one.count > 1 && END - lastAt > SPAN / 10) say(`no value after ${moment(lastAt)}`);
    if (one.past) say(`${one.past}: a rule of thumb`, 'rule');
    if (one.assumed > 0) say(`${number(one.assumed)} of ${number(one.count)} values are assumed${one.assumed < one.count ? ' (dashed)' : ''}`);
    tile.classList.toggle('past', Boolean(one.rule) && isPast(one.rule, found.last));
}

// A tile is drawn when it comes into sight.
const drawTile = (tile) => { tile.isSeen = true; fillTile(tile); };
const seen = new IntersectionObserver((entries) => entries.forEach(({isIntersecting, target}) => isIntersecting && !target.isSeen && drawTile(target)), {rootMargin: '400px'});

function addTile(one, into) {
    const tile = make('button', null, into, 'tile');
    Object.assign(tile, {title: one.path, one});
    tile.addEventListener('click', () => choose(one));
    seen.observe(tile);
}

// Adds tiles of a group, from one of them on; an instance of many counters has its own fold.
function fillGroup(group, from, most) {
    const {items} = group.what, end = items.length - from < most * 1.5 ? items.length : from + most;
    let into = null, last = null;
    for (let i = from; i < end; i++) {
        const own = items[i].hasOwn ? items[i].instance : null;
        if (into === null || own !== last) {
            const box = make(own === null ? 'div' : 'details', null, group, own === null ? '' : 'instance');
            if (own !== null) make('summary', own, box);
            box.open = true;
            into = make('div', null, box, 'tiles');
        }
        last = own;
        addTile(items[i], into);
    }
    if (end === items.length) return;
    const more = make('button', `${number(items.length - end)} more`, group, 'more');
    more.addEventListener('click', () => { more.remove(); fillGroup(group, end, TILES_AT_FIRST); });
}

const ORDERS = {name: (a, b) => collator.compare(a.path, b.path), moved: (a, b) => b.moved - a.moved, mean: (a, b) => b.mean - a.mean, high: (a, b) => b.high - a.high};
const totalFirst = (name) => name === '_Total' ? 0 : name === '' ? 1 : name.endsWith('_Total') ? 2 : 3;

const isIdentifier = ({counter}) => /^(Creating Process )?ID\b|Process ID$/.test(counter);
const byInstance = (a, b) => totalFirst(a.instance) - totalFirst(b.instance) || collator.compare(a.instance, b.instance);
const byObject = (a, b) => rank(OBJECTS, a.object) - rank(OBJECTS, b.object);
const usual = (a, b) => a.hasOwn - b.hasOwn || (a.hasOwn ? byInstance(a, b) : 0) || rank(FIRST, a.counter) - rank(FIRST, b.counter) ||
    isIdentifier(a) - isIdentifier(b) || b.group.moved[b.counter] - a.group.moved[a.counter] || collator.compare(a.counter, b.counter) || byInstance(a, b);

function search() {
    const words = $('find').value.toLowerCase().split(/\s+/).filter(Boolean).map((word) => !word.includes('*') ? word
        : new RegExp(word.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*'), 's'));
    return series.filter(({folded}) => words.every((word) => typeof word === 'string' ? folded.includes(word) : word.test(folded)));
}

function groupsOf(found) {
    const order = $('order').value, isGrouped = $('grouped').checked, groups = new Map(), isServerTold = new Set(series.map(({server}) => server)).size > 1;
    for (const one of found) {
        const key = isGrouped ? `${one.server}\\${one.object}` : '';
        const title = (isServerTold ? `${one.server} \\ ` : '') + one.object;
        if (!groups.has(key)) groups.set(key, {title, object: one.object, items: [], moved: Object.create(null), most: 0, count: new Map()});
        const group = one.group = groups.get(key);
        group.items.push(one);
        group.count.set(one.instance, (group.count.get(one.instance) || 0) + 1);
        group.moved[one.counter] = Math.max(group.moved[one.counter] || 0, one.moved);
        group.most = Math.max(group.most, one.moved);
    }
    for (const {items, count} of groups.values()) {
        for (const one of items) one.hasOwn = isGrouped && order === 'usual' && count.size > 1 &&
            (count.get(one.instance) > 2 || (count.size > 12 && items.length > 3 * count.size));
        items.sort(ORDERS[order] || (isGrouped ? usual : (a, b) => byObject(a, b) || usual(a, b)));
    }
    return [...groups.values()].sort((a, b) => byObject(a, b) || (order === 'name' ? 0 : b.most - a.most) || collator.compare(a.title, b.title));
}

function showTiles(most = TILES_AT_FIRST) {
    const found = search();
    $('groups').replaceChildren();
    $('found').textContent = found.length === series.length ? `${number(series.length)} counters` : `${number(found.length)} of ${number(series.length)} counters`;
    if (found.length === 0) make('p', `No counter has all of these words in its path. * stands for anything; Esc clears.`, $('groups'), 'none');
    let budget = most;
    for (const what of groupsOf(found)) {
        const group = make('details', null, $('groups'), 'group');
        group.what = what;
        const head = make('summary', $('grouped').checked ? what.title : 'All counters', group);
        const instances = $('grouped').checked && what.count.size > 1 ? `${number(what.count.size)} instances, ` : '';
        make('small', `${instances}${number(what.items.length)} counter${what.items.length > 1 ? 's' : ''}`, head);
        const fill = () => {
            if (!group.open || group.isFilled) return;
            group.isFilled = true;
            fillGroup(group, 0, Math.max(TILES_OF_GROUP, most - TILES_AT_FIRST));
        };
        group.open = budget > 0;
        budget -= Math.min(what.items.length, TILES_OF_GROUP);
        fill();
        group.addEventListener('toggle', fill);
    }
}

function choose(one) {
    const place = chosen.indexOf(one);
    if (place >= 0) chosen.splice(place, 1);
    else if (chosen.length < MOST_CHOSEN) chosen.push(one);
    refresh();
}
