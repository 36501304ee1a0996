// What accuracy costs: against bytes or seconds, and what both are made of.

function drawCost(figure, stream, series) {
  const plot = figure.querySelector('.plot');
  const against = radio(figure);
  const shown = series.filter((one) => one[against] > 0);
  const { root, width } = drawing(plot, 300, `Average incremental accuracy of ${shown.length} methods against ${against === 'stored' ? 'stored bytes' : 'CPU time'}`);
  if (!shown.length) {
    root.append(svg('text', { x: width / 2, y: 150, 'text-anchor': 'middle' }, 'No finished run to show.'));
    explorable(plot, 'Accuracy against cost', [], { point: () => {} });
    return;
  }
  const area = { left: 44, right: width - 16, top: 26, bottom: 256 };
  const [cheap, dear] = extent(shown.map((one) => one[against]));
  const domain = [cheap / 1.6, dear * 1.9];
  const format = against === 'stored' ? size : seconds;
  const [low, high] = extent(shown.map((one) => one.average.mean));
  const room = Math.max(1, (high - low) * 0.12);
  const [bottom, top] = [Math.max(0, low - room), Math.min(100, high + room)];
  const x = logarithmic(domain, [area.left, area.right]);
  const y = linear([bottom, top], [area.bottom, area.top]);
  verticalAxis(root, area, y, ticks(bottom, top, 5), { title: '%' });
  horizontalAxis(root, area, x, logarithmicTicks(...domain), { format, title: against === 'stored' ? 'stored between tasks' : 'CPU time of a run', grid: true });

  const front = unbeaten(shown, against);
  root.append(svg('path', { class: 'crosshair', fill: 'none', d: front.map((one, index) => `${index ? `H${x(one[against])}V${y(one.average.mean)}` : `M${x(one[against])},${y(one.average.mean)}`}`).join('') }));
  const inside = clipped(root, area);
  const stops = shown.map((one) => {
    const [cx, cy] = [x(one[against]), y(one.average.mean)];
    const reach = one.average.low === null ? [cy, cy] : [y(one.average.high), y(one.average.low)];
    if (one.average.low !== null) inside.append(whisker(cx, ...reach, colour(one.slot)));
    inside.append(mark(one.slot, cx, cy, 5.5));
    return { x: cx, y: cy, reach, title: fullName(one), rows: [{ label: 'average incremental', value: `${estimated(one.average)} %` }, { label: 'stored', value: storedSize(one.stored) }, { label: 'CPU time', value: seconds(one.seconds) }] };
  });
  nameMarks(root, area, shown, stops);
  explorable(plot, 'Accuracy against cost', stops, { point: ring(root) });
  dataTable(figure, ['method', 'average incremental', 'stored', 'CPU time'], () => shown.map((one) => [fullName(one), estimated(one.average), storedSize(one.stored), seconds(one.seconds)]));
}

// Those that nothing else beats in both: going up in cost, each better than all before.
function unbeaten(series, against) {
  let best = -Infinity;
  return [...series].sort((a, b) => a[against] - b[against] || b.average.mean - a.average.mean).filter((one) => {
    const better = one.average.mean > best;
    best = Math.max(best, one.average.mean);
    return better;
  });
}

// Names beside their marks, left out where they would cover another name or mark.
function nameMarks(root, area, series, stops) {
  const taken = stops.map(({ x, y, reach: [top, bottom] }) => ({ left: x - 7, right: x + 7, top: Math.min(top, y - 7), bottom: Math.max(bottom, y + 7) }));
  const free = (box) => box.left >= area.left && box.right <= area.right + 12 && box.top >= area.top - 8 && box.bottom <= area.bottom && !taken.some((other) => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom);
  series.forEach((one, index) => {
    const length = fullName(one).length * 6.4;
    const { x, y } = stops[index];
    const [top, bottom] = stops[index].reach;
    const tries = [[x + 11, y - 7], [x - 11 - length, y - 7], [x - length / 2, Math.min(top, y) - 20], [x - length / 2, Math.max(bottom, y) + 8]];
    const found = tries.map(([left, top]) => ({ left, right: left + length, top, bottom: top + 14 })).find(free);
    if (!found) return;
    taken.push(found);
    root.append(svg('text', { class: 'name', x: found.left, y: found.top + 11, style: `fill:${colour(one.slot)}` }, fullName(one)));
  });
}

// Shades of one colour, dark to light: parts of a whole are no methods and do not have their colours.
const shade = (place, count) => `color-mix(in oklab, var(--accent) ${Math.round(100 - (80 * place) / Math.max(1, count - 1))}%, var(--surface))`;

// Bars of parts, an experiment each.
function drawParts(figure, experiments, part, format) {
  const plot = figure.querySelector('.plot');
  const shown = experiments.filter((one) => one.cost).map((one) => ({ ...one, parts: one.cost[part], total: Object.values(one.cost[part]).reduce((sum, value) => sum + value, 0) }));
  const kinds = [...new Set(shown.flatMap((one) => Object.keys(one.parts)))];
  const inAll = (one) => (Object.keys(one.parts).length ? format(one.total) : storedSize(null));
  const title = figure.querySelector('h3').textContent;
  const narrow = plot.clientWidth < 420;
  const row = narrow ? 40 : 30;
  const { root, width } = drawing(plot, shown.length * row + 12, `${title} for ${shown.length} methods`);
  const left = narrow ? 4 : Math.min(170, 12 + 7 * Math.max(0, ...shown.map((one) => one.label.length)));
  const x = linear([0, Math.max(1e-9, ...shown.map((one) => one.total))], [left, width - 66]);
  const stops = [];
  shown.forEach((one, place) => {
    const top = place * row + (narrow ? 18 : 6);
    const label = narrow ? { x: left, y: top - 4 } : { x: left - 8, y: top + 13, 'text-anchor': 'end' };
    root.append(svg('text', { class: 'strong', ...label }, one.label));
    let sum = 0;
    for (const kind of kinds) {
      const value = one.parts[kind] ?? 0;
      if (!value) continue;
      const [from, to] = [x(sum), x(sum + value)];
      root.append(svg('rect', { x: from, y: top, width: Math.max(0.5, to - from), height: 18, style: `fill:${shade(kinds.indexOf(kind), kinds.length)};stroke:var(--surface)`, 'data-kind': kind }));
      sum += value;
    }
    root.append(svg('text', { x: x(sum) + 6, y: top + 13 }, inAll(one)));
    stops.push({ x: x(one.total / 2), y: top + 9, title: one.label, rows: kinds.filter((kind) => one.parts[kind]).map((kind) => ({ label: kind.replaceAll('_', ' '), value: format(one.parts[kind]) })) });
  });
  const key = html('ul', { class: 'key' }, ...kinds.map((kind, index) => html('li', {}, partSwatch(index, kinds.length), kind.replaceAll('_', ' '))));
  plot.prepend(key);
  explorable(plot, title, stops, { point: () => {} });
  dataTable(figure, ['method', ...kinds.map((kind) => kind.replaceAll('_', ' ')), 'in all'], () => shown.map((one) => [one.label, ...kinds.map((kind) => (one.parts[kind] ? format(one.parts[kind]) : NOTHING)), inAll(one)]));
}

function partSwatch(place, count) {
  return html('span', { class: 'swatch' }, svg('svg', { viewBox: '0 0 30 14', width: 30, height: 14, 'aria-hidden': 'true' }, svg('rect', { x: 8, y: 1, width: 16, height: 12, rx: 3, style: `fill:${shade(place, count)}` })));
}
