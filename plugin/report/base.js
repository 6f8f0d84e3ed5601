/* SPDX-License-Identifier: GPL-2.0-or-later
 * Elements, numbers and times in words, the view. The scripts draw the report from the data in the page: base.js, counters.js, chart.js and page.js,
 * one after the other in one function. Names come from packets: they are only ever set as text. All pictures share one view of time, which
 * dragging in any of them sets; view, choice and search are part of the address. */
const data = JSON.parse(document.getElementById('data').textContent);
const BEGIN = data.begin, END = BEGIN + data.seconds, EAST = data.east, SPAN = data.seconds || 1;
const timeOf = (milliseconds) => BEGIN + milliseconds / 1000;

// --- Elements ------------------------------------------------------------------------------------------------------

const $ = (id) => document.getElementById(id);
// Characters that control a text or turn its direction are shown, not obeyed.
const plain = (text) => String(text).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `[U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`);

function make(tag, text, into, className) {
    const element = document.createElement(tag);
    if (tag === 'button') element.type = 'button';
    if (text !== undefined && text !== null) element.textContent = plain(text);
    if (className) element.className = className;
    if (into) into.append(element);
    return element;
}

function draw(tag, attributes, into) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (into) into.append(element);
    return element;
}

const makeDrawing = (width, height, into) => draw('svg', {viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true'}, into);
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function fillTable(table, titles, rows, numbers = []) {
    const head = make('tr', null, make('thead', null, table)), body = make('tbody', null, table);
    titles.forEach((title, i) => make('th', title, head, numbers.includes(i) ? 'number' : ''));
    for (const row of rows) {
        const line = make('tr', null, body);
        row.forEach((cell, i) => { make('td', cell, line, numbers.includes(i) ? 'number' : '').dataset.title = titles[i]; });
    }
}

// --- Numbers and times ---------------------------------------------------------------------------------------------

const formats = [];
// At least all digits in front of the point.
function number(value, digits = 4) {
    const size = Math.abs(value);
    if (size > 0 && (size >= 1e15 || size < 1e-6)) return value.toExponential(Math.min(digits, 15) - 1);
    const needed = Math.max(digits, size >= 1 ? Math.floor(Math.log10(size)) + 1 : 1);
    formats[needed] = formats[needed] || new Intl.NumberFormat('en', {maximumSignificantDigits: needed});
    return formats[needed].format(value);
}

// The unit of a counter, by its type's unit and its name: of bytes, for instance, the name alone tells.
function kindOf(name, unit) {
    const per = unit === '/sec' ? '/s' : '';
    if (unit === '%' || (unit === '' && /^%|percent|^average idle time$/i.test(name))) return {base: '%', per: '', times: 1};
    if (unit !== '' && !per) return {base: unit === 'sec' ? 's' : unit, per: '', times: 1};
    if (/bandwidth|frequency$/i.test(name)) return {base: /bandwidth/i.test(name) ? 'bit/s' : 'MHz', per: '', times: 1};
    const isBytes = /bytes|working set|^commit limit$/i.test(name);
    return {base: isBytes ? 'B' : '', per, times: !isBytes ? 1 : /mbytes|megabytes/i.test(name) ? 2 ** 20 : /kbytes|kilobytes/i.test(name) ? 2 ** 10 : 1};
}

// Steps of a unit: factor, name, size from which it is used (if that is not the factor).
const LADDERS = {B: [[1, 'B'], [2 ** 10, 'KB'], [2 ** 20, 'MB'], [2 ** 30, 'GB'], [2 ** 40, 'TB'], [2 ** 50, 'PB']],
    's': [[1e-6, 'µs'], [1e-3, 'ms'], [1, 's'], [60, 'min', 600], [3600, 'h', 7200], [86400, 'days', 259200]],
    'bit/s': [[1, 'bit/s'], [1e3, 'kbit/s'], [1e6, 'Mbit/s'], [1e9, 'Gbit/s']],
    '': [[1, ''], [1e6, 'M', 1e7], [1e9, 'G', 1e10], [1e12, 'T', 1e13]]};

function unitOf({base, per}, size) {
    const step = (LADDERS[base] || [[1, base]]).filter(([by, , from], i) => i === 0 || size >= (from || by) || (size === 0 && by === 1)).pop();
    return {by: step[0], name: step[1] + per};
}

function amount(kind, value, digits) {
    const unit = unitOf(kind, Math.abs(value * kind.times));
    return number(value * kind.times / unit.by, digits) + (unit.name ? `\u00a0${unit.name}` : '');
}

// All digits, in the counter's own unit.
function exact(kind, value) {
    const name = kind.base === 'B' ? {1: 'B', 1024: 'KB', 1048576: 'MB'}[kind.times] : kind.base;
    return String(value).replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ',')) + (name || kind.per ? `\u00a0${name}${kind.per}` : '');
}

const FAR = 8.64e15; // milliseconds: as far as a date goes
const local = (at) => new Date(Math.max(-FAR, Math.min(FAR, Math.round(at * 1000) + EAST * 60000))).toISOString();
const two = (count) => String(Math.floor(count)).padStart(2, '0');
const zone = EAST === 0 ? 'UTC' : `UTC${EAST < 0 ? '-' : '+'}${two(Math.abs(EAST) / 60)}:${two(Math.abs(EAST) % 60)}`;
const day = (at, weekday) => new Date(at * 1000 + EAST * 60000).toLocaleDateString('en-GB',
    {timeZone: 'UTC', weekday, day: 'numeric', month: 'short', year: weekday && 'numeric'});
const clock = (at, step) => local(at).slice(11, step < 1 ? 23 : step < 60 ? 19 : 16);
const fine = SPAN < 600 ? 0.1 : 1;   // precision of one time: milliseconds where these matter
const isOneDay = local(BEGIN).slice(0, 10) === local(END).slice(0, 10);
const moment = (at) => (isOneDay ? '' : `${day(at)}, `) + clock(at, fine);
const brief = (at) => SPAN < 5 ? moment(at) : moment(at).replace(/\.\d+$/, '');
const length = (seconds) => amount({base: 's', per: '', times: 1}, seconds, 3);
const several = (list) => { const all = [...new Set(list.filter(Boolean))]; return all.slice(0, 3).join(', ') + (all.length > 3 ? ` and ${all.length - 3} more` : ''); };

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5, 216e5, 432e5,
    864e5, 1728e5, 6048e5, 2592e6];
// Round times of the clock, at most `most`.
function clockTicks(from, to, most) {
    const step = (STEPS.find((one) => (to - from) * 1000 / one <= most) || (to - from) * 1000 / most) / 1000, ticks = [];
    for (let i = Math.ceil((from + EAST * 60) / step); i * step - EAST * 60 <= to && ticks.length <= most; i++) {
        const at = i * step - EAST * 60, isMidnight = local(at).slice(11, 23) === '00:00:00.000';
        ticks.push({v: at, label: isMidnight && !isOneDay ? day(at) : clock(at, step)});
    }
    return ticks;
}

// --- View, pointer, address ----------------------------------------------------------------------------------------

let view = null;                    // [from, to]; null: the whole time
const chosen = [], redraws = [], crosses = [];
const shown = () => view || [BEGIN, BEGIN + SPAN];

function setView(from, to) {
    view = from === null || to - from < 1e-4 ? null : [Math.max(from, BEGIN), Math.min(to, BEGIN + SPAN)];
    refresh();
}

function refresh() {
    redraws.forEach((one) => one());
    drawPicture();
    document.querySelectorAll('.tile').forEach((tile) => tile.isSeen && fillTile(tile));
    keepAddress();
}

function keepAddress() {
    if (series.length === 0) return;
    const words = new URLSearchParams();
    chosen.forEach((one) => words.append('c', one.path));
    if (view) words.append('t', view.map((at) => at.toFixed(3)).join('-'));
    if ($('find').value) words.append('find', $('find').value);
    try { history.replaceState(null, '', `#${words}`); } catch { /* a page in a frame may have no address */ }
}

function readAddress() {
    const words = new URLSearchParams(location.hash.slice(1)), time = (words.get('t') || '').split('-').map(Number);
    chosen.length = 0;
    words.getAll('c').slice(0, MOST_CHOSEN).forEach((path) => { chosen.push(...series.filter((one) => one.path === path)); });
    view = time.length === 2 && time[1] > time[0] && time[1] > BEGIN && time[0] < END ? time : null;
    $('find').value = words.get('find') || '';
    return location.hash.length > 1;
}

function tip(event, title, rows) {
    $('tip').hidden = !title;
    if (!title) return;
    $('tip').replaceChildren();
    make('strong', title, $('tip'));
    for (const [hue, name, value] of rows) {
        const line = make('div', null, $('tip')), left = make('span', null, line);
        if (hue) make('i', null, left).style.background = hue;
        left.append(plain(name));
        make('span', value, line);
    }
    const {width, height} = $('tip').getBoundingClientRect();
    $('tip').style.left = `${Math.max(4, event.clientX + 16 + width > innerWidth ? event.clientX - 16 - width : event.clientX + 16)}px`;
    $('tip').style.top = `${Math.max(4, Math.min(event.clientY + 12, innerHeight - height - 4))}px`;
}

// Shows the pointer's time in all pictures; null: nowhere.
const point = (at) => crosses.forEach((one) => one(at));

// Dragging sets a new view. timeAt and placeOf: from and to pixels of the element.
function track(element, timeAt, placeOf, hover) {
    const shade = make('div', null, element, 'shade'), cross = make('div', null, element, 'cross');
    shade.hidden = cross.hidden = true;
    let start = null, isDragged = false;
    const x = (event) => event.clientX - element.getBoundingClientRect().left;
    const stop = () => { shade.hidden = true; [start, isDragged] = [null, false]; };
    element.addEventListener('pointerdown', (event) => { if (event.button === 0) [start, isDragged] = [x(event), false]; });
    element.addEventListener('pointermove', (event) => {
        if (start !== null && Math.abs(x(event) - start) > 5 && !isDragged) {
            isDragged = true;
            element.setPointerCapture(event.pointerId);
        }
        shade.hidden = !isDragged;
        [shade.style.left, shade.style.width] = [`${Math.min(start, x(event))}px`, `${Math.abs(x(event) - start)}px`];
        point(timeAt(x(event)));
        hover(event, timeAt(x(event)));
    });
    element.addEventListener('pointerup', (event) => {
        const [from, was] = [start, isDragged];
        stop();
        if (was) setView(...[timeAt(from), timeAt(x(event))].sort((a, b) => a - b));
    });
    element.addEventListener('pointercancel', stop);
    element.addEventListener('pointerleave', () => { tip(); if (!isDragged) { stop(); point(null); } });
    element.addEventListener('dblclick', () => setView(null));
    return (at) => {
        const place = at === null ? -1 : placeOf(at);
        cross.hidden = !(place >= 0 && place <= element.clientWidth);
        cross.style.left = `${place}px`;
    };
}
