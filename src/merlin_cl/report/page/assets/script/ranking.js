// All methods by accuracy, a row each: mean and interval, or every seed where seeds are few. The ceiling and the control are lines.

const ROWS_AT_FIRST = 30;

function drawRanking(figure, stream, series, focus, toggle) {
  const plot = figure.querySelector('.plot');
  const all = series.filter((one) => one.finished && one.apart !== 'ceiling').sort((a, b) => (a.apart === 'told the task') - (b.apart === 'told the task') || b.average.mean - a.average.mean);
  if (!all.length) return nothingToDraw(figure, 'Who is best', 'No run is finished yet.');
  const shown = rowsAtFirst(figure, all, focus, () => drawRanking(figure, stream, series, focus, toggle));
  const ceiling = series.filter((one) => one.finished && one.apart === 'ceiling').sort((a, b) => b.average.mean - a.average.mean)[0];
  const control = series.find((one) => one.finished && one.method === 'gdumb-ensemble' && one.rank !== null);
  const wide = plot.clientWidth > 760;
  const named = (one) => `${fullName(one)}${one.apart === 'told the task' ? ' (told the task)' : ''}`;
  const longest = Math.max(...shown.map((one) => textWidth(named(one), 13, one.label === 'merlin' ? 700 : 400)));
  const ranks = 34;
  const stacked = ranks + longest > plot.clientWidth * 0.42;
  const row = stacked ? 40 : 24;
  const { root, width } = drawing(plot, shown.length * row + 78, `Average incremental accuracy of ${shown.length} methods, the best first`);
  const area = { left: stacked ? 10 : ranks + longest + 18, right: width - (wide ? 190 : 64), top: 34, bottom: 34 + shown.length * row };
  const x = accuracyScale(shown, [ceiling, control].filter((one) => one), [area.left + 6, area.right - 6]);
  horizontalAxis(root, area, x.scale, x.ticks, { title: x.title, grid: true });
  for (const [one, kind] of [[ceiling, 'ceiling'], [control, 'control']]) {
    if (one) root.append(svg('path', { class: `${kind}-line`, d: lineDown(x.scale(one.average.mean), area, row, stacked ? shown.map((each) => ranks + textWidth(named(each), 13, 700)) : []), 'data-line': kind }));
  }
  nameLines(root, area, x.scale, ceiling, control);
  if (wide) {
    root.append(svg('text', { class: 'strong', x: area.right + 78, y: 16, 'text-anchor': 'end' }, 'A'), svg('text', { class: 'strong', x: width - 4, y: 16, 'text-anchor': 'end' }, 'stored'));
  }
  const stops = shown.map((one, place) => {
    const top = area.top + place * row;
    const y = top + row - 12;
    const inColour = focus.has(fullName(one));
    const paint = inColour ? colour(one.slot) : 'var(--grey)';
    if (place % 2) root.append(svg('rect', { class: 'stripe', x: 0, y: top, width, height: row }));
    const line = stacked ? top + 15 : y + 4;
    if (all.some((each) => each.tied) && (one.tied || one.rank === 1)) root.append(svg('rect', { class: 'tied', x: 2, y: top + 3, width: 3, height: row - 6, 'data-tied': one.id }));
    root.append(svg('text', { class: 'row-rank', x: ranks - 8, y: line, 'text-anchor': 'end' }, one.rank === null ? NOTHING : String(one.rank)));
    root.append(svg('text', { class: one.label === 'merlin' ? 'row-name ours' : 'row-name', x: ranks, y: line }, shortened(named(one), stacked ? width - ranks - 8 : longest, 13, one.label === 'merlin' ? 700 : 400)));
    drawEstimate(root, one, x.scale, y, paint);
    const value = one.average.std === null ? percent(one.average.mean) : `${percent(one.average.mean)} ± ${percent(one.average.std)}`;
    root.append(svg('text', { class: 'row-value', x: wide ? area.right + 104 : width - 4, y: y + 4, 'text-anchor': 'end' }, wide ? value : percent(one.average.mean)));
    if (wide) root.append(svg('text', { x: width - 4, y: y + 4, 'text-anchor': 'end' }, storedSize(one.stored)));
    return { x: x.scale(one.average.mean), y, name: fullName(one), title: `${one.rank === null ? '' : `${one.rank}. `}${fullName(one)}`, rows: rankingFacts(one) };
  });
  explorable(plot, 'Who is best', stops, { point: ring(root), act: (stop) => toggle(stop.name) });
  dataTable(figure, ['method', 'rank', 'A', 'stored bytes', 'CPU seconds', 'seeds'], () =>
    all.concat(ceiling ? [ceiling] : []).map((one) => [fullName(one), one.rank === null ? one.apart : one.rank, one.average, { value: one.stored, text: storedSize(one.stored) }, { value: one.seconds, text: one.seconds === null ? NOTHING : seconds(one.seconds) }, one.seeds.length]),
  );
}

// A line down the figure that leaves out the names in its way; `ends` is where each row's name ends.
function lineDown(x, area, row, ends) {
  const gaps = ends.map((end, place) => (end > x - 4 ? `V${area.top + place * row + 2}m0,19` : '')).join('');
  return `M${x},${area.top - 6}${gaps}V${area.bottom}`;
}

// The first ones, and all that are in colour; a button brings the others.
function rowsAtFirst(figure, all, focus, again) {
  const button = figure.querySelector('[data-every]');
  button.hidden = all.length <= 1.5 * ROWS_AT_FIRST; // a few more are not worth a click
  if (button.hidden) return all;
  const every = figure.dataset.every === 'true';
  button.textContent = every ? `First ${ROWS_AT_FIRST}` : `All ${all.length}`;
  button.onclick = () => {
    figure.dataset.every = String(!every);
    again();
  };
  return every ? all : all.filter((one, place) => place < ROWS_AT_FIRST || focus.has(fullName(one)));
}

// Linear, or by the logarithm of the error where the best are far closer to each other than to the rest.
function accuracyScale(shown, lines, range, apart = 34) {
  const reach = [...shown.flatMap((one) => reachOf(one.average)), ...lines.map((one) => one.average.mean)];
  const [low, high] = extent(reach);
  const title = Math.abs(range[1] - range[0]) < 420 ? 'A, %' : 'average incremental accuracy, %';
  if (high < 99.9 && (100 - low) / (100 - high) > 8) {
    const scale = logarithmic([100 - low, 100 - high], range);
    const all = [0, 20, 40, 50, 60, 70, 80, 85, 90, 92, 94, 95, 96, 97, 98, 99, 99.5].filter((value) => value >= low && value <= high);
    let last = -Infinity;
    const kept = all.filter((value) => {
      const at = scale(100 - value);
      if (Math.abs(at - last) < apart) return false;
      last = at;
      return true;
    });
    return { scale: (value) => scale(100 - value), ticks: kept, title: `${title} (logarithmic in the error)` };
  }
  const room = Math.max(0.5, (high - low) * 0.04);
  const domain = [Math.max(0, low - room), Math.min(100, high + room)];
  return { scale: linear(domain, range), ticks: ticks(...domain, Math.max(2, Math.round(Math.abs(range[1] - range[0]) / (2 * apart)))), title };
}

// The mean with its interval, or with every seed where seeds are few.
function drawEstimate(root, one, x, y, paint) {
  const { mean, low, high, each } = one.average;
  if (low !== null) root.append(svg('path', { class: 'interval', d: `M${x(low)},${y}H${x(high)}M${x(low)},${y - 4}v8M${x(high)},${y - 4}v8`, style: `stroke:${paint}` }));
  for (const value of each ?? []) root.append(svg('circle', { class: 'seed', r: 3, cx: x(value), cy: y, style: `stroke:${paint}` }));
  const point = mark(one.slot, x(mean), y, 5);
  point.style.fill = paint;
  point.dataset.series = one.id;
  root.append(point);
}

// What the two lines are, side by side above them.
function nameLines(root, area, x, ceiling, control) {
  const texts = [control && { at: x(control.average.mean), text: `control ${percent(control.average.mean)}` }, ceiling && { at: x(ceiling.average.mean), text: `ceiling ${ceiling.label} ${percent(ceiling.average.mean)}` }].filter((one) => one).sort((a, b) => a.at - b.at);
  let free = 2;
  texts.forEach((one, place) => {
    const length = textWidth(one.text);
    const later = texts.slice(place + 1).reduce((sum, other) => sum + textWidth(other.text) + 14, 0);
    const left = Math.max(free, Math.min(one.at - length / 2, area.right - length - later));
    root.append(svg('text', { class: 'strong', x: left, y: 16 }, one.text));
    free = left + length + 14;
  });
}

const rankingFacts = (one) => [
  { label: 'average incremental', value: `${estimated(one.average)} %` },
  ...(one.average.low === null ? [{ label: '95 % interval', value: 'too few seeds' }] : []),
  { label: 'final', value: `${percent(one.final.mean)} %` },
  { label: 'stored', value: storedSize(one.stored) },
  { label: 'CPU time', value: one.seconds === null ? NOTHING : seconds(one.seconds) },
  { label: 'seeds', value: String(one.seeds.length) },
  ...(one.paper ? [{ label: 'paper', value: String(one.paper.mean) }] : []),
];
