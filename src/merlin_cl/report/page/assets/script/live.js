// A page served by `merlin watch`: asks for progress every few seconds and takes over new results when there are any.

const EVERY = 2000;

function goLive(version, replace) {
  const badge = document.getElementById('live');
  let known = version;
  const ask = async () => {
    try {
      const answer = await (await fetch('live')).json();
      drawProgress(answer.progress);
      if (answer.version !== known) {
        replace(await (await fetch('fragment')).json());
        drawProgress(answer.progress);
        known = answer.version;
      }
      badge.classList.remove('lost');
      badge.textContent = `live, ${new Date().toLocaleTimeString()}`;
    } catch {
      badge.classList.add('lost');
      badge.textContent = 'no answer; is merlin watch still running?';
    }
    setTimeout(ask, EVERY);
  };
  ask();
}

const TONES = { running: 'good', finished: 'good', failed: 'bad', interrupted: 'mixed', stopped: 'mixed' };
const ORDER = ['running', 'failed', 'interrupted', 'stopped', 'finished'];

// Only what changes is replaced, so that a reader's focus stays where it is.
function drawProgress({ runs, grids }) {
  const body = document.getElementById('progress-body');
  if (!body.children.length) body.append(html('div', { 'data-grids': '' }), progressTable('at work'), finishedRuns());
  body.querySelector('[data-grids]').replaceChildren(...grids.map(gridProgress), ...(runs.length ? [] : [html('p', {}, 'There are no runs here yet; they appear when they begin.')]));
  const sorted = [...runs].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  const [over, going] = [sorted.filter((run) => run.state === 'finished'), sorted.filter((run) => run.state !== 'finished')];
  const [upper, lower] = body.querySelectorAll('table');
  upper.tBodies[0].replaceChildren(...going.map(progressRow));
  lower.tBodies[0].replaceChildren(...over.map(progressRow));
  upper.parentElement.hidden = !going.length;
  titleOf(runs, grids);
  const details = body.querySelector('details');
  details.hidden = !over.length;
  details.firstElementChild.textContent = `${over.length} finished run${over.length === 1 ? '' : 's'}`;
}

// How far everything is, in the title of the page, where a tab in the background shows it: runs of a grid, or tasks of runs.
function titleOf(runs, grids) {
  const sum = (items, amount) => items.reduce((total, item) => total + amount(item), 0);
  const [done, total, what] = grids.length
    ? [sum(grids, (grid) => grid.done + grid.failed), sum(grids, (grid) => grid.total), 'runs']
    : [sum(runs, (run) => run.done), sum(runs, (run) => run.tasks), 'tasks'];
  document.title = `${total ? `(${done}/${total} ${what}) ` : ''}${figures.title} · merlin-cl`;
}

function gridProgress(grid) {
  const ended = grid.done + grid.failed;
  const counts = ['running', 'queued', 'failed'].filter((state) => grid[state]).map((state) => `${grid[state]} ${state}`);
  const text = [`Grid ${grid.name}: ${ended} of ${grid.total} runs ended`, ...counts, ...(grid.left === null || ended === grid.total ? [] : [`about ${duration(grid.left)} left`])].join(', ');
  return html(
    'div',
    { 'data-grid': grid.name },
    html('p', {}, html('b', {}, text)),
    html('progress', { max: Math.max(1, grid.total), value: ended, 'aria-label': text }),
    ...grid.failures.map((failure) => html('p', { class: 'bad' }, html('span', { class: 'state' }, `${failure.name} failed: `), failure.reason)),
  );
}

function progressTable(name) {
  const heads = ['run', 'state', 'progress', 'tasks', 'elapsed', 'left'].map((text, at) => html('th', { scope: 'col', class: at < 3 ? 'text' : null }, text));
  const table = html('table', { class: 'data' }, html('caption', { class: 'unseen' }, `Runs ${name}`), html('thead', {}, html('tr', {}, ...heads)), html('tbody'));
  return html('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Runs ${name}` }, table);
}

function finishedRuns() {
  return html('details', {}, html('summary', { id: 'finished-runs' }), progressTable('finished'));
}

function progressRow(run) {
  return html(
    'tr',
    { 'data-run': run.name },
    html('th', { scope: 'row' }, run.name),
    html('td', { class: `text ${TONES[run.state]}` }, html('span', { class: 'state' }, run.state), run.reason ? html('small', {}, run.reason) : null),
    html('td', { class: 'text' }, html('progress', { max: Math.max(1, run.tasks), value: run.done, 'aria-label': `${run.name}: ${run.done} of ${run.tasks} tasks` })),
    html('td', {}, `${run.done} of ${run.tasks}`),
    html('td', {}, duration(run.elapsed)),
    html('td', {}, run.left === null ? NOTHING : run.left < 1 ? 'any moment' : `about ${duration(run.left)}`),
  );
}
