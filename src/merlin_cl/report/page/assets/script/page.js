// Puts the page together: one stream at a time, its figures drawn when it is shown and when its width changes.

let figures = JSON.parse(document.getElementById('figures').textContent);
let current = null;

function drawStream(id) {
  const stream = figures.streams.find((one) => one.id === id);
  const section = document.getElementById(id);
  const choices = choicesFor(stream);
  const radios = section.querySelector('[data-views]');
  if (stream.views.includes(choices.view)) radios.querySelector(`[value="${choices.view}"]`).checked = true;
  const view = radio(radios);
  choices.view = view;
  admit(stream, view);
  const redraw = () => drawFigures(section, stream, view);
  fillChips(section, stream, view, redraw);
  radios.onchange = () => {
    choices.view = radio(radios);
    drawStream(id);
  };
  section.querySelectorAll('[data-option], [data-against] input').forEach((input) => (input.onchange = redraw));
  redraw();
}

function drawFigures(section, stream, view) {
  hideTooltip();
  const series = shownSeries(stream, view);
  const labels = new Set(series.map((one) => one.label));
  const experiments = stream.experiments.filter((one) => labels.has(one.label));
  const draw = {
    curves: (figure) => drawCurves(figure, stream, series),
    matrix: (figure) => drawMatrix(figure, stream, series),
    forgetting: (figure) => drawForgetting(figure, stream, series),
    cost: (figure) => drawCost(figure, stream, series),
    time: (figure) => drawParts(figure, experiments, 'seconds', seconds),
    storage: (figure) => drawParts(figure, experiments, 'stored', size),
    losses: (figure) => drawLosses(figure, stream),
    latent: (figure) => drawLatent(figure, stream),
    diagnosis: (figure) => drawDiagnosis(figure, stream, stream.experiments.find((one) => one.label === figure.dataset.label)),
  };
  for (const figure of section.querySelectorAll('[data-plot]')) {
    draw[figure.dataset.plot](figure);
    figure.dataset.drawn = 'true';
  }
}

function begin(title) {
  fillSwatches(document);
  wireSorting();
  wireCopying();
  if (!figures.streams.length) return;
  const show = wireTabs((id) => {
    current = id;
    drawStream(id);
  });
  show(title);
}

// New results on a live page; the reader stays where he was.
function replace(fragment) {
  const title = figures.streams.find((one) => one.id === current)?.title;
  const [left, top, focused] = [window.scrollX, window.scrollY, document.activeElement?.id];
  const open = [...document.querySelectorAll('details')].map((details) => details.open);
  figures = fragment.figures;
  document.querySelector('h1').textContent = fragment.title;
  document.getElementById('main').innerHTML = fragment.main;
  begin(title);
  const all = [...document.querySelectorAll('details')];
  if (all.length === open.length) all.forEach((details, index) => (details.open = open[index]));
  window.scrollTo(left, top);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

wireTheme();
begin();
let width = window.innerWidth;
window.addEventListener('resize', () => {
  if (window.innerWidth === width) return; // a phone's address bar changes the height alone
  width = window.innerWidth;
  if (current) drawStream(current);
});
if (figures.live) goLive(figures.live, replace);
document.documentElement.dataset.ready = 'true';
