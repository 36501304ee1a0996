// Accuracy over tasks: a line a series, its interval as a band.

function drawCurves(figure, stream, series) {
  const plot = figure.querySelector('.plot');
  const option = (name) => figure.querySelector(`[data-option="${name}"]`)?.checked ?? false;
  const tasks = stream.tasks;
  const { root, width } = drawing(plot, plot.clientWidth < 560 ? 300 : 400, `Accuracy over tasks of ${series.length} methods`);
  const labelled = width > 720;
  const height = Number(root.getAttribute('height'));
  const area = { left: 44, right: width - (labelled ? 190 : 14), top: 26, bottom: height - 44 };
  const paper = option('paper') ? series.filter((one) => one.paper_curve) : [];
  const low = Math.min(100, ...series.flatMap((one) => one.curve.map((point) => point.mean)), ...paper.flatMap((one) => one.paper_curve));
  const bottom = Math.max(0, Math.floor((low - 2) / 10) * 10);
  const x = linear([1, Math.max(2, tasks)], [area.left + 12, area.right - 12]);
  const y = linear([bottom, 100], [area.bottom, area.top]);
  verticalAxis(root, area, y, ticks(bottom, 100, 6), { title: '%' });
  horizontalAxis(root, area, x, taskTicks(tasks, area.right - area.left), { title: 'after task' });

  const path = (values) => values.map((value, task) => `${task ? 'L' : 'M'}${x(task + 1)},${y(value)}`).join('');
  const inside = clipped(root, area);
  for (const one of series) {
    if (one.curve[0].low === null) continue;
    const upper = one.curve.map((point, task) => `${task ? 'L' : 'M'}${x(task + 1)},${y(point.high)}`);
    const lower = one.curve.map((point, task) => `L${x(task + 1)},${y(point.low)}`).reverse();
    inside.append(svg('path', { class: 'band', d: [...upper, ...lower, 'z'].join(''), style: `fill:${colour(one.slot)}` }));
  }
  if (option('each')) {
    for (const one of series) {
      for (const values of one.each) inside.append(svg('path', { class: 'faint', d: path(values), style: `stroke:${colour(one.slot)}` }));
    }
  }
  for (const one of paper) {
    inside.append(svg('path', { class: 'line', d: path(one.paper_curve), style: `stroke:${colour(one.slot)};stroke-width:1.4`, 'stroke-dasharray': '1 4', 'data-paper': one.id }));
    one.paper_curve.forEach((value, task) => inside.append(svg('circle', { class: 'hollow', r: 3, cx: x(task + 1), cy: y(value), style: `stroke:${colour(one.slot)}` })));
  }
  for (const one of [...series].reverse()) {
    inside.append(svg('path', { class: 'line', d: path(one.curve.map((point) => point.mean)), style: `stroke:${colour(one.slot)}`, 'stroke-dasharray': dash(one.inference), 'data-series': one.id }));
    one.curve.forEach((point, task) => inside.append(mark(one.slot, x(task + 1), y(point.mean))));
  }
  if (labelled) labelEnds(root, area, series, x, y);

  const crosshair = svg('line', { class: 'crosshair', y1: area.top, y2: area.bottom, visibility: 'hidden' });
  root.append(crosshair);
  const stops = Array.from({ length: tasks }, (_, task) => {
    const there = series.filter((one) => one.curve[task]).sort((a, b) => b.curve[task].mean - a.curve[task].mean);
    return {
      x: x(task + 1),
      y: (area.top + area.bottom) / 2,
      title: `After task ${task + 1}${stream.task_names?.[task] ? ` (${stream.task_names[task]})` : ''}`,
      rows: there.map((one) => ({ slot: one.slot, inference: one.inference, label: fullName(one), value: estimated(one.curve[task]) })),
    };
  }).filter((stop) => stop.rows.length);
  const point = (stop) => {
    crosshair.setAttribute('visibility', stop ? 'visible' : 'hidden');
    if (stop) for (const end of ['x1', 'x2']) crosshair.setAttribute(end, stop.x);
  };
  explorable(plot, 'Accuracy over tasks', stops, { along: true, point });
  dataTable(figure, ['method', ...Array.from({ length: tasks }, (_, task) => `task ${task + 1}`)], () =>
    series.map((one) => [fullName(one), ...Array.from({ length: tasks }, (_, task) => estimated(one.curve[task]))]),
  );
}

// Names at the ends of the lines, moved apart where they would cover each other.
function labelEnds(root, area, series, x, y) {
  const ends = series.map((one) => y(one.curve.at(-1).mean));
  const places = spread(ends, 16, area.top, area.bottom);
  series.forEach((one, index) => {
    const from = x(one.curve.length);
    const to = area.right + 8;
    root.append(
      svg('path', { d: `M${from + 8},${ends[index]}L${to},${places[index]}`, style: `stroke:${colour(one.slot)}`, 'stroke-width': 0.8, opacity: 0.6, fill: 'none' }),
      svg('text', { class: 'name', x: to + 4, y: places[index] + 4, style: `fill:${colour(one.slot)}` }, fullName(one)),
    );
  });
}
