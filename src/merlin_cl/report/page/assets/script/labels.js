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

// Names beside their marks, the first ones first; left out where they would cover another name or a mark.
// An item is { x, y, name, paint, reach: [top, bottom] }; `marks` are the boxes of all marks.
function nameMarks(root, area, items, marks) {
  const taken = [...marks];
  for (const { x, y, name, paint, reach: [top, bottom] } of items) {
    const length = textWidth(name, 12, 600);
    const tries = [[x + 10, y - 7], [x - 10 - length, y - 7], [x - length / 2, Math.min(top, y) - 20], [x - length / 2, Math.max(bottom, y) + 7]];
    const found = tries
      .map(([left, above]) => ({ left, right: left + length, top: above, bottom: above + 15 }))
      .find((box) => box.left >= area.left && box.right <= area.right && box.top >= area.top - 14 && box.bottom <= area.bottom && !taken.some((other) => overlapping(box, other)));
    if (!found) continue;
    taken.push(found);
    root.append(svg('text', { class: 'name', x: found.left, y: found.top + 12, style: `fill:${paint}` }, name));
  }
}

// What the colours of a figure stand for, as a list above it.
function keyOf(plot, entries) {
  const items = entries.map(({ slot, inference, label }) => html('li', {}, html('span', { class: 'swatch' }, swatch(slot, inference)), label));
  plot.prepend(html('ul', { class: 'key' }, ...items));
}

// A sentence in the place of a figure that has nothing to draw.
function nothingToDraw(figure, title, sentence) {
  const plot = figure.querySelector('.plot');
  const { root, width } = drawing(plot, 80, `${title}: ${sentence}`);
  root.append(svg('text', { x: width / 2, y: 44, 'text-anchor': 'middle' }, shortened(sentence, width - 8)));
  explorable(plot, title, [], { point: () => {} });
  dataTable(figure, ['method'], () => []);
}
