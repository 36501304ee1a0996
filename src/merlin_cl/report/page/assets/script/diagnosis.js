// Base models, models sampled from the weight distribution, and the control: accuracy task by task.

const PROBED = [
  { key: 'base', label: 'base models, when learned', slot: 2 },
  { key: 'sampled', label: 'sampled, when learned', slot: 5 },
  { key: 'kept', label: 'sampled, at the end', slot: 0 },
  { key: 'control', label: 'exemplars alone, at the end', slot: 1 },
];

function drawDiagnosis(figure, stream, experiment) {
  const plot = figure.querySelector('.plot');
  const chart = experiment.diagnosis.chart;
  const kinds = PROBED.filter(({ key }) => chart.some((task) => task[key]));
  const { root, width } = drawing(plot, 300, `Diagnosis of ${experiment.label}`);
  const area = { left: 44, right: width - 10, top: 26, bottom: 256 };
  const least = Math.min(...chart.flatMap((task) => kinds.flatMap(({ key }) => (task[key] ? reachOf(task[key]) : [100]))));
  const bottom = Math.max(0, Math.floor((least - 1) / 5) * 5);
  const x = linear([0.5, chart.length + 0.5], [area.left, area.right]);
  const y = linear([bottom, 100], [area.bottom, area.top]);
  verticalAxis(root, area, y, ticks(bottom, 100, 5), { title: '%' });
  horizontalAxis(root, area, x, taskTicks(chart.length, area.right - area.left), { title: 'task' });
  const inside = clipped(root, area);
  const step = Math.min(26, (x(2) - x(1)) / (kinds.length + 1));
  const stops = [];
  chart.forEach((task, index) => {
    if (task.base && task.kept) {
      const [from, to] = ['base', 'kept'].map((key) => x(index + 1) + (kinds.findIndex((kind) => kind.key === key) - (kinds.length - 1) / 2) * step);
      inside.append(svg('line', { x1: from, x2: to, y1: y(task.base.mean), y2: y(task.kept.mean), class: 'axis' }));
    }
    kinds.forEach(({ key, label, slot }, place) => {
      if (!task[key]) return;
      const at = x(index + 1) + (place - (kinds.length - 1) / 2) * step;
      if (task[key].low !== null) inside.append(whisker(at, y(task[key].low), y(task[key].high), colour(slot)));
      for (const value of task[key].each ?? []) inside.append(svg('circle', { class: 'seed', r: 2.2, cx: at, cy: y(value), style: `stroke:${colour(slot)}` }));
      inside.append(mark(slot, at, y(task[key].mean), 5));
      stops.push({ x: at, y: y(task[key].mean), title: `Task ${index + 1}${stream.task_names?.[index] ? ` (${stream.task_names[index]})` : ''}`, rows: [{ slot, label, value: `${estimated(task[key])} %` }] });
    });
  });
  plot.prepend(html('ul', { class: 'key' }, ...kinds.map(({ label, slot }) => html('li', {}, html('span', { class: 'swatch' }, svg('svg', { viewBox: '0 0 30 14', width: 30, height: 14, 'aria-hidden': 'true' }, mark(slot, 20, 7, 5))), label))));
  explorable(plot, `Diagnosis of ${experiment.label}`, stops, { point: ring(root) });
  dataTable(figure, ['task', ...kinds.map(({ label }) => label)], () => chart.map((task, index) => [`${index + 1}`, ...kinds.map(({ key }) => task[key] ?? null)]));
}
