// Every figure's numbers as a real table, made when it is opened.

function dataTable(figure, columns, rows) {
  const details = figure.querySelector('details[data-table]');
  const fill = () => {
    const head = html('tr', {}, ...columns.map((name, index) => html('th', { scope: 'col', class: index ? null : 'text' }, name)));
    const body = rows().map(([first, ...rest]) =>
      html('tr', {}, html('th', { scope: 'row' }, first), ...rest.map((value) => html('td', {}, value))),
    );
    const table = html('table', { class: 'data' }, html('thead', {}, head), html('tbody', {}, ...body));
    const label = figure.querySelector('h3')?.textContent ?? 'Figure';
    details.querySelector('.scroll')?.remove();
    details.append(html('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `${label}, as a table` }, table));
  };
  details.ontoggle = () => details.open && fill();
  if (details.open) fill();
}
