// What the pointer or the arrow keys point at: shown beside it, and said to a screen reader.

const tooltip = document.getElementById('tooltip');
const spoken = document.getElementById('spoken');

function showTooltip({ title, rows }, x, y) {
  const lines = rows.map(({ slot, inference, label, value }) =>
    html('tr', {}, html('th', { scope: 'row' }, slot === undefined ? '' : html('span', { class: 'swatch' }, swatch(slot, inference)), label), html('td', {}, value)),
  );
  tooltip.replaceChildren(html('b', {}, title), html('table', {}, html('tbody', {}, ...lines)));
  tooltip.hidden = false;
  const box = tooltip.getBoundingClientRect();
  const left = x + 16 + box.width > window.innerWidth - 8 ? x - 16 - box.width : x + 16;
  tooltip.style.left = `${Math.max(8, Math.min(left, window.innerWidth - box.width - 8))}px`;
  tooltip.style.top = `${Math.max(8, Math.min(y - box.height / 2, window.innerHeight - box.height - 8))}px`;
}

function hideTooltip() {
  tooltip.hidden = true;
  follow = null;
}

// Puts the tooltip back beside what it is about while the page scrolls under it.
let follow = null;
window.addEventListener('scroll', () => follow?.(), { passive: true });

// Lets pointer and arrow keys visit the stops of a figure: { x, y, title, rows }, x and y in its own coordinates.
// `along` is true where stops follow each other from left to right. `point(stop)` marks the stop in the figure; `act(stop)` is what
// a click or Enter does. A stop's `near(y)` may add a row for what the pointer is closest to.
function explorable(plot, label, stops, { along = false, point, act = null }) {
  let current = -1;
  plot.tabIndex = 0;
  plot.setAttribute('role', 'group');
  plot.setAttribute('aria-label', `${label}. Arrow keys read the values${act ? ', Enter puts a method in colour' : ''}.`);

  const visit = (index, aloud, height = null) => {
    current = index;
    const stop = stops[index];
    point(stop);
    const extra = height !== null && stop.near ? stop.near(height) : null;
    follow = () => {
      const box = plot.querySelector('svg[role=img]').getBoundingClientRect();
      showTooltip(extra ? { ...stop, rows: [extra, ...stop.rows] } : stop, box.left + stop.x, box.top + stop.y);
    };
    follow();
    if (aloud) spoken.textContent = `${stop.title}: ${stop.rows.map((row) => `${row.label} ${row.value}`).join('; ')}`;
  };
  const leave = () => {
    current = -1;
    point(null);
    hideTooltip();
  };

  plot.onpointermove = (event) => {
    if (!stops.length) return;
    const box = plot.querySelector('svg[role=img]').getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const far = (stop) => Math.abs(stop.x - x) + (along ? 0 : Math.abs(stop.y - y));
    visit(stops.reduce((best, stop, index) => (far(stop) < far(stops[best]) ? index : best), 0), false, y);
  };
  plot.onpointerdown = plot.onpointermove;
  plot.onpointerleave = leave;
  plot.onblur = leave;
  plot.onclick = () => act && current >= 0 && act(stops[current]);
  plot.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (event.key === 'Escape') leave();
    else if (!stops.length) return;
    else if (step) visit(current < 0 ? (step > 0 ? 0 : stops.length - 1) : (current + step + stops.length) % stops.length, true);
    else if (event.key === 'Home') visit(0, true);
    else if (event.key === 'End') visit(stops.length - 1, true);
    else if (event.key === 'Enter' && act && current >= 0) act(stops[current]);
    else return;
    event.preventDefault();
  };
}
