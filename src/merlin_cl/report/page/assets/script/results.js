// The table of results: further columns and rows when they are asked for, and a sheet to save of the view that is shown.

const RESULT_ORDER = ['told the task', 'ceiling'];

function resultsSheet(figure, series) {
  const finished = series.filter((one) => one.finished).sort((a, b) => RESULT_ORDER.indexOf(a.apart) - RESULT_ORDER.indexOf(b.apart) || b.average.mean - a.average.mean);
  const number = (value, text) => (value === null || value === undefined ? null : { value, text: text ?? String(value) });
  const columns = ['method', 'answer', 'rank', 'A', 'above control', 'p (Holm)', 'stored bytes', 'seeds', 'paper', 'final', 'forgetting', 'NLL', 'ECE', 'exemplars', 'updates', 'CPU seconds'];
  dataTable(figure, columns, () =>
    finished.map((one) => [
      one.label,
      one.inference ?? '',
      one.rank ?? one.apart,
      one.average,
      number(one.above_control?.mean, percent(one.above_control?.mean)),
      number(one.above_control?.p, one.above_control?.p?.toFixed(3)),
      number(one.stored, storedSize(one.stored)),
      one.seeds.length,
      number(one.paper?.mean),
      one.final,
      one.forgetting,
      one.nll,
      one.ece,
      number(one.exemplars),
      number(one.updates),
      number(one.seconds, one.seconds === null ? null : seconds(one.seconds)),
    ]),
  );
}

// The first rows of a long table; a button brings the others.
function wireRows() {
  document.querySelectorAll('[data-rows]').forEach((button) => {
    const card = button.closest('[data-results]');
    const tell = () => (button.textContent = card.classList.contains('all-rows') ? 'First rows' : 'All rows');
    tell();
    button.onclick = () => {
      if (card.classList.toggle('all-rows')) fillSwatches(card, '.beyond');
      tell();
    };
  });
}

function wireColumns() {
  document.querySelectorAll('[data-columns]').forEach((button) => {
    button.onclick = () => {
      const wide = button.closest('[data-results]').classList.toggle('all-columns');
      button.setAttribute('aria-expanded', String(wide));
      button.textContent = wide ? 'Fewer columns' : 'More columns';
    };
  });
}
