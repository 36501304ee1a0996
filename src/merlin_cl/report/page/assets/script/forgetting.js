// Forgetting of every task but the last: marks side by side, with whiskers, around zero.

function drawForgetting(figure, stream, series, focus) {
  const plot = figure.querySelector('.plot');
  const shown = series.filter((one) => one.finished && one.forgotten.length && focus.has(fullName(one)));
  if (!shown.length) return nothingToDraw(figure, 'Forgetting, task by task', 'No finished run is in colour.');
  const tasks = Math.max(1, stream.tasks - 1);
  const { root, width } = drawing(plot, 300, `Forgetting by task of ${shown.length} methods`);
  const area = { left: 44, right: width - 10, top: 26, bottom: 256 };
  const all = shown.flatMap((one) => one.forgotten.flatMap(reachOf));
  const [low, high] = extent([0, ...all]);
  const room = Math.max(1, (high - low) * 0.08);
  const x = linear([0.5, tasks + 0.5], [area.left, area.right]);
  const y = linear([low - (low < 0 ? room : 0), high + room], [area.bottom, area.top]);
  verticalAxis(root, area, y, ticks(low - (low < 0 ? room : 0), high + room, 5), { title: 'points', format: (value) => String(value).replace('-', '−') });
  horizontalAxis(root, { ...area, bottom: area.bottom }, x, taskTicks(tasks, area.right - area.left), { title: 'task' });
  root.append(svg('line', { class: 'axis', x1: area.left, x2: area.right, y1: y(0), y2: y(0) }));

  const step = Math.min(14, (x(2) - x(1)) / (shown.length + 1));
  const inside = clipped(root, area);
  const stops = [];
  for (let task = 0; task < tasks; task += 1) {
    shown.forEach((one, place) => {
      const point = one.forgotten[task];
      if (!point) return;
      const at = x(task + 1) + (place - (shown.length - 1) / 2) * step;
      inside.append(svg('line', { x1: at, x2: at, y1: y(0), y2: y(point.mean), style: `stroke:${colour(one.slot)}`, 'stroke-width': 2, opacity: 0.45 }));
      if (point.low !== null) inside.append(whisker(at, y(point.low), y(point.high), colour(one.slot)));
      for (const value of point.each ?? []) inside.append(svg('circle', { class: 'seed', r: 2.2, cx: at, cy: y(value), style: `stroke:${colour(one.slot)}` }));
      inside.append(mark(one.slot, at, y(point.mean), 4));
      stops.push({ x: at, y: y(point.mean), title: `Task ${task + 1}`, rows: [{ slot: one.slot, inference: one.inference, label: fullName(one), value: estimated(point) }] });
    });
  }
  keyOf(plot, shown.map((one) => ({ ...one, label: fullName(one) })));
  explorable(plot, 'Forgetting, task by task', stops, { point: ring(root) });
  dataTable(figure, ['method', ...Array.from({ length: tasks }, (_, task) => `task ${task + 1}`)], () =>
    shown.map((one) => [fullName(one), ...Array.from({ length: tasks }, (_, task) => one.forgotten[task] ?? null)]),
  );
}

// A ring around the mark that is pointed at.
function ring(root) {
  const circle = svg('circle', { r: 9, fill: 'none', class: 'axis', 'stroke-width': 2, visibility: 'hidden' });
  root.append(circle);
  return (stop) => {
    circle.setAttribute('visibility', stop ? 'visible' : 'hidden');
    if (stop) {
      circle.setAttribute('cx', stop.x);
      circle.setAttribute('cy', stop.y);
    }
  };
}
