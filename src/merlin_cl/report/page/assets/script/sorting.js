// Tables that can be sorted by a column, each group of rows by itself.

function wireSorting() {
  document.querySelectorAll('table.sortable').forEach((table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      head.querySelector('button').onclick = () => {
        const descending = head.getAttribute('aria-sort') !== 'descending';
        heads.forEach((other) => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
        for (const body of table.tBodies) {
          const rows = [...body.rows].filter((row) => !row.classList.contains('view'));
          const beyond = rows.filter((row) => row.classList.contains('beyond')).length;
          body.append(...rows.sort((a, b) => compared(a.cells[column], b.cells[column]) * (descending ? -1 : 1)));
          rows.forEach((row, place) => row.classList.toggle('beyond', place >= rows.length - beyond));
        }
      };
    });
  });
}

// Numbers by value, words by the alphabet; what is missing counts as least.
function compared(first, second) {
  const [a, b] = [first, second].map((cell) => cell.dataset.value ?? cell.textContent.trim());
  const [x, y] = [a, b].map((text) => (text === '' || text === NOTHING ? -Infinity : Number.parseFloat(text.replace('−', '-'))));
  if (first.matches('th') || Number.isNaN(x) || Number.isNaN(y)) return a.localeCompare(b);
  return x === y ? 0 : x - y;
}
