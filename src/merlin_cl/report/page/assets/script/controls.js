// What the reader chooses: stream, view, methods in colour, theme; and commands to copy.

const IN_COLOUR_AT_FIRST = 5;
const MANY = 16;
const FEW_ENOUGH = 100;

// Choices by the title of the stream, so that they outlive a live page's new results; `focus` is null until the reader chooses.
const chosen = new Map();

function choicesFor(stream) {
  if (!chosen.has(stream.title)) chosen.set(stream.title, { view: null, focus: null });
  return chosen.get(stream.title);
}

const seriesOf = (stream, view) => stream.experiments.flatMap((experiment) => experiment.series).filter((one) => one.view === view);

// What the reader chose; before that ours, the control and the best, and runs that are not finished where there is nothing else.
function focusOf(stream, view) {
  const { focus } = choicesFor(stream);
  return focus ?? usualFocus(stream, view);
}

function usualFocus(stream, view) {
  const all = seriesOf(stream, view);
  const ranked = all.filter((one) => one.rank !== null).sort((a, b) => a.rank - b.rank);
  const ours = ranked.find((one) => one.label === 'merlin');
  const control = ranked.find((one) => one.method === 'gdumb-ensemble');
  const others = [...ranked, ...all.filter((one) => !one.finished), ...all];
  return new Set([...new Set([ours, control, ...others].filter((one) => one).map(fullName))].slice(0, IN_COLOUR_AT_FIRST));
}

function fillChips(section, stream, view, redraw) {
  const group = section.querySelector('[data-chips]');
  const focused = document.activeElement?.dataset?.chip;
  group.querySelectorAll('button, input').forEach((each) => each.remove());
  const all = seriesOf(stream, view);
  const focus = focusOf(stream, view);
  section.querySelector('[data-chosen] summary').textContent = `Methods in colour (${all.filter((one) => focus.has(fullName(one))).length} of ${all.length})`;
  const details = section.querySelector('[data-chosen]');
  details.ontoggle = () => details.open && !group.querySelector('button') && fillChips(section, stream, view, redraw);
  if (!details.open && all.length > FEW_ENOUGH) return; // a thousand buttons are made when they are asked for
  const button = (name, attributes, act, ...children) => {
    const made = html('button', { type: 'button', ...attributes }, ...children, name);
    made.onclick = act;
    return made;
  };
  const choose = (names) => {
    choicesFor(stream).focus = names === null ? null : new Set(names);
    redraw();
  };
  const ordered = [...all].sort((a, b) => (a.rank ?? Infinity) - (b.rank ?? Infinity) || b.average.mean - a.average.mean);
  if (all.length > MANY) group.append(filterOf(group));
  for (const one of ordered) {
    const name = fullName(one);
    const chip = button(name, { class: 'chip', 'aria-pressed': String(focus.has(name)), 'data-chip': name }, () => choose(focus.has(name) ? [...focus].filter((each) => each !== name) : [...focus, name]), html('span', { class: 'swatch' }, swatch(one.slot, one.inference)));
    group.append(chip);
    if (focused === name) chip.focus({ preventScroll: true });
  }
  if (all.length < 3) return;
  group.append(
    button('all', { class: 'button', 'data-all': '' }, () => choose(all.map(fullName))),
    button('none', { class: 'button', 'data-none': '' }, () => choose([])),
    button('the first ones', { class: 'button', 'data-usual': '' }, () => choose(null)),
  );
}

// A field that leaves only the methods that have its text in their names.
function filterOf(group) {
  const field = html('input', { type: 'search', class: 'filter', placeholder: 'Find a method', 'aria-label': 'Find a method' });
  field.oninput = () => group.querySelectorAll('.chip').forEach((chip) => (chip.hidden = !chip.dataset.chip.toLowerCase().includes(field.value.toLowerCase())));
  return field;
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
    document.querySelector('[data-here]').textContent = tab.textContent;
    document.querySelectorAll('[data-jump]').forEach((link) => {
      link.href = `#${panel}-${link.dataset.jump}`;
      link.hidden = !document.getElementById(`${panel}-${link.dataset.jump}`);
    });
    document.querySelector('.bar').hidden = !document.querySelector('[data-jump]:not([hidden])');
    if (focus) tab.focus();
    tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
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
  return (title) => select(tabs.find((tab) => tab.dataset.title === title) ?? tabs[0], false);
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
