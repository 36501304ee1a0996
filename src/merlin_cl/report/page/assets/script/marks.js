// How a series looks: a colour and a shape by its slot, a dash by its inference mode. The same everywhere on the page.

const COLOURS = 8;
const SHAPES = [
  (r) => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`, // circle
  (r) => `M${-r * 0.9},${-r * 0.9}h${r * 1.8}v${r * 1.8}h${-r * 1.8}z`, // square
  (r) => `M0,${-r * 1.25}L${r * 1.15},${r * 0.85}H${-r * 1.15}z`, // triangle
  (r) => `M0,${-r * 1.35}L${r * 1.35},0L0,${r * 1.35}L${-r * 1.35},0z`, // diamond
  (r) => `M0,${r * 1.25}L${r * 1.15},${-r * 0.85}H${-r * 1.15}z`, // triangle, point down
  (r) => `M${-r * 0.4},${-r * 1.2}h${r * 0.8}v${r * 0.8}h${r * 0.8}v${r * 0.8}h${-r * 0.8}v${r * 0.8}h${-r * 0.8}v${-r * 0.8}h${-r * 0.8}v${-r * 0.8}h${r * 0.8}z`, // plus
  (r) => `M${-r * 1.2},${-r * 0.6}h${r * 2.4}v${r * 1.2}h${-r * 2.4}z`, // bar
];
const DASHES = { aggregate: '7 4', aware: '2 3' };

const colour = (slot) => `var(--series-${slot % COLOURS})`;
const nameColour = (slot) => `var(--name-${slot % COLOURS})`; // of text
const dash = (inference) => DASHES[inference] ?? null;
const shape = (slot, radius) => SHAPES[slot % SHAPES.length](radius);

// A task among others: blue for the first, orange for the last; a number says the same.
const taskColour = (task, tasks) => `color-mix(in oklch, var(--name-1) ${tasks > 1 ? Math.round((100 * task) / (tasks - 1)) : 0}%, var(--name-0))`;

function mark(slot, x, y, radius = 4.5) {
  return svg('path', { class: 'mark', d: shape(slot, radius), transform: `translate(${x},${y})`, style: `fill:${colour(slot)}` });
}

function swatch(slot, inference) {
  return svg(
    'svg',
    { viewBox: '0 0 30 14', width: 30, height: 14, 'aria-hidden': 'true' },
    svg('line', { x1: 1, x2: 29, y1: 7, y2: 7, style: `stroke:${colour(slot)}`, 'stroke-width': 2.2, 'stroke-dasharray': dash(inference) }),
    mark(slot, 15, 7, 4),
  );
}

function fillSwatches(root, within = ':not(.beyond)') {
  for (const place of root.querySelectorAll(`${within} > * > .swatch[data-slot]`)) {
    place.replaceChildren(swatch(Number(place.dataset.slot), place.dataset.inference));
  }
}

// A dark-to-light ramp that looks the same to all eyes, for heat maps; from 0 to 1.
const RAMP = ['#00224e', '#2a3f6d', '#575d6d', '#7d7c78', '#a59c74', '#d2c060', '#fee838'];

function rampColour(share) {
  const place = Math.max(0, Math.min(1, share)) * (RAMP.length - 1);
  const at = Math.min(RAMP.length - 2, Math.floor(place));
  const [low, high] = [RAMP[at], RAMP[at + 1]].map((text) => [1, 3, 5].map((from) => parseInt(text.slice(from, from + 2), 16)));
  return low.map((value, channel) => Math.round(value + (high[channel] - value) * (place - at)));
}

// Black or white, whichever can be read on a colour.
function inkOn([red, green, blue]) {
  const light = [red, green, blue].map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.179 ? '#000' : '#fff';
}
