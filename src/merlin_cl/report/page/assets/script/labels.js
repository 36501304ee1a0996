// Where names go: measured, so that none covers another or leaves its figure.

const measuring = document.createElement('canvas').getContext('2d');
let family = null;

function textWidth(text, size = 12, weight = 400) {
  family ??= getComputedStyle(document.body).fontFamily;
  measuring.font = `${weight} ${size}px ${family}`;
  return measuring.measureText(text).width + 1;
}

// As much of a text as a width has room for; the whole text is in the tooltip and in the table.
function shortened(text, width, size = 12, weight = 400) {
  if (textWidth(text, size, weight) <= width) return text;
  let kept = text.length - 1;
  while (kept > 1 && textWidth(`${text.slice(0, kept)}…`, size, weight) > width) kept -= 1;
  return `${text.slice(0, kept)}…`;
}

const overlapping = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

const DIRECTIONS = [[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [-1, -1], [1, 1], [-1, 1]];
const GAPS = [10, 22, 36, 52];

// Names beside their marks, the first ones first; further away, at the end of a thin line, where there is no room beside them.
// An item is { x, y, name, paint }; `marks` are the boxes of all marks, `lines` those of lines that names should not lie on.
// Returns the items that there is no room for.
function nameMarks(root, area, items, marks, lines) {
  const names = [];
  const fits = (box, from, obstacles) =>
    box.left >= area.left && box.right <= area.right && box.top >= area.top - 14 && box.bottom <= area.bottom &&
    !obstacles.some((other) => overlapping(box, other)) && !names.some((other) => crosses(from, nearest(box, from), other));
  return items.filter((item) => {
    const length = textWidth(item.name, 12, 600);
    const places = GAPS.flatMap((gap) => DIRECTIONS.map((direction) => boxBeside(item, length, direction, gap, area)));
    const obstacles = [...marks, ...names];
    const box = places.find((one) => fits(one, item, [...obstacles, ...lines])) ?? places.find((one) => fits(one, item, obstacles));
    if (!box) return true;
    names.push(box);
    const end = nearest(box, item);
    if (Math.hypot(end.x - item.x, end.y - item.y) > 14) root.append(svg('line', { class: 'leader', x1: item.x, y1: item.y, x2: end.x, y2: end.y }));
    root.append(svg('text', { class: 'name', x: box.left, y: box.top + 12, style: `fill:${item.paint}` }, item.name));
    return false;
  });
}

function boxBeside({ x, y }, length, [right, down], gap, area) {
  const above = Math.max(area.left, Math.min(x - length / 2, area.right - length));
  const left = right > 0 ? x + gap : right < 0 ? x - gap - length : above;
  const top = down > 0 ? y + gap : down < 0 ? y - gap - 15 : y - 7.5;
  return { left, right: left + length, top, bottom: top + 15 };
}

const nearest = (box, { x, y }) => ({ x: Math.max(box.left, Math.min(x, box.right)), y: Math.max(box.top, Math.min(y, box.bottom)) });

// Whether the line from one point to another passes through a box.
function crosses(from, to, box) {
  return Array.from({ length: 9 }, (_, step) => step / 8).some((share) => {
    const [x, y] = [from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)];
    return x > box.left && x < box.right && y > box.top && y < box.bottom;
  });
}

// What the colours of a figure stand for, as a list above it.
function keyOf(plot, entries) {
  const items = entries.map(({ slot, inference, label }) => html('li', {}, html('span', { class: 'swatch' }, swatch(slot, inference)), label));
  if (items.length) plot.prepend(html('ul', { class: 'key' }, ...items));
}

// What a reader has to know of a figure as it is drawn now; empty where there is nothing to say.
function noteUnder(figure, sentence) {
  const note = figure.querySelector('[data-note]');
  note.textContent = sentence;
  note.hidden = !sentence;
}

// A sentence in the place of a figure that has nothing to draw.
function nothingToDraw(figure, title, sentence) {
  const plot = figure.querySelector('.plot');
  const { root, width } = drawing(plot, 80, `${title}: ${sentence}`);
  root.append(svg('text', { x: width / 2, y: 44, 'text-anchor': 'middle' }, shortened(sentence, width - 8)));
  explorable(plot, title, [], { point: () => {} });
  dataTable(figure, ['method'], () => []);
}
