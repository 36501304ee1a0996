// Every task's prior in the plane of the latent space in which they differ most.

function drawLatent(figure, stream) {
  const plot = figure.querySelector('.plot');
  const choices = stream.experiments.filter((one) => one.latent).map((experiment) => ({ experiment, name: experiment.label }));
  const { experiment } = chosenOf(figure.querySelector('[data-latent]'), choices, () => drawLatent(figure, stream));
  const { priors, shares, width: numbers, seed } = experiment.latent;
  const tasks = Math.max(...priors.map((prior) => prior.number)) + 1;
  const several = priors.some((prior) => prior.component !== null);
  const { root, width } = drawing(plot, 300, `Priors of ${tasks} tasks in the latent space of ${experiment.label}`);
  const area = { left: 50, right: width - 14, top: 16, bottom: 266 };
  const [xs, ys] = [0, 1].map((axis) => extent(priors.flatMap((prior) => [axis ? prior.y - prior.ry : prior.x - prior.rx, axis ? prior.y + prior.ry : prior.x + prior.rx, ...prior.samples.map((sample) => sample[axis])])));
  // One scale for both axes, so that round is round.
  const unit = Math.max((xs[1] - xs[0]) / (area.right - area.left), (ys[1] - ys[0]) / (area.bottom - area.top)) * 1.15 || 1e-3;
  const middle = [(xs[0] + xs[1]) / 2, (ys[0] + ys[1]) / 2];
  const around = (centre, from, to) => [centre - (unit * Math.abs(to - from)) / 2, centre + (unit * Math.abs(to - from)) / 2];
  const [xDomain, yDomain] = [around(middle[0], area.left, area.right), around(middle[1], area.top, area.bottom)];
  const x = linear(xDomain, [area.left, area.right]);
  const y = linear(yDomain, [area.bottom, area.top]);
  verticalAxis(root, area, y, ticks(...yDomain, 4), { format: short });
  horizontalAxis(root, area, x, ticks(...xDomain, Math.max(2, Math.round(width / 110))), { format: short, grid: true });
  const radius = several ? 6.5 : 9;
  const named = (prior) => (prior.component === null ? '' : `, component ${prior.component + 1}`);
  const figures = (prior) => (prior.mean.length
    ? prior.mean.map((value, at) => ({ label: `z${at + 1}`, value: `${short(value)} ± ${short(prior.deviation[at])}` }))
    : [{ label: 'length of the mean', value: short(prior.length) }, { label: 'spread', value: short(prior.spread) }]);
  const stops = priors.map((prior, place) => {
    const paint = taskColour(prior.number, tasks);
    const [cx, cy] = [x(prior.x), y(prior.y)];
    for (const [sx, sy] of prior.samples) root.append(svg('circle', { r: 1.8, cx: x(sx), cy: y(sy), style: `fill:${paint}`, opacity: 0.45 }));
    root.append(svg('ellipse', { rx: prior.rx / unit, ry: prior.ry / unit, transform: `translate(${cx},${cy}) rotate(${-prior.angle})`, style: `fill:${paint};stroke:${paint}`, 'fill-opacity': 0.14, 'data-prior': place }));
    root.append(svg('circle', { class: 'mark', r: radius, cx, cy, style: `fill:${paint}` }));
    root.append(svg('text', { x: cx, y: cy + (several ? 3 : 4), 'text-anchor': 'middle', style: `fill:var(--surface)${several ? ';font-size:9px' : ''}`, 'font-weight': 700 }, `${prior.number + 1}`));
    return { x: cx, y: cy, title: `Task ${prior.number + 1} (${prior.task})${named(prior)}`, rows: figures(prior).slice(0, 12) };
  });
  explorable(plot, 'Latent space and task priors', stops, { point: ring(root) });
  const tiny = priors.every((prior) => prior.rx / unit < radius);
  figure.querySelector('figcaption').textContent =
    (numbers > 2
      ? `The latent of ${experiment.label} has ${numbers} numbers; shown is the plane in which the priors differ most (${Math.round(100 * (shares[0] + shares[1]))} % of the difference).`
      : `The latent of ${experiment.label} as it is.`) +
    ` Ellipses are two standard deviations wide${tiny ? `, here smaller than their marks: ${several ? 'samples differ by their component' : 'a task’s samples hardly differ'}` : ', dots are samples'}.${several ? ' Components of one task have its number; each lives in the space of a start of its own.' : ''} Seed ${seed}.`;
  const headings = figures(priors[0]).map((figure) => figure.label);
  dataTable(figure, [several ? 'task, component' : 'task', ...headings], () => priors.map((prior) => [`${prior.number + 1} (${prior.task})${named(prior)}`, ...figures(prior).map((figure) => figure.value)]));
}
