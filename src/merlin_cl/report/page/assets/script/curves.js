// Accuracy over tasks: methods in colour with their intervals, all others grey until they are touched.

function drawCurves(figure, stream, series, focus) {
  const plot = figure.querySelector('.plot');
  const option = (name) => figure.querySelector(`[data-option="${name}"]`)?.checked ?? false;
  const inColour = series.filter((one) => focus.has(fullName(one)));
  const tasks = stream.tasks;
  const { root, width } = drawing(plot, plot.clientWidth < 560 ? 300 : 420, `Accuracy over tasks of ${series.length} methods`);
  const height = Number(root.getAttribute('height'));
  const longest = Math.max(0, ...inColour.map((one) => textWidth(endName(one), 12, 600)));
  const labelled = width > 640 && inColour.length > 0;
  const area = { left: 44, right: width - (labelled ? Math.min(longest + 34, width * 0.36) : 14), top: 26, bottom: height - 44 };
  const paper = option('paper') ? inColour.filter((one) => one.paper_curve) : [];
  const bottom = curvesBottom(figure, series, inColour, paper, option('whole'));
  const x = linear([1, Math.max(2, tasks)], [area.left + 12, area.right - 12]);
  const y = linear([bottom, 100], [area.bottom, area.top]);
  verticalAxis(root, area, y, ticks(bottom, 100, 6), { title: '%' });
  horizontalAxis(root, area, x, taskTicks(tasks, area.right - area.left), { title: 'after task' });
  const path = (values) => values.map((value, task) => `${task ? 'L' : 'M'}${x(task + 1)},${y(value)}`).join('');
  const [behind, inside] = [clipped(root, area, 0), clipped(root, area)];
  const means = (one) => one.curve.map((point) => point.mean);
  for (const one of series.filter((each) => !inColour.includes(each))) {
    behind.append(svg('path', { class: one.apart === 'ceiling' ? 'grey ceiling-line' : 'grey', d: path(means(one)), 'data-series': one.id, 'data-unfinished': one.finished ? null : 'true' }));
    if (one.curve.length === 1) inside.append(svg('circle', { class: 'grey-dot', r: 2.5, cx: x(1), cy: y(means(one)[0]) }));
  }
  for (const one of inColour) drawSpread(inside, one, x, y, path, option('each'));
  for (const one of paper) {
    inside.append(svg('path', { class: 'line', d: path(one.paper_curve), style: `stroke:${colour(one.slot)};stroke-width:1.4`, 'stroke-dasharray': '1 4', 'data-paper': one.id }));
    one.paper_curve.forEach((value, task) => inside.append(svg('circle', { class: 'hollow', r: 3, cx: x(task + 1), cy: y(value), style: `stroke:${colour(one.slot)}` })));
  }
  for (const one of [...inColour].reverse()) {
    inside.append(svg('path', { class: one.finished ? 'line' : 'line unfinished', d: path(means(one)), style: `stroke:${colour(one.slot)}`, 'stroke-dasharray': one.finished ? dash(one.inference) : '5 5', 'data-series': one.id, 'data-unfinished': one.finished ? null : 'true' }));
    one.curve.forEach((point, task) => inside.append(mark(one.slot, x(task + 1), y(point.mean))));
  }
  if (labelled) labelEnds(root, area, inColour, x, y, width);
  else keyOf(plot, inColour.map((one) => ({ ...one, label: endName(one) })));
  exploreCurves(figure, plot, root, area, stream, series, inColour, x, y, path);
  dataTable(figure, ['method', ...Array.from({ length: tasks }, (_, task) => `task ${task + 1}`)], () =>
    series.map((one) => [endName(one), ...Array.from({ length: tasks }, (_, task) => one.curve[task] ?? null)]),
  );
}

// Where the axis begins: under the lines in colour, so that they can be told apart, or under all lines if that was asked for.
function curvesBottom(figure, series, inColour, paper, whole) {
  const under = (values) => Math.max(0, Math.floor((Math.min(100, ...values) - 2) / 5) * 5);
  const means = (one) => one.curve.map((point) => point.mean);
  const coloured = [...inColour.flatMap((one) => one.curve.flatMap(reachOf)), ...paper.flatMap((one) => one.paper_curve)];
  const [lowest, near] = [under([...series.flatMap(means), ...coloured]), under(coloured)];
  const split = coloured.length > 0 && near - lowest >= 10;
  figure.querySelector('[data-option="whole"]').closest('label').hidden = !split;
  const bottom = split && !whole ? near : lowest;
  const cut = series.filter((one) => Math.min(...means(one)) < bottom).length;
  noteUnder(figure, cut ? `Out of view: ${cut} of ${series.length} lines, below ${bottom} %; “all lines in view” shows them.` : '');
  return bottom;
}

const endName = (one) => (one.finished ? fullName(one) : `${fullName(one)} (${one.tasks} of ${one.tasks_in_all} tasks)`);

// The interval as a band, or every seed as a dot where seeds are few; every seed as a line if that was asked for.
function drawSpread(inside, one, x, y, path, each) {
  if (one.curve[0].low !== null) {
    const upper = one.curve.map((point, task) => `${task ? 'L' : 'M'}${x(task + 1)},${y(point.high)}`);
    const lower = one.curve.map((point, task) => `L${x(task + 1)},${y(point.low)}`).reverse();
    inside.append(svg('path', { class: 'band', d: [...upper, ...lower, 'z'].join(''), style: `fill:${colour(one.slot)}` }));
  } else {
    one.curve.forEach((point, task) => (point.each ?? []).forEach((value) => inside.append(svg('circle', { class: 'seed', r: 2.2, cx: x(task + 1), cy: y(value), style: `stroke:${colour(one.slot)}` }))));
  }
  if (each) for (const values of one.each) inside.append(svg('path', { class: 'faint', d: path(values), style: `stroke:${colour(one.slot)}` }));
}

// Names at the ends of the lines, moved apart; those that there is no room for are left to the tooltip.
function labelEnds(root, area, series, x, y, width) {
  const most = Math.max(1, Math.floor((area.bottom - area.top) / 16));
  const named = series.slice(0, most);
  const ends = named.map((one) => y(one.curve.at(-1).mean));
  const places = spread(ends, 16, area.top, area.bottom);
  named.forEach((one, index) => {
    const to = area.right + 8;
    // A run that is not finished ends where it has come to; no line leads on from there.
    if (one.finished) root.append(svg('path', { d: `M${x(one.curve.length) + 8},${ends[index]}L${to},${places[index]}`, style: `stroke:${colour(one.slot)}`, 'stroke-width': 0.8, opacity: 0.6, fill: 'none' }));
    root.append(svg('text', { class: 'name', x: to + 4, y: places[index] + 4, style: `fill:${nameColour(one.slot)}` }, shortened(endName(one), width - to - 8, 12, 600)));
  });
}

// Pointer and arrow keys read a task's values; the line nearest to the pointer comes forward.
function exploreCurves(figure, plot, root, area, stream, series, inColour, x, y, path) {
  const crosshair = svg('line', { class: 'crosshair', y1: area.top, y2: area.bottom, visibility: 'hidden' });
  const touched = svg('path', { class: 'touched', visibility: 'hidden' });
  root.append(crosshair, touched);
  const rowOf = (one, task) => ({ slot: one.slot, inference: one.inference, label: fullName(one), value: estimated(one.curve[task]) });
  const stops = Array.from({ length: stream.tasks }, (_, task) => {
    const there = inColour.filter((one) => one.curve[task]).sort((a, b) => b.curve[task].mean - a.curve[task].mean);
    return {
      task,
      x: x(task + 1),
      y: (area.top + area.bottom) / 2,
      title: `After task ${task + 1}${stream.task_names?.[task] ? ` (${stream.task_names[task]})` : ''}`,
      rows: there.map((one) => rowOf(one, task)),
      near: (at) => {
        const close = series.filter((one) => one.curve[task]).reduce((best, one) => (best === null || Math.abs(y(one.curve[task].mean) - at) < Math.abs(y(best.curve[task].mean) - at) ? one : best), null);
        if (!close || Math.abs(y(close.curve[task].mean) - at) > 14) return null;
        touched.setAttribute('d', path(close.curve.map((point) => point.mean)));
        touched.setAttribute('visibility', 'visible');
        return inColour.includes(close) ? null : rowOf(close, task);
      },
    };
  }).filter((stop) => series.some((one) => one.curve[stop.task]));
  const point = (stop) => {
    touched.setAttribute('visibility', 'hidden');
    crosshair.setAttribute('visibility', stop ? 'visible' : 'hidden');
    if (stop) for (const end of ['x1', 'x2']) crosshair.setAttribute(end, stop.x);
  };
  explorable(plot, 'Accuracy over tasks', stops, { along: true, point });
}
