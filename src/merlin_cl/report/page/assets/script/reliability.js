// What probabilities were worth: confidence against accuracy, and the errors of the surest answers. Methods in colour.

function drawReliability(figure, series, focus) {
  const plot = figure.querySelector('.plot');
  const shown = series.filter((one) => one.reliability && focus.has(fullName(one)));
  noteUnder(figure, withoutProbabilities(series, focus, 'reliability'));
  if (!shown.length) return nothingToDraw(figure, 'Reliability', 'No method in colour gave probabilities.');
  const { root, width } = drawing(plot, 320, `Confidence against accuracy of ${shown.length} methods`);
  const area = { left: 44, right: width - 14, top: 26, bottom: 272 };
  const least = Math.min(...shown.flatMap((one) => one.reliability.flat()));
  const bottom = Math.max(0, Math.floor((least - 2) / 10) * 10);
  const x = linear([bottom, 100], [area.left, area.right]);
  const y = linear([bottom, 100], [area.bottom, area.top]);
  verticalAxis(root, area, y, ticks(bottom, 100, 5), { title: 'accuracy, %' });
  horizontalAxis(root, area, x, ticks(bottom, 100, 5), { title: 'confidence, %', grid: true });
  root.append(svg('line', { class: 'diagonal', x1: x(bottom), y1: y(bottom), x2: x(100), y2: y(100) }));
  const stops = drawLines(root, area, shown, (one) => one.reliability, x, y, ([sure, right]) => [{ label: 'confidence', value: `${percent(sure)} %` }, { label: 'accuracy', value: `${percent(right)} %` }]);
  keyOf(plot, shown.map((one) => ({ ...one, label: `${fullName(one)}, ECE ${percent(one.ece?.mean)}` })));
  explorable(plot, 'Reliability', stops, { point: ring(root) });
  dataTable(figure, ['method', 'bin', 'confidence', 'accuracy'], () => shown.flatMap((one) => one.reliability.map(([sure, right], bin) => [fullName(one), bin + 1, { value: sure, text: percent(sure) }, { value: right, text: percent(right) }])));
}

function drawRisk(figure, series, focus) {
  const plot = figure.querySelector('.plot');
  const shown = series.filter((one) => one.risks && focus.has(fullName(one)));
  noteUnder(figure, withoutProbabilities(series, focus, 'risks'));
  if (!shown.length) return nothingToDraw(figure, 'Risk against coverage', 'No method in colour gave probabilities.');
  const { root, width } = drawing(plot, 320, `Errors among the surest answers of ${shown.length} methods`);
  const area = { left: 44, right: width - 14, top: 26, bottom: 272 };
  const points = (one) => one.risks.map((risk, at) => [(100 * (at + 1)) / one.risks.length, risk]);
  const most = Math.max(1, ...shown.flatMap((one) => one.risks)) * 1.06;
  const x = linear([0, 100], [area.left, area.right]);
  const y = linear([0, most], [area.bottom, area.top]);
  verticalAxis(root, area, y, ticks(0, most, 5), { title: 'wrong, %' });
  horizontalAxis(root, area, x, ticks(0, 100, 5), { title: 'answers given, the surest first, %', grid: true });
  const stops = drawLines(root, area, shown, points, x, y, ([given, wrong]) => [{ label: 'answers given', value: `${percent(given)} %` }, { label: 'wrong', value: `${percent(wrong)} %` }]);
  keyOf(plot, shown.map((one) => ({ ...one, label: fullName(one) })));
  explorable(plot, 'Risk against coverage', stops, { point: ring(root) });
  const shares = points(shown[0]).map(([given]) => given);
  dataTable(figure, ['method', ...shares.map((given) => `${given} %`)], () => shown.map((one) => [fullName(one), ...one.risks.map((risk) => ({ value: risk, text: percent(risk) }))]));
}

// Who is in colour elsewhere and not here: a method that answers by distance, or a run that did not measure it.
function withoutProbabilities(series, focus, name) {
  const without = series.filter((one) => focus.has(fullName(one)) && !one[name]).map(fullName);
  if (!without.length || !series.some((one) => focus.has(fullName(one)) && one[name])) return '';
  return `Not measured in the runs of ${without.slice(0, 6).join(', ')}${without.length > 6 ? ` and ${without.length - 6} more` : ''}.`;
}

function drawLines(root, area, shown, points, x, y, facts) {
  const inside = clipped(root, area);
  return shown.flatMap((one) => {
    const places = points(one);
    inside.append(svg('path', { class: 'line', d: places.map(([a, b], at) => `${at ? 'L' : 'M'}${x(a)},${y(b)}`).join(''), style: `stroke:${colour(one.slot)};stroke-width:1.8`, 'stroke-dasharray': dash(one.inference), 'data-series': one.id }));
    return places.map(([a, b]) => {
      inside.append(mark(one.slot, x(a), y(b), 3.5));
      return { x: x(a), y: y(b), title: fullName(one), rows: facts([a, b]) };
    });
  });
}
