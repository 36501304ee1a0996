// The frame of a figure: its drawing area, grid, axes and what they are called.

// An empty drawing as wide as its place on the page; `draw(root, width)` fills it.
function drawing(plot, height, label) {
  const width = Math.max(260, plot.clientWidth);
  const root = svg('svg', { viewBox: `0 0 ${width} ${height}`, height, role: 'img', 'aria-label': label });
  plot.replaceChildren(root);
  return { root, width };
}

function horizontalAxis(root, area, scale, values, { format = String, title = '', grid = false }) {
  for (const value of values) {
    const x = scale(value);
    if (grid) root.append(svg('line', { class: 'gridline', x1: x, x2: x, y1: area.top, y2: area.bottom }));
    root.append(svg('text', { x, y: area.bottom + 18, 'text-anchor': 'middle' }, format(value)));
  }
  root.append(svg('line', { class: 'axis', x1: area.left, x2: area.right, y1: area.bottom, y2: area.bottom }));
  if (title) root.append(svg('text', { x: (area.left + area.right) / 2, y: area.bottom + 36, 'text-anchor': 'middle' }, title));
}

function verticalAxis(root, area, scale, values, { format = String, title = '' }) {
  for (const value of values) {
    const y = scale(value);
    root.append(svg('line', { class: 'gridline', x1: area.left, x2: area.right, y1: y, y2: y }));
    root.append(svg('text', { x: area.left - 8, y: y + 4, 'text-anchor': 'end' }, format(value)));
  }
  if (title) root.append(svg('text', { x: area.left - 34, y: area.top - 12, class: 'strong' }, title));
}

// A whisker from the low to the high end of an interval.
function whisker(x, low, high, stroke) {
  return svg('path', { d: `M${x - 3},${low}h6M${x},${low}V${high}M${x - 3},${high}h6`, style: `stroke:${stroke}`, 'stroke-width': 1.3, fill: 'none' });
}

let clips = 0;

// Keeps what is put into it inside the drawing area, with some room for marks at its edge.
function clipped(root, area, room = 6) {
  clips += 1;
  const id = `clip-${clips}`;
  const shapes = svg('rect', { x: area.left - room, y: area.top - room, width: area.right - area.left + 2 * room, height: area.bottom - area.top + 2 * room });
  const group = svg('g', { 'clip-path': `url(#${id})` });
  root.append(svg('clipPath', { id }, shapes), group);
  return group;
}

// The numbers of tasks under an axis, and what they are called where there is room.
function taskTicks(tasks, width) {
  const every = Math.ceil((tasks * 26) / width);
  return Array.from({ length: tasks }, (_, task) => task + 1).filter((task) => (task - 1) % every === 0);
}
