/* SPDX-License-Identifier: GPL-2.0-or-later
 * Draws the report from the data that the plugin wrote into the page. Names come from packets: they are only ever set as text. */
'use strict';
(() => {
    const data = JSON.parse(document.getElementById('data').textContent);
    const SHOWN_AT_ONCE = 240;      // cards; "More" shows as many again
    const MOST_CHOSEN = 12;         // counters in one picture
    const COLOURS = ['#3182bd', '#e6550d', '#31a354', '#9467bd', '#d62728', '#8c6d31', '#17a2b8', '#e377c2', '#7f7f7f', '#bcbd22',
        '#1b9e77', '#a6761d'];
    // Marks on a line of time, as report.c numbers them: the worst last.
    const MARKS = [['nothing', '--line'], ['answered', '--good'], ['late', '--late'], ['no answer, or none with data', '--ink'], ['packets lost', '--lost'],
        ['began again', '--chosen'], ['failed', '--bad']];
    const [BEGIN, END, EAST] = data.times, SPAN = END - BEGIN || 1;
    const $ = (id) => document.getElementById(id);
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    // A change of light and dark, of width, or to paper: what is drawn is drawn again.
    const redraws = [];

    // What steers a text or turns its direction is shown, not obeyed.
    const plain = (text) => String(text).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069]/g,
        (character) => `[U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`);

    function make(tag, text, into, className) {
        const element = document.createElement(tag);
        if (text !== undefined && text !== null) element.textContent = plain(text);
        if (className) element.className = className;
        if (into) into.append(element);
        return element;
    }

    // As sentences have it: by the clock of who wrote the page, EAST minutes before UTC.
    const local = (seconds) => new Date(seconds * 1000 + EAST * 60000).toISOString().replace('T', ' ');
    const two = (count) => String(Math.floor(count)).padStart(2, '0');
    const zone = EAST === 0 ? 'UTC' : `UTC${EAST < 0 ? '-' : '+'}${two(Math.abs(EAST) / 60)}:${two(Math.abs(EAST) % 60)}`;
    const time = (seconds) => `${local(seconds).replace(/\.?0*Z$/, '')} ${zone}`;

    function number(value) {
        if (value === null || value === undefined) return '';
        const size = Math.abs(value);
        return size !== 0 && (size < 0.001 || size >= 1e15) ? value.toExponential(3)
            : value.toLocaleString('en', {maximumFractionDigits: size >= 1000 ? 0 : size >= 10 ? 1 : 3});
    }

    // --- Verdict ---------------------------------------------------------------------------------------------------

    function showFinding(finding, into) {
        const box = make('div', undefined, into, 'finding');
        make('div', finding.text, box);
        const what = make('div', `${finding.advice}${finding.advice.endsWith('?') ? '' : '.'} Filter: `, box, 'do');
        make('code', finding.filter, what);
    }

    function showVerdict() {
        const {healthy, monitors, notes} = data.verdict;
        const findings = monitors.flatMap((monitor) => monitor.findings);
        $('headline').textContent = (healthy === true ? 'Healthy' : healthy === false ? 'Not healthy' : 'Not known whether it is healthy') +
            (findings.length > 1 ? `, ${findings.length} findings, the worst first` : '');
        $('headline').className = healthy === true ? 'good' : healthy === false ? 'bad' : '';
        findings.forEach((finding) => showFinding(finding, $('findings')));
        notes.forEach((note) => make('p', note, $('findings')));
    }

    // --- Tables ----------------------------------------------------------------------------------------------------

    function fillTable(table, titles, rows) {
        const isNumber = titles.map((_, i) => rows.some((row) => typeof row[i] === 'number') &&
            rows.every((row) => row[i] === null || row[i] === undefined || typeof row[i] === 'number'));
        const head = make('tr', undefined, make('thead', undefined, table));
        titles.forEach((title, i) => make('th', title, head, isNumber[i] ? 'number' : ''));
        const body = make('tbody', undefined, table);
        for (const row of rows) {
            const line = make('tr', undefined, body);
            titles.forEach((title, i) => {
                make('td', isNumber[i] ? number(row[i]) : row[i], line, isNumber[i] ? 'number' : '').dataset.title = title;
            });
        }
    }

    function showMonitors() {
        const {monitors} = data.verdict;
        if (monitors.length === 0) {
            $('monitors').remove();
            return;
        }
        data.timelines.forEach(showTimeline);
        if (data.timelines.length > 0) showKey();
        const first = ['client', 'server', 'account', 'handle'];
        const rank = ({key}) => first.includes(key) ? first.indexOf(key) : first.length;
        const used = data.figures.filter(({key}) => monitors.some((monitor) => (monitor[key] ?? '') !== ''))
            .sort((a, b) => rank(a) - rank(b));
        fillTable($('figures'), used.map(({title}) => title), monitors.map((monitor) => used.map(({key}) => monitor[key] ?? null)));
    }

    // A digit for each place: its worst mark.
    function showTimeline([name, places]) {
        const box = make('div', undefined, $('timelines'), 'timeline');
        make('div', name, box);
        const canvas = make('canvas', undefined, box);
        canvas.setAttribute('role', 'img');
        canvas.setAttribute('aria-label', `When it was answered, late, lost: ${name}`);
        redraws.push(() => {
            const [pen, width, height] = begin(canvas);
            pen.fillStyle = colour('--line');
            pen.fillRect(0, height / 2, width, 1);
            for (let mark = 1; mark < MARKS.length; mark++) {
                const size = mark === 1 ? height / 2 : height;
                pen.fillStyle = colour(MARKS[mark][1]);
                for (let i = places.indexOf(mark); i >= 0; i = places.indexOf(mark, i + 1)) {
                    pen.fillRect(i / places.length * (width - 3), (height - size) / 2, mark === 1 ? 1.5 : 3, size);
                }
            }
        });
    }

    function showKey() {
        const ends = make('p', undefined, $('timelines'), 'ends');
        make('span', time(BEGIN), ends);
        make('span', time(END), ends);
        const key = make('p', undefined, $('timelines'), 'key');
        MARKS.forEach(([name, hue], mark) => {
            if (mark === 0 || !data.timelines.some(([, places]) => places.includes(mark))) return;
            const entry = make('span', undefined, key);
            const sign = make('i', undefined, entry);
            entry.append(name);
            redraws.push(() => { sign.style.background = colour(hue); });
        });
    }

    function begin(canvas) {
        const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth || 240, height = canvas.clientHeight || 46;
        canvas.width = width * ratio;
        canvas.height = height * ratio;
        const pen = canvas.getContext('2d');
        pen.scale(ratio, ratio);
        return [pen, width, height];
    }

    function showMissing() {
        if (data.missing.length === 0) {
            $('missing').remove();
            return;
        }
        fillTable(document.querySelector('#missing table'), ['What', 'Error', 'Times', 'First frame', 'Meaning'], data.missing);
    }

    // --- Counters --------------------------------------------------------------------------------------------------

    const series = data.series.map(([path, unit, count, low, mean, high, at, values, assumed]) => {
        let sum = 0;
        for (const value of values) sum += (value - mean) * (value - mean);
        const size = Math.max(Math.abs(low), Math.abs(high));
        return {path: plain(path), unit, count, low, mean, high, at, values, note: assumed > 0 ? ` (${number(assumed)} assumed)` : '', folded: path.toLowerCase(),
            moved: values.length > 1 && size > 0 ? Math.sqrt(sum / values.length) / size : 0};
    }).sort((a, b) => b.moved - a.moved);
    const chosen = [];
    let shown = SHOWN_AT_ONCE, plot = null;

    // Of fixed size: page.css stretches it, and nobody has to ask how wide it is, which takes long on paper.
    function spark(canvas, one) {
        const width = 300, height = 46, pen = canvas.getContext('2d');
        pen.setTransform(canvas.width / width, 0, 0, canvas.height / height, 0, 0);
        pen.clearRect(0, 0, width, height);
        const {at, values, low, high} = one;
        const range = high - low || 1, own = at[at.length - 1] - at[0];
        // Of a counter that was there for a short time only that is shown.
        const [from, span] = own > 0 && own < SPAN / 50 ? [at[0], own] : [BEGIN, SPAN];
        const x = (i) => (at[i] - from) / span * (width - 3) + 1.5;
        const y = (value) => high === low ? height / 2 : height - 3 - (value - low) / range * (height - 6);
        pen.strokeStyle = pen.fillStyle = colour('--chosen');
        pen.lineWidth = 1.2;
        pen.beginPath();
        values.forEach((value, i) => i ? pen.lineTo(x(i), y(value)) : pen.moveTo(x(i), y(value)));
        pen.stroke();
        if (values.length === 1) pen.fillRect(x(0) - 1.5, y(values[0]) - 1.5, 3, 3);
    }

    const seen = new IntersectionObserver((entries) => {
        for (const entry of entries) {
            if (entry.isIntersecting) {
                seen.unobserve(entry.target);
                spark(entry.target, entry.target.one);
            }
        }
    }, {rootMargin: '300px'});

    function addCard(one) {
        const card = make('button', undefined, $('cards'), 'card');
        const cut = one.path.lastIndexOf('\\');
        card.type = 'button';
        card.title = one.path;
        card.setAttribute('aria-pressed', String(chosen.includes(one)));
        make('b', one.path.slice(cut + 1), card);
        make('small', one.path.slice(0, cut).replace(/^\\\\/, '').split('\\').join(' \\ '), card);
        const canvas = make('canvas', undefined, card);
        [canvas.width, canvas.height, canvas.one] = [600, 92, one];
        const unit = one.unit ? ` ${one.unit}` : '';
        make('small', (one.low === one.high ? `${one.count > 1 ? 'always ' : ''}${number(one.low)}${unit}`
            : `${number(one.low)} to ${number(one.high)}${unit}, mean ${number(one.mean)}`) + one.note, card);
        card.addEventListener('click', () => choose(one, card));
        seen.observe(canvas);
    }

    function showCards() {
        const wanted = $('find').value.trim().toLowerCase();
        const matching = wanted ? series.filter((one) => one.folded.includes(wanted)) : series;
        $('cards').replaceChildren();
        matching.slice(0, shown).forEach(addCard);
        $('found').textContent = `${number(matching.length)} of ${number(series.length)} counters, those that moved most first`;
        $('more').hidden = matching.length <= shown;
    }

    function choose(one, card) {
        const place = chosen.indexOf(one);
        if (place >= 0) chosen.splice(place, 1);
        else if (chosen.length < MOST_CHOSEN) chosen.push(one);
        card.setAttribute('aria-pressed', String(chosen.includes(one)));
        draw();
    }

    // As perfmon does: by the power of ten that brings it below 100.
    function scaleOf(one) {
        const size = Math.max(Math.abs(one.low), Math.abs(one.high));
        return chosen.length < 2 || size === 0 ? 1 : 10 ** (2 - Math.ceil(Math.log10(size) - 1e-9));
    }

    const clock = (at, step) => {
        const text = local(at);
        return step >= 86400 ? text.slice(0, 10) : text.slice(11, step < 1 ? 23 : step < 60 ? 19 : 16);
    };

    function draw() {
        if (series.length === 0) return;
        if (plot) plot.destroy();
        plot = null;
        $('picture').hidden = chosen.length === 0;
        if (chosen.length === 0) return;
        const scales = chosen.map(scaleOf);
        const aligned = uPlot.join(chosen.map((one, i) => [one.at, one.values.map((value) => value * scales[i])]));
        const axis = () => ({stroke: colour('--faint'), grid: {stroke: colour('--line'), width: 1}, ticks: {stroke: colour('--line')}});
        plot = new uPlot({
            width: $('plot').clientWidth || 800, height: Math.min(340, Math.max(200, window.innerHeight * 0.38)),
            tzDate: (at) => uPlot.tzDate(new Date(at * 1000 + EAST * 60000), 'Etc/UTC'),
            scales: {x: {range: (_, low, high) => low === high ? [low - 0.5, high + 0.5] : [low, high]}},
            axes: [Object.assign(axis(), {space: 90, values: (_, at, axisNumber, space, step) => at.map((one) => clock(one, step))}), axis()],
            series: [{value: (_, at) => at === null ? '' : time(at)}].concat(chosen.map((one, i) => ({
                label: one.path + one.note + (scales[i] === 1 ? '' : ` × ${scales[i]}`), stroke: COLOURS[i], width: 1.5, spanGaps: true,
                points: {show: one.at.length < 60},
                value: (_, value) => value === null || value === undefined ? '' : `${number(value / scales[i])} ${one.unit || ''}`,
            }))),
        }, aligned, $('plot'));
        $('scales').textContent = scales.every((scale) => scale === 1) ? ''
            : 'Each line is drawn times its factor, so that it fits below 100; names show the factor, the legend shows real values.';
    }

    // --- Where it is from ------------------------------------------------------------------------------------------

    function showOrigin() {
        const say = (text) => make('li', text, $('notes'));
        const sealed = data.verdict.monitors.filter((monitor) => monitor.sealed).length;
        const [version, wireshark] = data.versions;
        if (data.file) document.title = `Performance counter report: ${plain(data.file)}`;
        $('origin').textContent = (data.file ? `${plain(data.file)}, ` : '') + (data.first_frame === 0 ? 'No call was seen.'
            : `${time(BEGIN)} to ${time(END)}, frames ${data.first_frame} to ${data.last_frame} of the capture`);
        if (sealed > 0) {
            say(`${sealed} of ${data.verdict.monitors.length} monitors are sealed, and no key opened them: their timing is known, not their values.`);
        } else if (data.first_frame > 0) {
            say(data.unread > 0 ? `${number(data.unread)} requests and responses could not be read.`
                : 'What the calls say could be read: they are in clear, or a key opened them.');
        }
        say(`${number(data.values)} values of ${number(series.length)} counters; numbers have six digits here.`);
        if (data.thinned) {
            say('Lines are thinned so that the page stays small: of neighbours the smallest and the largest are drawn. ' +
                'Smallest, largest and mean are of all values.');
        }
        if (data.roomless > 0) say(`${number(data.roomless)} values are not shown: there was no room for their counters, or another counter, type or value of the answer has their path.`);
        if (data.unlisted > 0) say(`${number(data.unlisted)} things more that were not given are not listed.`);
        if (data.first_frame > 0 && data.verdict.monitors.length > data.timelines.length) {
            say(`${data.verdict.monitors.length - data.timelines.length} monitors have no line of time.`);
        }
        if (data.of_calls_alone) {
            say('The verdict is of calls alone: lost packets and connections were not looked at. -z pcq,report and ' +
                'Statistics, Performance Counter Report look at them.');
        }
        data.notes.filter((note) => !data.verdict.notes.includes(note)).forEach(say);
        say(`Written by pcq ${version} with Wireshark ${wireshark}. A filter is for Wireshark's line "Apply a display filter".`);
    }

    showOrigin();
    showVerdict();
    showMonitors();
    showMissing();
    $('find').addEventListener('input', () => { shown = SHOWN_AT_ONCE; showCards(); });
    $('more').addEventListener('click', () => { shown += SHOWN_AT_ONCE; showCards(); });
    $('whole').addEventListener('click', draw);
    $('none').addEventListener('click', () => { chosen.length = 0; draw(); showCards(); });
    if (series.length > 0) showCards();
    else $('counters').remove();
    function drawAll() {
        redraws.forEach((one) => one());
        draw();
    }
    const drawCards = (how) => document.querySelectorAll('#cards canvas').forEach(how);
    const drawAgain = () => {
        drawAll();
        drawCards((canvas) => seen.observe(canvas));
    };
    drawAll();
    let waiting = 0;
    window.addEventListener('resize', () => { clearTimeout(waiting); waiting = setTimeout(drawAgain, 150); });
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAgain);
    // On paper those are seen too that nobody has scrolled to.
    window.matchMedia('print').addEventListener('change', () => {
        drawAll();
        drawCards((canvas) => spark(canvas, canvas.one));
    });
})();
