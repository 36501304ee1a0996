// What the reader chooses: stream, view, methods, theme; and commands to copy.

const MOST_AT_FIRST = 10;

// Choices by the title of the stream, so that they outlive a live page's new results.
const chosen = new Map();

function choicesFor(stream) {
  if (!chosen.has(stream.title)) chosen.set(stream.title, { hidden: new Set(), seen: new Set(), view: null });
  return chosen.get(stream.title);
}

const seriesOf = (stream, view) => stream.experiments.flatMap((experiment) => experiment.series).filter((one) => one.view === view);

function shownSeries(stream, view) {
  const { hidden } = choicesFor(stream);
  return seriesOf(stream, view).filter((one) => !hidden.has(fullName(one)));
}

// Series not seen before are shown while there are few: ours, the control, then the most accurate.
function admit(stream, view) {
  const { hidden, seen } = choicesFor(stream);
  const all = seriesOf(stream, view);
  const rank = (one) => (one.method === 'merlin' ? 300 : one.method === 'gdumb-ensemble' ? 200 : 0) + one.average.mean;
  const fresh = all.filter((one) => !seen.has(fullName(one))).sort((a, b) => rank(b) - rank(a));
  let room = MOST_AT_FIRST - all.filter((one) => seen.has(fullName(one)) && !hidden.has(fullName(one))).length;
  for (const one of fresh) {
    seen.add(fullName(one));
    if (room <= 0) hidden.add(fullName(one));
    room -= 1;
  }
}

function fillChips(section, stream, view, redraw) {
  const { hidden } = choicesFor(stream);
  const group = section.querySelector('[data-chips]');
  group.querySelectorAll('button').forEach((button) => button.remove());
  const all = seriesOf(stream, view);
  const button = (name, attributes, act, ...children) => {
    const made = html('button', { type: 'button', ...attributes }, ...children, name);
    made.onclick = act;
    return made;
  };
  for (const one of all) {
    const name = fullName(one);
    const chip = button(name, { class: 'chip', 'aria-pressed': String(!hidden.has(name)), 'data-series': one.id }, () => {
      if (hidden.has(name)) hidden.delete(name);
      else hidden.add(name);
      chip.setAttribute('aria-pressed', String(!hidden.has(name)));
      redraw();
    }, html('span', { class: 'swatch' }, swatch(one.slot, one.inference)));
    group.append(chip);
  }
  if (all.length < 3) return;
  const every = (act) => () => {
    all.forEach((one) => act(fullName(one)));
    fillChips(section, stream, view, redraw);
    redraw();
  };
  group.append(button('all', { class: 'button', 'data-all': '' }, every((name) => hidden.delete(name))));
  group.append(button('none', { class: 'button', 'data-none': '' }, every((name) => hidden.add(name))));
}

function wireTabs(show) {
  const tabs = [...document.querySelectorAll('[role="tab"]')];
  const select = (tab, focus) => {
    for (const each of tabs) {
      each.setAttribute('aria-selected', String(each === tab));
      each.tabIndex = each === tab ? 0 : -1;
      document.getElementById(each.getAttribute('aria-controls')).hidden = each !== tab;
    }
    const panel = tab.getAttribute('aria-controls');
    document.querySelectorAll('[data-jump]').forEach((link) => {
      link.href = `#${panel}-${link.dataset.jump}`;
      link.hidden = !document.getElementById(`${panel}-${link.dataset.jump}`);
    });
    if (focus) tab.focus();
    show(panel);
  };
  tabs.forEach((tab, index) => {
    tab.onclick = () => select(tab, false);
    tab.onkeydown = (event) => {
      const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      select(tabs[(to + tabs.length) % tabs.length], true);
    };
  });
  return (title) => select(tabs.find((tab) => tab.textContent === title) ?? tabs[0], false);
}

function wireTheme() {
  const button = document.getElementById('theme');
  const themes = ['auto', 'light', 'dark'];
  const remembered = (value) => {
    try {
      if (value === undefined) return window.localStorage.getItem('merlin-theme');
      window.localStorage.setItem('merlin-theme', value);
    } catch {
      // A browser that keeps nothing for files still shows the theme.
    }
    return value;
  };
  const apply = (theme) => {
    document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme === 'auto' ? 'as the system' : theme}`;
  };
  apply(themes.includes(remembered()) ? remembered() : 'auto');
  button.onclick = () => {
    const next = themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length];
    remembered(next);
    apply(next);
  };
}

function wireCopying() {
  document.querySelectorAll('[data-copy]').forEach((button) => {
    button.onclick = async () => {
      const command = button.parentElement.querySelector('pre');
      try {
        await navigator.clipboard.writeText(command.textContent);
        button.textContent = 'Copied';
      } catch {
        window.getSelection().selectAllChildren(command);
        button.textContent = 'Selected';
      }
      setTimeout(() => (button.textContent = 'Copy'), 2000);
    };
  });
}
