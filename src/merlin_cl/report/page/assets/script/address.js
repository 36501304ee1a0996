// The address keeps what the reader chose: tab, view, methods in colour, and the figure looked at.

function readAddress() {
  const said = new URLSearchParams(window.location.hash.slice(1));
  const on = said.get('on');
  return { stream: said.get('stream'), view: said.get('view'), on: on === null ? null : on.split('|').filter((name) => name), at: said.get('at') };
}

// The address of the page as it is now; `at` is the id of a figure or section.
function addressOf({ stream, view, on }, at) {
  const said = new URLSearchParams();
  if (stream) said.set('stream', stream);
  if (view) said.set('view', view);
  if (on) said.set('on', on.join('|'));
  if (at) said.set('at', at);
  return `${window.location.href.split('#')[0]}#${said}`;
}

function writeAddress(state, at) {
  try {
    window.history.replaceState(null, '', addressOf(state, at));
  } catch {
    // A browser that does not let a file change its address still shows the page.
  }
}
