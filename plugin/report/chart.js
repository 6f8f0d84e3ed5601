/* SPDX-License-Identifier: GPL-2.0-or-later
 * The large picture, by dygraphs: a panel for each two scales, the legend, the values at the pointer. */
let charts = [], isFitted = false, pointer = null;
Dygraph.PLUGINS = [Dygraph.Plugins.Axes, Dygraph.Plugins.Grid];     // the others write markup and styles, which this page forbids

// Counters of one unit share a scale, unless the smaller would be flat on it.
function scalesOf() {
    const scales = [];
    for (const one of chosen) {
        const {low, high} = statsOf(one, 1), size = Math.max(Math.abs(low), Math.abs(high)) * one.kind.times, key = one.kind.base + one.kind.per;
        const isNear = (other) => key === '%' || !(size > 0) || !(other.size > 0) || Math.max(size / other.size, other.size / size) <= 50;
        let scale = scales.find((other) => other.key === key && isNear(other));
        if (!scale) scales.push(scale = {key, kind: {...one.kind, times: 1}, size: 0, low: Infinity, high: -Infinity, all: []});
        scale.all.push(one);
        [scale.low, scale.high, scale.size] = [Math.min(scale.low, low * one.kind.times), Math.max(scale.high, high * one.kind.times), Math.max(scale.size, size || 0)];
    }
    for (const scale of scales) {
        const {low, high} = scale.low <= scale.high ? scale : {low: 0, high: 1}, spread = high - low;
        const fitted = {low: low - spread * 0.08, high: high + spread * 0.08, isTight: true};
        Object.assign(scale, isFitted && spread > 0 ? fitted : {isTight: false, ...scaleOf(scale.kind, low, high)});
        scale.unit = unitOf(scale.kind, Math.max(Math.abs(scale.low), Math.abs(scale.high)));
        const raw = (scale.high - scale.low) / scale.unit.by / 5, power = 10 ** Math.floor(Math.log10(raw));
        const factor = [1, 2, 2.5, 5, 10].find((one) => one * power >= raw * 0.999), step = factor * power;
        const places = Math.max(0, Math.min(12, -Math.floor(Math.log10(step) - (factor === 2.5 ? 1 : 0) + 1e-9)));
        const first = Math.ceil(scale.low / scale.unit.by / step - 1e-9), format = {minimumFractionDigits: places, maximumFractionDigits: places};
        scale.ticks = Array.from({length: 12}, (_, i) => (first + i) * step || 0).filter((at) => at <= scale.high / scale.unit.by + step * 1e-9)
            .map((at) => ({v: at * scale.unit.by, label: at.toLocaleString('en', format)}));
    }
    return scales;
}

const pen = document.createElement('canvas').getContext('2d');
function widthOf(ticks) {
    pen.font = '12px ' + getComputedStyle(document.body).fontFamily;
    return Math.ceil(Math.max(...ticks.map(({label}) => pen.measureText(label).width))) + 4;
}

// A clock's times with one more in each pause, which breaks its lines; place: of each in the clock, -1 for these.
function paused(one) {
    const {ticks} = one, rows = ticks.rows || {times: [], place: []}, add = (at, place) => { rows.times.push(at); rows.place.push(place); };
    if (!ticks.rows) ticks.times.forEach((at, i) => {
        if (i > 0 && isPause(one, i)) add((at + ticks.times[i - 1]) / 2, -1);
        add(at, i);
    });
    ticks.rows = rows;
    return rows;
}

// A column's value: NaN for a gap, which breaks the line. A line is solid or dashed (assumed); a dashed one includes the points beside it.
function valueOf({one, isDashed}, i) {
    const {values, kind} = one, flags = assumedOf(one);
    if (i < 0 || values[i] === null) return NaN;
    if (isDashed ? !(flags[i] || flags[i - 1] || flags[i + 1]) : flags !== null && flags[i]) return NaN;
    return values[i] * kind.times;
}

// Rows of all times of the columns. Where only others have a time a column is null, which does not break its line.
function rowsOf(columns) {
    const all = columns.map(({one}) => paused(one)), next = columns.map(() => 0);
    const times = new Set(all).size === 1 ? all[0].times : [...new Set(all.flatMap((one) => one.times))].sort((a, b) => a - b);
    return times.map((at) => [at, ...columns.map((column, k) => {
        let value = null;
        for (; all[k].times[next[k]] === at; next[k]++) value = valueOf(column, all[k].place[next[k]]);
        return value;
    })]);
}

// Limits of rules of thumb that are in sight, with 0 for the left scale or 1 for the right one.
const limitsOf = (pair) => pair.flatMap((scale, axis) => [...new Set(scale.all.filter(({rule}) => rule).map(({rule, kind}) => rule[3] * kind.times))]
    .filter((limit) => limit > scale.low && limit < scale.high).map((limit) => [limit, axis]));

// left, right: widths of the labels of all panels' scales, so that their times are above each other.
function addPanel(pair, left, right) {
    const panel = make('div', null, $('panels'), 'panel'), plot = make('div', null, panel, 'plot'), all = pair.flatMap((scale) => scale.all);
    const columns = all.flatMap((one) => [{one, isDashed: false}, ...(one.assumed > 0 ? [{one, isDashed: true}] : [])]), rows = rowsOf(columns);
    const places = [...rows.keys()].filter((i) => all.some(({at}) => at[firstFrom(at, rows[i][0])] === rows[i][0])), times = places.map((i) => rows[i][0]);
    const axes = {x: {ticker: (from, to, pixels) => clockTicks(from, to, pixels / 95), axisLabelWidth: 90}};
    pair.forEach((scale, i) => {
        const room = (scale.high - scale.low) * 0.004;  // dygraphs has no label at the very top
        axes[i ? 'y2' : 'y'] = {ticker: () => scale.ticks, independentTicks: true, drawGrid: i === 0, valueRange: [scale.low, scale.high + room],
            axisLabelWidth: i ? right : left};
        const unit = scale.unit.name || 'number';
        make('div', (scale.isTight ? `${unit}, does not begin at 0` : unit) + (pair.length > 1 ? (i ? ' (right)' : ' (left)') : ''), panel, i ? 'unit right' : 'unit');
    });
    const across = (context, {x, w}, y, hue, dash, text) => {
        context.save();
        [context.strokeStyle, context.lineWidth] = [hue, 1];
        context.setLineDash(dash);
        context.stroke(new Path2D(`M${x} ${Math.round(y) + 0.5}h${w}`));
        context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
        [context.fillStyle, context.textAlign] = [hue, 'right'];
        context.fillText(text, x + w - 6, Math.round(y) - 4);
        context.restore();
    };
    const chart = new Dygraph(plot, rows, {
        labels: ['time', ...columns.map((_, i) => `c${i}`)], colors: columns.map(({one}) => COLORS[chosen.indexOf(one)]), axes, dateWindow: shown(),
        series: Object.fromEntries(columns.map(({one, isDashed}, i) => [`c${i}`, {axis: pair[0].all.includes(one) ? 'y' : 'y2', strokePattern: isDashed ? [5, 4] : null}])),
        connectSeparatedPoints: true, strokeWidth: 1.7, drawPoints: rows.length < 80, pointSize: 2.2, drawGapEdgePoints: true, highlightCircleSize: 4,
        axisLabelFontSize: 12, axisLineColor: color('--line'), gridLineColor: color('--grid'), interactionModel: {},
        rightGap: pair.length > 1 ? 0 : right > 0 ? right + 6 : 12,
        // the zero line, and rules of thumb
        underlayCallback: (context, area, graph) => {
            pair.forEach((scale, i) => scale.low <= 0 && across(context, area, graph.toDomYCoord(0, i), color('--soft'), [], ''));
            limitsOf(pair).forEach(([limit, axis]) => across(context, area, graph.toDomYCoord(limit, axis), color('--limit'), [3, 3], 'rule of thumb'));
        },
    });
    const nearest = (at) => {
        const next = Math.min(firstFrom(times, at), times.length - 1);
        return next > 0 && at - times[next - 1] < times[next] - at ? next - 1 : next;
    };
    const cross = track(panel, (x) => chart.toDataXCoord(x), (at) => chart.toDomXCoord(at), (event) => { if (event.buttons === 0) tellValues(event); });
    const follow = (at) => {
        cross(at === null ? null : times[nearest(at)]);
        if (at === null) return chart.clearSelection();
        pointer = times[nearest(at)];
        return chart.setSelection(places[nearest(at)]);
    };
    crosses.push(follow);
    // A canvas drawn when printing begins stays empty on paper (Chromium): there the same lines are SVG.
    const onPaper = () => {
        chart.resize();
        const {x, y, w, h} = chart.getArea(), svg = draw('svg', {class: 'paper'}, panel), [from, to] = shown();
        const flat = (value, axis, hue, dash) => draw('path', {d: `M${x} ${chart.toDomYCoord(value, axis).toFixed(1)}h${w}`, stroke: hue, 'stroke-dasharray': dash}, svg);
        pair[0].ticks.forEach(({v}) => flat(v, 0, color('--grid'), 'none'));
        limitsOf(pair).forEach(([limit, axis]) => flat(limit, axis, color('--limit'), '3 3'));
        draw('path', {d: `M${x} ${y}v${h}h${w}`, stroke: color('--soft')}, svg);
        columns.forEach(({one, isDashed}, i) => {
            const inside = rows.filter((row) => row[0] >= from && row[0] <= to && row[i + 1] !== null), axis = pair[0].all.includes(one) ? 0 : 1;
            const d = inside.map((row, k) => Number.isNaN(row[i + 1]) ? '' : `${k === 0 || Number.isNaN(inside[k - 1][i + 1]) ? 'M' : 'L'}${
                chart.toDomXCoord(row[0]).toFixed(1)} ${chart.toDomYCoord(row[i + 1], axis).toFixed(1)}h0`).join('');
            draw('path', {d, stroke: COLORS[chosen.indexOf(one)], 'stroke-width': 1.5, 'stroke-linecap': 'round', 'stroke-dasharray': isDashed ? '5 4' : 'none'}, svg);
        });
    };
    return {times, onPaper, destroy: () => { crosses.splice(crosses.indexOf(follow), 1); chart.destroy(); panel.remove(); }};
}

const cut = (text) => text.length > 34 ? `${text.slice(0, 16)}…${text.slice(-16)}` : text;
const nameOf = (one) => (chosen.every(({server}) => server === one.server) ? '' : `${one.server} \\ `) + `${one.counter}${one.instance ? `, ${cut(one.instance)}` : ''}`;

// Shows the value of each counter at the pointer.
function tellValues(event) {
    tip(event, moment(pointer), chosen.map((one, i) => {
        const at = firstFrom(one.at, pointer), value = one.at[at] === pointer ? one.values[at] : undefined;
        const flags = assumedOf(one), text = value === undefined ? '' : value === null ? 'no value' : exact(one.kind, value) + (flags && flags[at] ? ' (assumed)' : '');
        return [COLORS[i], nameOf(one), text];
    }));
}

// Moves the pointer to the sample before or after.
function step(isBack) {
    const {times} = charts[0], at = pointer === null ? firstFrom(times, shown()[0]) : firstFrom(times, pointer) + (isBack ? -1 : 1);
    const box = $('panels').getBoundingClientRect();
    if (!(times[at] >= shown()[0] && times[at] <= shown()[1])) return;
    point(times[at]);
    tellValues({clientX: box.left + 70, clientY: Math.max(0, box.top) + 20});
}

function drawPicture() {
    if (series.length === 0) return;
    charts.forEach((one) => one.destroy());
    charts = [];
    $('panels').replaceChildren();
    $('legend').replaceChildren();
    const [from, to] = shown();
    $('span').textContent = `${moment(from)} to ${moment(to)} ${zone}${view ? `, ${length(to - from)}` : ''}`;
    $('whole').hidden = !view;
    $('fit').hidden = $('clear').hidden = chosen.length === 0;
    if (chosen.length === 0) {
        make('p', 'Click a counter below to draw it here; several go into one picture.', $('panels'), 'none');
        return;
    }
    const scales = scalesOf();
    const [left, right] = [0, 1].map((side) => Math.max(0, ...scales.map(({ticks}, i) => i % 2 === side ? widthOf(ticks) : 0)));
    for (let i = 0; i < scales.length; i += 2) charts.push(addPanel(scales.slice(i, i + 2), left, right));
    fillTable($('legend'), [view ? 'In view' : 'Whole time', 'Last', data.thinned && view ? 'Mean ≈' : 'Mean', 'Min', 'Max', ''], chosen.map((one) => {
        const found = statsOf(one), digits = digitsOf(one.kind, found.low, found.high), tell = (value) => found.count ? amount(one.kind, value, digits) : '–';
        return [nameOf(one), tell(found.last), tell(found.mean), tell(found.low), tell(found.high), ''];
    }), [1, 2, 3, 4]);
    [...$('legend').tBodies[0].rows].forEach((row, i) => {
        const sign = make('i');
        sign.style.background = COLORS[i];
        row.cells[0].prepend(sign);
        row.cells[0].title = chosen[i].path;
        if (chosen[i].assumed > 0) make('small', ' dashed: assumed', row.cells[0]);
        const button = make('button', '×', row.cells[5]), one = chosen[i];
        button.title = 'Remove from the picture';
        button.addEventListener('click', () => choose(one));
    });
    // The picture stays in sight while tiles scroll by, if that leaves room for them.
    $('picture').classList.toggle('sticks', $('picture').offsetHeight < innerHeight * 0.55);
}
