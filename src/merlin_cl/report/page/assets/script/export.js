// Saves a figure: as it is drawn (SVG), its numbers (CSV), a table for a paper (LaTeX), or the address of the page as it is now.

const COPIED_STYLES = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin', 'opacity', 'visibility', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'paint-order'];

function wireExports(address) {
  document.querySelectorAll('[data-export]').forEach((button) => {
    button.onclick = async () => {
      const figure = button.closest('figure');
      const kind = button.dataset.export;
      const name = figureName(figure);
      if (kind === 'svg') save(`${name}.svg`, 'image/svg+xml', figureAsSvg(figure));
      else if (kind === 'csv') save(`${name}.csv`, 'text/csv', asCsv(figure.sheet()));
      else if (kind === 'latex') save(`${name}.tex`, 'application/x-tex', asLatex(figure.sheet(), figureTitle(figure)));
      else await copyLink(address(figure.id));
      const text = button.textContent;
      button.textContent = kind === 'link' ? 'Copied' : 'Saved';
      setTimeout(() => (button.textContent = text), 1500);
    };
  });
}

const figureTitle = (figure) => figure.querySelector('h3')?.textContent ?? figure.getAttribute('aria-label');
const figureName = (figure) => `${figure.closest('section[role=tabpanel]')?.querySelector('h2').textContent ?? 'all streams'} ${figureTitle(figure)}`.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '');

function save(name, type, text) {
  const link = html('a', { href: URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function copyLink(address) {
  try {
    await navigator.clipboard.writeText(address);
  } catch {
    window.prompt('The address of this figure', address); // where the browser keeps the clipboard to itself
  }
}

// A copy that needs no style sheet: every element has the look it has on the page.
function figureAsSvg(figure) {
  const drawn = figure.querySelector('svg[role=img]');
  const body = drawn ? withLooks(drawn) : tablesAsSvg(figure);
  const [, , width, height] = body.getAttribute('viewBox').split(' ').map(Number);
  const key = drawn ? keyAsSvg(figure, width) : { group: svg('g'), height: 0 };
  const look = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
  const ink = getComputedStyle(document.body).color;
  const ground = getComputedStyle(figure.closest('.card') ?? document.body).backgroundColor;
  const top = 34 + key.height;
  const root = svg('svg', { xmlns: SVG_NAMESPACE, viewBox: `0 0 ${width} ${height + top}`, width, height: height + top, 'font-family': getComputedStyle(document.body).fontFamily });
  root.append(svg('rect', { width, height: height + top, fill: ground }), svg('text', { x: 8, y: 22, fill: ink, 'font-size': 15, 'font-weight': 600 }, figureTitle(figure)));
  key.group.setAttribute('transform', 'translate(8,32)');
  root.append(key.group);
  body.setAttribute('y', top);
  body.setAttribute('width', width);
  body.setAttribute('height', height);
  root.append(body);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(root)}`;
}

// A colour that was mixed, as every program that reads SVG knows it.
function plainColour(value) {
  if (!/^(color|oklch|oklab|lab|lch)\(/.test(value)) return value;
  const pot = html('canvas', { width: 1, height: 1 }).getContext('2d');
  pot.fillStyle = value;
  pot.fillRect(0, 0, 1, 1);
  return `rgb(${[...pot.getImageData(0, 0, 1, 1).data].slice(0, 3).join(', ')})`;
}

function withLooks(original) {
  const copy = original.cloneNode(true);
  const pairs = [[original, copy], ...[...original.querySelectorAll('*')].map((element, place) => [element, copy.querySelectorAll('*')[place]])];
  for (const [from, to] of pairs) {
    const style = getComputedStyle(from);
    to.removeAttribute('class');
    to.setAttribute('style', COPIED_STYLES.map((name) => `${name}:${plainColour(style.getPropertyValue(name))}`).join(';'));
  }
  return copy;
}

// The list above a figure, in lines.
function keyAsSvg(figure, width) {
  const group = svg('g');
  let [x, y] = [0, 0];
  for (const item of figure.querySelectorAll('.key li')) {
    const text = item.textContent;
    const length = 40 + textWidth(text, 12) + 14;
    if (x && x + length > width - 16) [x, y] = [0, y + 18];
    const mark = withLooks(item.querySelector('svg'));
    mark.setAttribute('x', x);
    mark.setAttribute('y', y);
    group.append(mark, svg('text', { x: x + 36, y: y + 11, 'font-size': 12, fill: getComputedStyle(item).color }, text));
    x += length;
  }
  return { group, height: group.children.length ? y + 22 : 0 };
}

// Tables whose cells are coloured, cell by cell as they stand on the page.
function tablesAsSvg(figure) {
  const tables = [...figure.querySelectorAll('table')].filter((table) => !table.closest('details') && table.offsetParent && !table.closest('.unfinished'));
  const boxes = tables.map((table) => table.getBoundingClientRect());
  const [left, top] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
  const [right, bottom] = [Math.max(...boxes.map((box) => box.right)), Math.max(...boxes.map((box) => box.bottom))];
  const root = svg('svg', { viewBox: `0 0 ${Math.ceil(right - left) + 16} ${Math.ceil(bottom - top) + 16}` });
  for (const cell of tables.flatMap((table) => [...table.querySelectorAll('th, td')])) {
    const box = cell.getBoundingClientRect();
    if (!box.width) continue;
    const style = getComputedStyle(cell);
    const [x, y] = [box.left - left + 8, box.top - top + 8];
    root.append(svg('rect', { x, y, width: box.width, height: box.height, fill: style.backgroundColor }));
    const start = style.textAlign === 'left' || style.textAlign === 'start';
    const anchor = start ? 'start' : style.textAlign === 'center' ? 'middle' : 'end';
    const at = start ? x + 4 : anchor === 'middle' ? x + box.width / 2 : x + box.width - 4;
    const small = cell.querySelector('small')?.textContent ?? '';
    const main = cell.textContent.replace(small, '').trim();
    const middle = y + box.height / 2;
    root.append(svg('text', { x: at, y: middle + (small ? -1 : 4), fill: style.color, 'font-size': 12, 'font-weight': style.fontWeight, 'text-anchor': anchor }, main));
    if (small) root.append(svg('text', { x: at, y: middle + 12, fill: style.color, 'font-size': 10, 'text-anchor': anchor }, small));
  }
  return root;
}

const isEstimate = (cell) => cell !== null && typeof cell === 'object' && 'mean' in cell;
const plain = (cell) => (cell === null || cell === undefined ? '' : typeof cell === 'object' ? (cell.value ?? '') : cell);

// One line a row; a column of estimates becomes four.
function asCsv({ columns, rows }) {
  const wide = columns.map((_, at) => rows.some((row) => isEstimate(row[at])));
  const quoted = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  const head = columns.flatMap((name, at) => (wide[at] ? [name, `${name} low`, `${name} high`, `${name} std`] : [name]));
  const body = rows.map((row) => columns.flatMap((_, at) => (wide[at] ? ['mean', 'low', 'high', 'std'].map((part) => row[at]?.[part] ?? '') : [plain(row[at])])));
  return [head, ...body].map((line) => line.map(quoted).join(',')).join('\n') + '\n';
}

// A tabular for the package booktabs, mean and standard deviation.
function asLatex({ columns, rows }, title) {
  const escaped = (text) => String(text).replace(/[\\&%$#_{}~^]/g, (sign) => ({ '\\': '\\textbackslash{}', '~': '\\textasciitilde{}', '^': '\\textasciicircum{}' })[sign] ?? `\\${sign}`).replaceAll('−', '--').replaceAll('±', '$\\pm$');
  const cell = (value) => (isEstimate(value) ? `$${value.mean.toFixed(2)}${value.std === null ? '' : ` \\pm ${value.std.toFixed(2)}`}$` : escaped(shownCell(value)));
  const lines = rows.map((row) => `${columns.map((_, at) => cell(row[at])).join(' & ')} \\\\`);
  return [`% ${title}; mean and standard deviation over seeds`, `\\begin{tabular}{l${'r'.repeat(columns.length - 1)}}`, '\\toprule', `${columns.map(escaped).join(' & ')} \\\\`, '\\midrule', ...lines, '\\bottomrule', '\\end{tabular}', ''].join('\n');
}
