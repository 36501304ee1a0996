// What accuracy costs: bytes kept or CPU time, with the front of ranked methods that no other beats in both. Ceilings beat nobody.

function drawFront(figure, stream, series, focus, against) {
  const plot = figure.querySelector('.plot');
  const title = figure.querySelector('h3').textContent;
  const shown = series.filter((one) => one.finished && one.apart !== 'told the task' && one[against] > 0);
  if (!shown.length) return nothingToDraw(figure, title, series.some((one) => one.finished) ? 'No method states what it stores.' : 'No run is finished yet.');
  const { root, width } = drawing(plot, 320, `${title} of ${shown.length} methods`);
  const area = { left: 44, right: width - 12, top: 26, bottom: 272 };
  const [cheap, dear] = extent(shown.map((one) => one[against]));
  const domain = [cheap / 1.6, dear * 1.9];
  const format = against === 'stored' ? size : seconds;
  const x = logarithmic(domain, [area.left, area.right]);
  const means = shown.map((one) => ({ average: { ...one.average, low: null, high: null, each: null } }));
  const { scale: y, ticks: levels, title: measure } = accuracyScale(means, [], [area.bottom - 12, area.top + 8], 22);
  verticalAxis(root, area, y, levels, { title: measure.includes('log') ? 'A, % (logarithmic in the error)' : 'A, %' });
  horizontalAxis(root, area, x, fewTicks(logarithmicTicks(...domain), x, format), { format, title: against === 'stored' ? 'kept between tasks' : 'CPU time of a run', grid: true });
  const front = unbeaten(shown.filter((one) => one.rank !== null), against);
  root.append(svg('path', { class: 'front', d: front.map((one, index) => (index ? `H${x(one[against])}V${y(one.average.mean)}` : `M${x(one[against])},${y(one.average.mean)}`)).join('') + (front.length ? `H${area.right}` : '') }));
  const order = [...shown].sort((a, b) => focus.has(fullName(a)) - focus.has(fullName(b)));
  const stops = order.map((one) => {
    const [cx, cy] = [x(one[against]), y(one.average.mean)];
    const inColour = focus.has(fullName(one));
    const point = mark(one.slot, cx, cy, inColour ? 6 : 4.5);
    point.style.fill = one.apart === 'ceiling' ? 'var(--surface)' : inColour ? colour(one.slot) : 'var(--grey)';
    if (one.apart === 'ceiling') point.style.stroke = 'var(--ink)';
    point.dataset.front = String(front.includes(one));
    point.dataset.apart = one.apart;
    root.append(point);
    return { one, x: cx, y: cy, name: one.apart === 'ceiling' ? `${fullName(one)} (ceiling)` : fullName(one), paint: inColour ? nameColour(one.slot) : 'var(--muted)', title: fullName(one), rows: rankingFacts(one) };
  });
  const marks = stops.map(({ x: cx, y: cy }) => ({ left: cx - 7, right: cx + 7, top: cy - 7, bottom: cy + 7 }));
  const wanted = stops.filter(({ one }) => focus.has(fullName(one)) || front.includes(one) || one.apart === 'ceiling').sort((a, b) => focus.has(b.title) - focus.has(a.title));
  const left = nameMarks(root, area, wanted, marks, stepBoxes(front.map((one) => [x(one[against]), y(one.average.mean)]), area.right));
  keyOf(plot, left.filter(({ one }) => focus.has(fullName(one))).map(({ one }) => ({ ...one, label: fullName(one) })));
  explorable(plot, title, stops, { point: ring(root) });
  dataTable(figure, ['method', 'A', 'stored bytes', 'CPU seconds', 'on the front'], () => shown.map((one) => [fullName(one), one.average, { value: one.stored, text: storedSize(one.stored) }, { value: one.seconds, text: seconds(one.seconds) }, front.includes(one) ? 'yes' : one.apart === 'ceiling' ? 'ceiling' : 'no']));
}

// The boxes of a line that goes from point to point in steps, first across and then up, and on to the right.
function stepBoxes(points, right) {
  return points.flatMap(([px, py], at) => {
    const [nx, ny] = points[at + 1] ?? [right, py];
    return [{ left: px, right: nx, top: py - 2, bottom: py + 2 }, { left: nx - 2, right: nx + 2, top: Math.min(py, ny), bottom: Math.max(py, ny) }];
  });
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

// Ticks whose texts do not touch each other.
function fewTicks(values, x, format) {
  let last = -Infinity;
  return values.filter((value) => {
    const half = textWidth(format(value)) / 2;
    if (x(value) - half < last + 10) return false;
    last = x(value) + half;
    return true;
  });
}
