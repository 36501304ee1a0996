// Puts the page together: one stream at a time, its figures drawn when it is shown and when its width changes.

// Estimates come as lists of their parts, those at the end left out where there is nothing to say.
function unpacked(value) {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(unpacked);
  if (value['~']) {
    const [mean, low = null, high = null, std = null, each = null] = value['~'];
    return { mean, low, high, std, each };
  }
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, unpacked(part)]));
}

let figures = unpacked(JSON.parse(document.getElementById('figures').textContent));
let current = null;

function drawStream(id) {
  const stream = figures.streams.find((one) => one.id === id);
  const section = document.getElementById(id);
  const choices = choicesFor(stream);
  const radios = section.querySelector('[data-views]');
  if (stream.views.includes(choices.view)) radios.querySelector(`[value="${choices.view}"]`).checked = true;
  const view = radio(radios);
  const redraw = () => {
    fillChips(section, stream, view, redraw);
    drawFigures(section, stream, view, redraw);
    remember();
  };
  section.querySelectorAll('[data-view]').forEach((part) => (part.hidden = part.dataset.view !== view));
  radios.onchange = () => {
    choices.view = radio(radios);
    drawStream(id);
  };
  section.querySelectorAll('[data-option]').forEach((input) => (input.onchange = redraw));
  redraw();
}

function drawFigures(section, stream, view, redraw) {
  hideTooltip();
  const series = seriesOf(stream, view);
  const focus = focusOf(stream, view);
  const toggle = (name) => {
    choicesFor(stream).focus = new Set(focus.has(name) ? [...focus].filter((one) => one !== name) : [...focus, name]);
    redraw();
  };
  const labels = new Set(series.filter((one) => focus.has(fullName(one))).map((one) => one.label));
  const experiments = stream.experiments.filter((one) => labels.has(one.label));
  const draw = {
    ranking: (figure) => drawRanking(figure, stream, series, focus, toggle),
    stored: (figure) => drawFront(figure, stream, series, focus, 'stored'),
    seconds: (figure) => drawFront(figure, stream, series, focus, 'seconds'),
    curves: (figure) => drawCurves(figure, stream, series, focus),
    reliability: (figure) => drawReliability(figure, series, focus),
    risk: (figure) => drawRisk(figure, series, focus),
    matrix: (figure) => drawMatrix(figure, stream, series),
    forgetting: (figure) => drawForgetting(figure, stream, series, focus),
    time: (figure) => drawParts(figure, experiments, 'seconds', seconds),
    storage: (figure) => drawParts(figure, experiments, 'stored', size),
    losses: (figure) => drawLosses(figure, stream),
    latent: (figure) => drawLatent(figure, stream),
    diagnosis: (figure) => drawDiagnosis(figure, stream, stream.experiments.find((one) => one.label === figure.dataset.label)),
  };
  resultsSheet(section.querySelector('[data-results]'), series);
  for (const figure of section.querySelectorAll('[data-plot]')) {
    draw[figure.dataset.plot](figure);
    figure.dataset.drawn = 'true';
  }
}

// What is about all streams together.
function drawTogether() {
  remember();
  for (const [plot, draw] of [['heat', drawHeat], ['ranks', (figure) => drawRanks(figure, figures.ranks)]]) {
    const figure = document.querySelector(`[data-plot=${plot}]`);
    if (!figure) continue;
    draw(figure);
    figure.dataset.drawn = 'true';
  }
}

// The choices of the stream that is shown, as the address has them.
function stateNow() {
  const stream = figures.streams.find((one) => one.id === current);
  if (!stream) return current === 'all' ? { stream: 'all' } : {};
  const { view, focus } = choicesFor(stream);
  return { stream: stream.title, view, on: focus && [...focus] };
}

const remember = () => writeAddress(stateNow(), null);

function begin(title) {
  fillSwatches(document);
  wireSorting();
  wireCopying();
  wireColumns();
  wireRows();
  wireExports((id) => addressOf(stateNow(), id));
  if (!figures.streams.length) return;
  const show = wireTabs((id) => {
    current = id;
    if (id === 'all') drawTogether();
    else drawStream(id);
  });
  show(title);
  document.querySelectorAll('[data-jump]').forEach((link) => {
    link.onclick = (event) => {
      event.preventDefault();
      const place = document.getElementById(link.hash.slice(1));
      place.scrollIntoView();
      writeAddress(stateNow(), place.id);
    };
  });
}

// What an address asks for: a link to a figure opens its tab, its view, its methods, and goes there.
function goTo({ stream, view, on, at }) {
  const wanted = figures.streams.find((one) => one.title === stream);
  if (wanted) {
    const choices = choicesFor(wanted);
    if (wanted.views.includes(view)) choices.view = view;
    if (on) choices.focus = new Set(on);
  }
  begin(stream === 'all' ? 'All streams' : wanted?.title);
  const place = at && document.getElementById(at);
  if (place) place.scrollIntoView();
}

// New results on a live page; the reader stays where he was.
function replace(fragment) {
  const title = current === 'all' ? 'All streams' : figures.streams.find((one) => one.id === current)?.title;
  const [left, top, focused] = [window.scrollX, window.scrollY, document.activeElement?.id];
  const open = [...document.querySelectorAll('details')].map((details) => details.open);
  const choosing = document.getElementById(current)?.querySelector('[data-chosen]')?.open ?? false;
  figures = unpacked(fragment.figures);
  document.getElementById('heading').textContent = fragment.heading;
  document.getElementById('main').innerHTML = fragment.main;
  begin(title);
  const all = [...document.querySelectorAll('details')];
  if (all.length === open.length) all.forEach((details, index) => (details.open = open[index]));
  const chips = document.getElementById(current)?.querySelector('[data-chosen]');
  if (chips) chips.open = choosing;
  window.scrollTo(left, top);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

wireTheme();
goTo(readAddress());
let width = window.innerWidth;
window.addEventListener('resize', () => {
  if (window.innerWidth === width) return; // a phone's address bar changes the height alone
  width = window.innerWidth;
  if (current === 'all') drawTogether();
  else if (current) drawStream(current);
});
if (figures.live) goLive(figures.live, replace);
document.documentElement.dataset.ready = 'true';
