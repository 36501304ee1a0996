// Accuracy matrices of two series side by side: real tables whose cells are coloured.

function drawMatrix(figure, stream, series) {
  const sides = [...figure.querySelectorAll('[data-side]')];
  const ours = Math.max(0, series.findIndex((one) => one.label === 'merlin'));
  const control = series.findIndex((one) => one.method === 'gdumb-ensemble');
  const usual = [ours, control >= 0 && control !== ours ? control : (ours + 1) % Math.max(1, series.length)];
  const chosen = sides.map((side, place) => {
    const select = side.querySelector('select');
    const before = series.findIndex((one) => one.id === select.value);
    select.replaceChildren(...series.map((one) => html('option', { value: one.id }, fullName(one))));
    select.selectedIndex = before >= 0 ? before : usual[place];
    select.onchange = () => drawMatrix(figure, stream, series);
    return series[select.selectedIndex];
  });
  sides[1].hidden = series.length < 2;
  const shown = chosen.filter((one) => one);
  const least = Math.min(100, ...shown.flatMap((one) => one.matrix.flat().filter((value) => value !== null)));
  const low = Math.min(90, Math.floor(least / 10) * 10);
  sides.forEach((side, place) => chosen[place] && side.querySelector('.scroll').replaceChildren(matrixTable(chosen[place], stream, low)));
  dataTable(figure, ['method', 'after task', ...Array.from({ length: stream.tasks }, (_, task) => `task ${task + 1}`)], () =>
    shown.flatMap((one) => one.matrix.map((row, after) => [fullName(one), after + 1, ...Array.from({ length: stream.tasks }, (_, task) => (row[task] === null || row[task] === undefined ? null : { value: row[task], text: percent(row[task]) }))])),
  );
  figure.querySelector('[data-low]').textContent = `${low} %`;
  figure.querySelector('[data-high]').textContent = '100 %';
  figure.querySelector('[data-ramp]').style.background = `linear-gradient(90deg, ${RAMP.join(',')})`;
}

function matrixTable(one, stream, low) {
  const tasks = one.matrix.length;
  const name = (task) => (stream.task_names?.[task] ? `task ${task + 1}, ${stream.task_names[task]}` : `task ${task + 1}`);
  const head = html('tr', {}, html('td', {}), ...Array.from({ length: tasks }, (_, task) => html('th', { scope: 'col', title: name(task) }, String(task + 1))));
  const rows = one.matrix.map((row, after) =>
    html(
      'tr',
      {},
      html('th', { scope: 'row' }, `after ${after + 1}`),
      ...row.map((value, task) => {
        if (value === null) return html('td', {});
        const paint = rampColour((value - low) / (100 - low));
        return html('td', { style: `background:rgb(${paint});color:${inkOn(paint)}`, title: `after task ${after + 1}, on ${name(task)}: ${percent(value)} %` }, value.toFixed(tasks > 12 ? 0 : 1));
      }),
    ),
  );
  return html('table', { class: 'matrix' }, html('caption', { class: 'unseen' }, `Accuracy matrix of ${fullName(one)}`), html('thead', {}, head), html('tbody', {}, ...rows));
}
