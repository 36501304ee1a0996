// All streams together: a table whose cells are coloured, and mean ranks with what joins methods that cannot be told apart.

function drawHeat(figure) {
  const table = figure.querySelector('table');
  for (const cell of table.querySelectorAll('[data-share]')) {
    const paint = rampColour(Number(cell.dataset.share));
    cell.style.background = `rgb(${paint})`;
    cell.style.color = inkOn(paint);
  }
  const text = (cell) => [...cell.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.textContent.trim()).join('');
  const columns = [...table.tHead.rows[0].cells].map(text);
  dataTable(figure, columns, () => [...table.tBodies[0].rows].map((row) => [...row.cells].map(text)));
}

function drawRanks(figure, ranks) {
  const plot = figure.querySelector('.plot');
  const longest = Math.max(...ranks.methods.map((one) => textWidth(`${one.label} 00.0`, 13, 700)));
  const draw = plot.clientWidth > 2 * longest + 260 ? classicRanks : listedRanks;
  draw(plot, ranks, longest);
  dataTable(figure, ['method', 'mean rank'], () => ranks.methods.map((one) => [one.label, { value: one.rank, text: one.rank.toFixed(2) }]));
}

// The usual form: an axis of ranks, names to both sides.
function classicRanks(plot, { methods, difference, cliques }, longest) {
  const half = Math.ceil(methods.length / 2);
  const bars = 14 + 7 * barLevels(cliques).levels;
  const { root, width } = drawing(plot, 66 + bars + half * 19, `Mean ranks of ${methods.length} methods`);
  const area = { left: longest + 30, right: width - longest - 30, top: 56 };
  const x = linear([1, Math.max(2, methods.length)], [area.left, area.right]);
  root.append(svg('line', { class: 'axis', x1: area.left, x2: area.right, y1: area.top, y2: area.top }));
  for (const value of ticks(1, methods.length, Math.min(methods.length - 1, 12))) {
    root.append(svg('line', { class: 'axis', x1: x(value), x2: x(value), y1: area.top - 5, y2: area.top }), svg('text', { x: x(value), y: area.top - 9, 'text-anchor': 'middle' }, String(value)));
  }
  const reach = Math.min(difference, methods.length - 1);
  root.append(svg('path', { class: 'difference', d: `M${x(1)},18v8M${x(1)},22H${x(1 + reach)}M${x(1 + reach)},18v8` }), svg('text', { x: (x(1) + x(1 + reach)) / 2, y: 14, 'text-anchor': 'middle' }, `critical difference ${difference.toFixed(1)}`));
  const { of } = barLevels(cliques);
  cliques.forEach(([first, last], at) => root.append(svg('line', { class: 'clique', x1: x(methods[first].rank) - 4, x2: x(methods[last].rank) + 4, y1: area.top + 9 + 7 * of[at], y2: area.top + 9 + 7 * of[at] })));
  const stops = methods.map((one, place) => {
    const left = place < half;
    const line = area.top + bars + 12 + 19 * (left ? place : methods.length - 1 - place);
    const at = x(one.rank);
    const end = left ? area.left - 14 : area.right + 14;
    root.append(svg('path', { class: 'leader', d: `M${at},${area.top}V${line}H${end}`, style: `stroke:${one.label === 'merlin' ? colour(one.slot) : 'var(--grey)'}` }));
    root.append(svg('text', { class: one.label === 'merlin' ? 'row-name ours' : 'row-name', x: left ? end - 5 : end + 5, y: line + 4, 'text-anchor': left ? 'end' : 'start' }, `${one.label} ${one.rank.toFixed(1)}`));
    return { x: at, y: area.top, title: one.label, rows: [{ label: 'mean rank', value: one.rank.toFixed(2) }] };
  });
  explorable(plot, 'Mean ranks', stops, { point: ring(root) });
}

// Where there is little room: a row a method, bars at the side.
function listedRanks(plot, { methods, cliques }, longest) {
  const { levels, of } = barLevels(cliques);
  const stacked = longest > plot.clientWidth * 0.5;
  const row = stacked ? 36 : 20;
  const { root, width } = drawing(plot, 30 + methods.length * row, `Mean ranks of ${methods.length} methods`);
  const names = stacked ? 0 : longest;
  const x = linear([1, Math.max(2, methods.length)], [names + 20, width - 16 - 7 * levels]);
  for (const value of ticks(1, methods.length, 4)) root.append(svg('text', { x: x(value), y: 14, 'text-anchor': 'middle' }, String(value)));
  const y = (place) => (stacked ? 50 : 34) + place * row;
  cliques.forEach(([first, last], at) => root.append(svg('line', { class: 'clique', x1: width - 6 - 7 * of[at], x2: width - 6 - 7 * of[at], y1: y(first) - 6, y2: y(last) + 6 })));
  const name = (one) => `${one.label} ${one.rank.toFixed(1)}`;
  const stops = methods.map((one, place) => {
    const ours = one.label === 'merlin';
    root.append(svg('line', { class: 'gridline', x1: names + 14, x2: width - 10 - 7 * levels, y1: y(place), y2: y(place) }));
    root.append(svg('circle', { r: 4.5, cx: x(one.rank), cy: y(place), style: `fill:${ours ? colour(one.slot) : 'var(--grey)'}` }));
    root.append(svg('text', { class: ours ? 'row-name ours' : 'row-name', x: stacked ? 4 : names + 8, y: y(place) + (stacked ? -12 : 4), 'text-anchor': stacked ? 'start' : 'end' }, shortened(name(one), stacked ? width - 20 - 7 * levels : names + 4, 13, ours ? 700 : 400)));
    return { x: x(one.rank), y: y(place), title: one.label, rows: [{ label: 'mean rank', value: one.rank.toFixed(2) }] };
  });
  explorable(plot, 'Mean ranks', stops, { point: ring(root) });
}

// Bars that overlap go to lines of their own.
function barLevels(cliques) {
  const ends = [];
  const of = cliques.map(([first, last]) => {
    let level = ends.findIndex((end) => end < first);
    if (level < 0) level = ends.length;
    ends[level] = last;
    return level;
  });
  return { levels: ends.length, of };
}
