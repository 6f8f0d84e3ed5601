/* SPDX-License-Identifier: GPL-2.0-or-later
 * The page from its head to its foot, and what keys and clicks do. */
const {monitors} = data.verdict, {findings} = data, isSealed = monitors.some(({sealed}) => sealed);
const timelines = data.timelines.map(([name, marks]) => ({name, marks: marks.map(([at, kind, frame, delay, calls]) => ({at: timeOf(at), kind, frame, delay: delay / 1e6, calls}))}));

// --- Head and verdict ----------------------------------------------------------------------------------------------

function showHead() {
    const fact = (name, value) => value && make('dt', name, make('div', null, $('facts'))).after(make('dd', value));
    const servers = several(monitors.map(({server}) => server));
    $('title').textContent = plain(servers ? `Performance counters of ${servers}` : 'Performance counters');
    document.title = $('title').textContent + (data.file ? `: ${plain(data.file)}` : '');
    if (data.file) make('small', data.file, $('title'));
    const samples = monitors.reduce((sum, one) => sum + (one.samples || 0), 0), interval = monitors.length === 1 && monitors[0].interval;
    fact('Client', several(monitors.map(({client}) => client)));
    fact('Account', several(monitors.map(({account}) => account)));
    if (data.first_frame > 0) {
        fact('Time', isOneDay ? `${day(BEGIN, 'short')}, ${clock(BEGIN, 1)} to ${clock(END, 1)} ${zone}`
            : `${day(BEGIN, 'short')}, ${clock(BEGIN, 60)} to ${day(END, 'short')}, ${clock(END, 60)} ${zone}`);
        fact('Length', length(END - BEGIN));
        fact('Samples', number(samples) + (interval ? `, every ${length(interval)}` : ''));
    }
    fact('Capture', data.first_frame > 0 ? `frames ${data.first_frame} to ${data.last_frame}` : '');
}

function showVerdict() {
    const {healthy} = data.verdict, count = findings.length;
    $('headline').textContent = (healthy === true ? '✓ Healthy' : healthy === false ? '✗ Not healthy' : '? Not known whether it is healthy') +
        (count === 0 ? '' : healthy === false ? (count > 1 ? `: ${count} findings, the worst first` : ': one finding')
            : count > 1 ? `; ${count} things to know` : '; one thing to know');
    $('headline').className = healthy === true ? 'good' : healthy === false ? 'bad' : '';
    if (count > 0) {
        const when = ({since, until, count: often}) => brief(timeOf(since[0])) +
            (often > 1 && brief(timeOf(until[0])) !== brief(timeOf(since[0])) ? ` – ${brief(timeOf(until[0]))}` : '');
        fillTable($('findings'), ['Who', 'What', 'Since – until', 'How often'], findings.map((one) =>
            [one.who, one.what, when(one), one.count === 1 ? 'once' : `${number(one.count)} times`]));
        [...$('findings').tBodies[0].rows].forEach((row, i) => {
            row.cells[1].className = 'what';
            row.cells[2].className = 'when';
            const cell = row.parentNode.insertRow(row.sectionRowIndex + 1).insertCell();
            [cell.colSpan, cell.className] = [4, 'advice'];
            make('div', findings[i].advice.replace(/^./, (letter) => letter.toUpperCase()), cell);
            const line = make('div', null, cell, 'copy'), button = make('button', 'Copy filter', line), code = make('code', findings[i].filter, line);
            code.title = findings[i].filter;
            button.addEventListener('click', () => copy(findings[i].filter, code, button));
        });
    }
    whyNotKnown().forEach((text) => make('p', text, $('verdict')));
}

// A page of a file may not have the clipboard: then the text is selected, for Ctrl+C.
function copy(text, element, button) {
    const mark = () => { getSelection().selectAllChildren(element); button.textContent = document.execCommand('copy') ? 'Copied' : 'Press Ctrl+C'; };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => { button.textContent = 'Copied'; }, mark);
    else mark();
}

// --- Samples in time -----------------------------------------------------------------------------------------------

const classOf = (kindName) => `k-${kindName.replace(' ', '-')}`;

// A mark for each call, as high as its response took long; trouble has the full height.
function showTimeline({name, marks}) {
    if (marks.length === 0) return void make('p', name, $('timelines'));
    const box = make('div', null, $('timelines'), 'timeline'), slowest = marks.reduce((most, {delay}) => Math.max(most, delay), 1e-9);
    make('p', name, box);
    const field = make('div', null, box, 'track'), svg = makeDrawing(1000, 38, field);
    data.kinds.forEach((kindName, kind) => {
        const isTimed = ['answered', 'late', 'slow'].includes(kindName);
        const path = marks.filter((mark) => mark.kind === kind).map(({at, delay}) =>
            `M${((at - BEGIN) / SPAN * 1000).toFixed(2)} 38V${isTimed ? (30 - 26 * Math.max(delay, 0) / slowest).toFixed(1) : 2}`).join('');
        if (path) draw('path', {d: path, class: classOf(kindName)}, svg);
    });
    const place = (at) => (at - BEGIN) / SPAN * field.clientWidth;
    crosses.push(track(field, (x) => BEGIN + x / field.clientWidth * SPAN, place, (event, at) => {
        const nearest = marks.reduce((best, mark) => Math.abs(mark.at - at) < Math.abs(best.at - at) ? mark : best, marks[0]), {kind, frame, delay, calls} = nearest;
        if (Math.abs(place(nearest.at) - place(at)) > 12) return tip();
        return tip(event, moment(nearest.at), [['', data.kinds[kind], calls > 1 ? `and ${calls - 1} more here` : ''], ['', 'frame', String(frame)]]
            .concat(delay >= 0 ? [['', 'answered in', length(delay)]] : []));
    }));
    const veils = [make('div', null, field, 'shade veil'), make('div', null, field, 'shade veil')];
    redraws.push(() => {
        field.querySelectorAll('.tick').forEach((tick) => tick.remove());
        clockTicks(BEGIN, END, Math.max(2, field.clientWidth / 110)).forEach(({v, label}) => {
            if (place(v) < field.clientWidth - label.length * 6 - 8) make('div', label, field, 'tick').style.left = `${place(v)}px`;
        });
        veils.forEach((veil, i) => {
            veil.hidden = !view;
            [veil.style.left, veil.style.width] = i === 0 ? ['0', `${place(shown()[0])}px`] : [`${place(shown()[1])}px`, `${field.clientWidth - place(shown()[1])}px`];
        });
    });
}

function showMonitors() {
    if (timelines.length === 0) return make('p', 'No call for counters was captured, so there is nothing to draw.', $('timelines'), 'none');
    timelines.forEach(showTimeline);
    const calls = data.kinds.map((_, kind) => timelines.flatMap(({marks}) => marks).reduce((sum, mark) => sum + (mark.kind === kind ? mark.calls : 0), 0));
    data.kinds.forEach((name, kind) => calls[kind] > 0 &&
        make('i', null, make('span', null, $('key')), classOf(name)).after(`${number(calls[kind])} ${name}`));
    return calls.some(Boolean) && make('span', `Height: how long the response took. Drag to zoom all pictures. ${zone}`, $('key'));
}

function showStatistics() {
    const used = Object.entries(data.figures).filter(([key]) => monitors.some((monitor) => (monitor[key] ?? '') !== ''));
    const text = (value) => typeof value === 'number' ? number(value) : value ?? '';
    for (let i = 0; i < monitors.length; i += 4) {
        const some = monitors.slice(i, i + 4);
        fillTable(make('table', null, $('figures')), ['', ...some.map((one) => one.handle || one.server)], used.filter(([key]) => key !== 'handle')
            .map(([key, title]) => [title, ...some.map((monitor) => text(monitor[key]))]));
    }
}

// --- Rules, empty sections, notes ------------------------------------------------------------------------------------

// Reasons why so little is known, and remedies.
function whyNotKnown() {
    const sealed = monitors.filter((one) => one.sealed).length, texts = [];
    if (data.first_frame === 0 && monitors.length === 0) texts.push('This capture has no call for performance counters, or none that could be read.');
    if (sealed > 0) texts.push(`${monitors.length > 1 ? `${sealed} of ${monitors.length} monitors have encrypted calls` : 'The calls are encrypted'}, and the report was made without their key: times are known, values and errors are not. With the password or keytab of the account it has both.`);
    if (data.untyped > 0) texts.push(`${number(data.untyped)} values have no result, because the capture lacks their types or names. Begin the capture before the client connects, or use a names file of an earlier capture.`);
    return texts;
}

function showCounters() {
    if (series.length === 0) {
        [...$('counters').children].slice(1).forEach((one) => one.remove());
        const why = isSealed ? 'the calls are encrypted, and no key was given'
            : data.untyped > 0 ? 'their types or names were not captured' : data.first_frame === 0 ? 'no call for counters was captured'
            : monitors.some(({samples}) => samples === 1) ? 'a rate needs two samples, and only one was captured' : 'no sample was captured';
        return void make('p', `No values: ${why}.`, $('counters'), 'none');
    }
    const past = series.filter((one) => one.past);
    if (past.length > 0) make('span', past.length === 1 ? 'One is past a rule of thumb: ' : `${number(past.length)} are past a rule of thumb${past.length > 6 ? ', six of them' : ''}: `, $('past'), 'hint');
    past.slice(0, 6).forEach((one) => {
        const button = make('button', `${one.counter}${one.instance ? `, ${one.instance}` : ''} (${one.past})`, $('past'), 'said');
        button.addEventListener('click', () => { if (!chosen.includes(one)) choose(one); });
    });
    fillTable($('rules'), ['Object', 'Counter', 'Worth a look'], RULES.map(([object, counter, way, , words]) => {
        const bare = (pattern) => pattern.source.replace(/[\^$\\]|\.\*/g, '').replace(/\|/g, ' or ').replace(/[()]/g, '');
        return [bare(object), bare(counter), `${way > 0 ? 'above' : 'below'} ${words}`];
    }));
}

function showSource() {
    const say = (text) => make('li', text, $('notes'));
    if (series.length > 0) say(`${number(data.values)} values of ${number(series.length)} counters. KB, MB and GB are of 1,024, as in Windows.`);
    if (data.thinned) say('Lines are thinned so that the page stays small: of neighbors the least and the greatest are drawn. Min, max and mean of the whole time are of all values.');
    if (data.roomless > 0) say(`${number(data.roomless)} values are not shown: there was no room for their counters, or another counter has their path.`);
    if (data.first_frame > 0 && monitors.length > timelines.length) say(`${monitors.length - timelines.length} monitors have no line of time.`);
    data.notes.forEach(say);
    say(`Written by pcq ${data.version} with Wireshark ${data.wireshark}. Filters are for Wireshark's line "Apply a display filter". This page uses no network.`);
}

showHead();
showVerdict();
showMonitors();
showStatistics();
if (data.missing.length > 0) fillTable(document.querySelector('#missing table'), ['What', 'Error', 'Count', 'First frame', 'Description'], data.missing, [2, 3]);
else make('p', isSealed ? 'Not known: the calls are encrypted.' : data.first_frame > 0 ? 'No counter was refused, and no call returned an error.' : 'No call was captured.', $('missing'), 'none');
showCounters();
showSource();
if (series.length > 0) {
    const processor = series.filter(({counter, object}) => counter === '% Processor Time' && /^Processor/.test(object)).sort(byInstance)[0];
    if (!readAddress()) chosen.push(processor || series.reduce((most, one) => one.moved > most.moved ? one : most));
    showTiles();
    $('find').addEventListener('input', () => later(() => { showTiles(); keepAddress(); }, series.length > 5000 ? 200 : 40));
    ['order', 'grouped'].forEach((id) => $(id).addEventListener('change', () => showTiles()));
    $('whole').addEventListener('click', () => setView(null));
    $('fit').addEventListener('click', () => { isFitted = !isFitted; $('fit').setAttribute('aria-pressed', String(isFitted)); drawPicture(); });
    $('clear').addEventListener('click', () => { chosen.length = 0; refresh(); });
    addEventListener('hashchange', () => { readAddress(); showTiles(); refresh(); });
    addEventListener('keydown', onKey);
}
refresh();
let waiting = 0;
const later = (what, delay) => { clearTimeout(waiting); waiting = setTimeout(what, delay); };

function onKey(event) {
    const isTyping = event.target === $('find');
    if (event.key === 'Escape') {
        tip();
        point(null);
        if (isTyping && $('find').value) { $('find').value = ''; showTiles(); keepAddress(); } else if (isTyping) $('find').blur(); else setView(null);
    } else if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === 'SELECT') return;
    else if (event.key === '/') { event.preventDefault(); $('find').focus(); $('find').select(); }
    else if (event.key === 'r') setView(null);
    else if (charts.length > 0 && /^Arrow(Left|Right)$/.test(event.key)) { event.preventDefault(); step(event.key === 'ArrowLeft'); }
}

addEventListener('resize', () => later(refresh, 150));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', refresh);
// Paper has all that is folded or out of sight here.
addEventListener('beforeprint', () => {
    if (series.length > 0) showTiles(TILES_ON_PAPER);
    document.querySelectorAll('details:not(.unprinted)').forEach((one) => { one.open = true; });
    document.querySelectorAll('.tile').forEach(drawTile);
});
addEventListener('afterprint', () => series.length > 0 && showTiles());
matchMedia('print').addEventListener('change', ({matches}) => {
    refresh();
    if (matches) charts.forEach((one) => one.onPaper());
});
