/* SPDX-License-Identifier: GPL-2.0-or-later
 * Draws the report from the data that the plugin wrote into the page. Names come from packets: they are only ever set as text. */
'use strict';
(() => {
    const data = JSON.parse(document.getElementById('data').textContent);
    const SHOWN_AT_ONCE = 240;      // cards; "More" shows as many again
    const MOST_CHOSEN = 12;         // counters in one picture
    const COLOURS = ['#3182bd', '#e6550d', '#31a354', '#9467bd', '#d62728', '#8c6d31', '#17a2b8', '#e377c2', '#7f7f7f', '#bcbd22',
        '#1b9e77', '#a6761d'];
    // As report.c counts them, the worst last.
    const KINDS = [['answered', '--good'], ['late', '--late'], ['damaged or without data', '--bad'], ['packets lost', '--lost'],
        ['began again', '--chosen'], ['failed', '--bad']];
    const $ = (id) => document.getElementById(id);
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    // A change of light and dark, of width, or to paper: what is drawn is drawn again.
    const redraws = [];

    function make(tag, text, into, className) {
        const element = document.createElement(tag);
        if (text !== undefined && text !== null) element.textContent = text;
        if (className) element.className = className;
        if (into) into.append(element);
        return element;
    }

    const time = (seconds) => new Date(seconds * 1000).toISOString().replace('T', ' ').replace(/\.?0*Z$/, '') + ' UTC';

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
        if (finding.advice) make('div', finding.advice, box, 'do');
        if (finding.filter) {
            const line = make('div', 'Filter: ', box);
            make('code', finding.filter, line);
        }
    }

    function showVerdict() {
        const verdict = data.verdict;
        const headline = $('headline');
        headline.textContent = data.headline;
        headline.className = verdict.healthy === true ? 'good' : verdict.healthy === false ? 'bad' : '';
        for (const monitor of verdict.monitors || []) {
            for (const finding of monitor.findings || []) showFinding(finding, $('findings'));
        }
        for (const note of verdict.notes || []) make('p', note, $('findings'));
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
            titles.forEach((_, i) => make('td', isNumber[i] ? number(row[i]) : row[i], line, isNumber[i] ? 'number' : ''));
        }
    }

    function showMonitors() {
        const monitors = data.verdict.monitors || [];
        if (monitors.length === 0) $('figures').remove();
        const first = ['client', 'server', 'account', 'handle'];
        const place = (figure) => first.includes(figure.key) ? first.indexOf(figure.key) : first.length;
        const used = data.figures.slice().sort((a, b) => place(a) - place(b)).filter((figure) => monitors.some((monitor) => (monitor[figure.key] ?? null) !== null));
        if (monitors.length > 0) fillTable($('figures'), used.map((figure) => figure.title), monitors.map((monitor) =>
            used.map((figure) => monitor[figure.key] ?? null)));
        for (const line of data.timelines) showTimeline(line);
        if (data.timelines.length > 0) {
            const key = make('p', undefined, $('timelines'), 'key');
            const there = new Set(data.timelines.flatMap((line) => line.samples.map((sample) => sample[1])));
            KINDS.forEach(([name, hue], kind) => {
                if (!there.has(kind)) return;
                const entry = make('span', undefined, key);
                const mark = make('i', undefined, entry);
                entry.append(name);
                redraws.push(() => { mark.style.background = colour(hue); });
            });
        }
    }

    // Marks at the times of samples, the worst on top.
    function showTimeline(line) {
        const box = make('div', undefined, $('timelines'), 'timeline');
        make('small', line.name, box);
        const canvas = make('canvas', undefined, box);
        canvas.setAttribute('role', 'img');
        canvas.setAttribute('aria-label', `${line.samples.length} marks of ${line.name}`);
        redraws.push(() => {
            const [pen, width, height] = begin(canvas);
            const span = data.end - data.begin || 1;
            pen.fillStyle = colour('--line');
            pen.fillRect(0, height / 2, width, 1);
            for (let kind = 0; kind < KINDS.length; kind++) {
                pen.fillStyle = colour(KINDS[kind][1]);
                for (const [at, is] of line.samples) {
                    const size = kind === 0 ? height / 2 : height;
                    if (is === kind) pen.fillRect((at - data.begin) / span * (width - 2), (height - size) / 2, kind === 0 ? 1 : 2, size);
                }
            }
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

    function showRefused() {
        if (data.refused.length === 0) {
            $('refused').remove();
            return;
        }
        fillTable(document.querySelector('#refused table'), ['What', 'Error', 'Times', 'First frame', 'Meaning'], data.refused);
    }

    // --- Counters --------------------------------------------------------------------------------------------------

    const series = data.series.map(([path, unit, count, low, mean, high, at, values]) => {
        let sum = 0;
        for (const value of values) sum += (value - mean) * (value - mean);
        const size = Math.max(Math.abs(low), Math.abs(high));
        return {path, unit, count, low, mean, high, at, values, folded: path.toLowerCase(),
            moved: values.length > 1 && size > 0 ? Math.sqrt(sum / values.length) / size : 0};
    }).sort((a, b) => b.moved - a.moved);
    const chosen = [];
    let shown = SHOWN_AT_ONCE, plot = null;

    function spark(canvas, one) {
        const [pen, width, height] = begin(canvas);
        const {at, values, low, high} = one;
        const span = data.end - data.begin || 1, range = high - low || 1;
        const x = (i) => (at[i] - data.begin) / span * (width - 3) + 1.5;
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
        canvas.one = one;
        const unit = one.unit ? ` ${one.unit}` : '';
        make('small', `${number(one.low)} to ${number(one.high)}${unit}, mean ${number(one.mean)}`, card);
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
        const text = new Date(at * 1000).toISOString();
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
            tzDate: (at) => uPlot.tzDate(new Date(at * 1000), 'Etc/UTC'),
            axes: [Object.assign(axis(), {values: (_, at, axisNumber, space, step) => at.map((one) => clock(one, step))}), axis()],
            series: [{value: (_, at) => at === null ? '' : time(at)}].concat(chosen.map((one, i) => ({
                label: one.path + (scales[i] === 1 ? '' : ` × ${scales[i]}`), stroke: COLOURS[i], width: 1.5, spanGaps: true,
                points: {show: one.at.length < 60},
                value: (_, value) => value === null || value === undefined ? '' : `${number(value / scales[i])} ${one.unit || ''}`,
            }))),
        }, aligned, $('plot'));
        $('scales').textContent = scales.every((scale) => scale === 1) ? ''
            : 'Each line is drawn times its factor, so that it fits below 100; names show the factor, the legend shows real values.';
    }

    // --- Where it is from ------------------------------------------------------------------------------------------

    function showOrigin() {
        $('origin').textContent = `${time(data.begin)} to ${time(data.end)}, ${number(data.frames)} frames`;
        make('li', `Written by pcq ${data.version} with Wireshark ${data.wireshark}.`, $('notes'));
        for (const note of data.notes) make('li', note, $('notes'));
    }

    showOrigin();
    showVerdict();
    showMonitors();
    showRefused();
    $('find').addEventListener('input', () => { shown = SHOWN_AT_ONCE; showCards(); });
    $('more').addEventListener('click', () => { shown += SHOWN_AT_ONCE; showCards(); });
    $('whole').addEventListener('click', draw);
    $('none').addEventListener('click', () => { chosen.length = 0; draw(); showCards(); });
    if (series.length > 0) showCards();
    else $('counters').remove();
    const all = () => {
        redraws.forEach((one) => one());
        document.querySelectorAll('#cards canvas').forEach((canvas) => seen.observe(canvas));
        draw();
    };
    all();
    let waiting = 0;
    window.addEventListener('resize', () => { clearTimeout(waiting); waiting = setTimeout(all, 150); });
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', all);
})();
