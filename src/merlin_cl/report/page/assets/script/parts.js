// What time and bytes are made of: a bar of parts for every method in colour.

const kindColour = (place) => `var(--series-${(place + 2) % COLOURS})`;

function drawParts(figure, experiments, part, format) {
  const plot = figure.querySelector('.plot');
  const title = figure.querySelector('h3').textContent;
  const shown = experiments.filter((one) => one.cost).map((one) => ({ ...one, parts: one.cost[part], total: Object.values(one.cost[part]).reduce((sum, value) => sum + value, 0) }));
  if (!shown.length) return nothingToDraw(figure, title, 'No finished run is in colour.');
  const kinds = [...new Set(shown.flatMap((one) => Object.keys(one.parts)))].sort((a, b) => sumOf(shown, b) - sumOf(shown, a));
  const inAll = (one) => (Object.keys(one.parts).length ? format(one.total) : storedSize(null));
  const longest = Math.max(...shown.map((one) => textWidth(one.label, 12)));
  const stacked = longest > plot.clientWidth * 0.4;
  const row = stacked ? 42 : 30;
  const { root, width } = drawing(plot, shown.length * row + 12, `${title} for ${shown.length} methods`);
  const left = stacked ? 4 : longest + 14;
  const amount = Math.max(...shown.map((one) => textWidth(inAll(one)))) + 10;
  const x = linear([0, Math.max(1e-9, ...shown.map((one) => one.total))], [left, width - amount]);
  const stops = shown.map((one, place) => {
    const top = place * row + (stacked ? 20 : 6);
    const label = stacked ? { x: left, y: top - 5 } : { x: left - 8, y: top + 13, 'text-anchor': 'end' };
    root.append(svg('text', { class: 'strong', ...label }, shortened(one.label, stacked ? width - 8 : longest)));
    let sum = 0;
    kinds.forEach((kind, index) => {
      const value = one.parts[kind] ?? 0;
      if (!value) return;
      root.append(svg('rect', { x: x(sum), y: top, width: Math.max(0.5, x(sum + value) - x(sum)), height: 18, style: `fill:${kindColour(index)};stroke:var(--surface)`, 'data-kind': kind }));
      sum += value;
    });
    root.append(svg('text', { x: x(sum) + 6, y: top + 13 }, inAll(one)));
    return { x: x(one.total / 2), y: top + 9, title: one.label, rows: kinds.filter((kind) => one.parts[kind]).map((kind) => ({ label: kind.replaceAll('_', ' '), value: format(one.parts[kind]) })) };
  });
  plot.prepend(html('ul', { class: 'key' }, ...kinds.map((kind, index) => html('li', {}, partSwatch(index), kind.replaceAll('_', ' ')))));
  explorable(plot, title, stops, { point: () => {} });
  dataTable(figure, ['method', ...kinds.map((kind) => kind.replaceAll('_', ' ')), 'in all'], () => shown.map((one) => [one.label, ...kinds.map((kind) => (one.parts[kind] ? { value: one.parts[kind], text: format(one.parts[kind]) } : null)), { value: one.total, text: inAll(one) }]));
}

const sumOf = (shown, kind) => shown.reduce((sum, one) => sum + (one.parts[kind] ?? 0), 0);

function partSwatch(place) {
  return html('span', { class: 'swatch' }, svg('svg', { viewBox: '0 0 30 14', width: 30, height: 14, 'aria-hidden': 'true' }, svg('rect', { x: 8, y: 1, width: 16, height: 12, rx: 3, style: `fill:${kindColour(place)}` })));
}
