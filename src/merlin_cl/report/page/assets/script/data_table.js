// Every figure's numbers: as a real table, made when it is opened, and as a sheet to save.
// A cell is a text, an estimate { mean, low, high, std }, or a number with its text { value, text }.

const shownCell = (cell) => (cell === null || cell === undefined ? NOTHING : typeof cell === 'object' ? ('mean' in cell ? estimated(cell) : cell.text) : String(cell));

function dataTable(figure, columns, rows) {
  figure.sheet = () => ({ columns, rows: rows() });
  const details = figure.querySelector('details[data-table]');
  if (!details) return;
  const fill = () => {
    const head = html('tr', {}, ...columns.map((name, index) => html('th', { scope: 'col', class: index ? null : 'text' }, name)));
    const body = rows().map(([first, ...rest]) =>
      html('tr', {}, html('th', { scope: 'row' }, shownCell(first)), ...rest.map((value) => html('td', {}, shownCell(value)))),
    );
    const table = html('table', { class: 'data' }, html('thead', {}, head), html('tbody', {}, ...body));
    const label = figure.querySelector('h3')?.textContent ?? figure.getAttribute('aria-label') ?? 'Figure';
    details.querySelector('.scroll')?.remove();
    details.append(html('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `${label}, as a table` }, table));
  };
  details.ontoggle = () => details.open && fill();
  if (details.open) fill();
}
