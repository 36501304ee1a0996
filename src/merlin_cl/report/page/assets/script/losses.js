// Loss curves of one experiment, a line a task.

function drawLosses(figure, stream) {
  const plot = figure.querySelector('.plot');
  const choices = stream.experiments.flatMap((experiment) =>
    experiment.losses ? [...new Set(experiment.losses.curves.map((curve) => curve.kind))].map((kind) => ({ experiment, kind, name: `${experiment.label}, ${kind.replaceAll('_', ' ')}` })) : [],
  );
  const { experiment, kind } = chosenOf(figure.querySelector('[data-losses]'), choices, () => drawLosses(figure, stream));
  const curves = experiment.losses.curves.filter((curve) => curve.kind === kind);
  const { root, width } = drawing(plot, 300, `Loss of ${experiment.label}, ${curves.length} tasks`);
  const area = { left: 54, right: width - 40, top: 26, bottom: 256 };
  const values = curves.flatMap((curve) => curve.points.map(([, value]) => value));
  const [low, high] = extent(values);
  const steep = low > 0 && high / low > 20;
  const x = linear([1, Math.max(2, ...curves.map((curve) => curve.steps))], [area.left, area.right]);
  const y = steep ? logarithmic([low / 1.2, high * 1.2], [area.bottom, area.top]) : linear([Math.min(0, low), high * 1.05], [area.bottom, area.top]);
  verticalAxis(root, area, y, steep ? logarithmicTicks(low / 1.2, high * 1.2) : ticks(Math.min(0, low), high * 1.05, 5), { title: steep ? 'loss (logarithmic)' : 'loss', format: short });
  horizontalAxis(root, area, x, ticks(1, Math.max(2, ...curves.map((curve) => curve.steps)), 6), { title: 'step' });
  const ends = curves.map((curve) => y(curve.points.at(-1)[1]));
  const places = spread(ends, 14, area.top, area.bottom);
  curves.forEach((curve, index) => {
    const paint = taskColour(curve.task, stream.tasks);
    root.append(svg('path', { class: 'line', d: curve.points.map(([step, value], at) => `${at ? 'L' : 'M'}${x(step)},${y(value)}`).join(''), style: `stroke:${paint};stroke-width:1.7` }));
    root.append(svg('text', { class: 'name', x: area.right + 8, y: places[index] + 4, style: `fill:${paint}` }, `${curve.task + 1}`));
  });
  const stops = curves.map((curve, index) => ({ x: x(curve.points.at(-1)[0]), y: ends[index], title: `Task ${curve.task + 1}`, rows: [{ label: 'first', value: short(curve.points[0][1]) }, { label: 'last', value: short(curve.points.at(-1)[1]) }, { label: 'steps', value: String(curve.steps) }] }));
  explorable(plot, 'Loss while learning', stops, { point: ring(root) });
  dataTable(figure, ['task', 'steps', 'first', 'last'], () => curves.map((curve) => [`${curve.task + 1}`, String(curve.steps), short(curve.points[0][1]), short(curve.points.at(-1)[1])]));
}

// The choice that a select element shows, its options filled from the choices.
function chosenOf(select, choices, redraw) {
  const before = choices.findIndex((choice) => choice.name === select.value);
  select.replaceChildren(...choices.map((choice) => html('option', { value: choice.name }, choice.name)));
  select.selectedIndex = Math.max(0, before);
  select.onchange = redraw;
  return choices[select.selectedIndex];
}
