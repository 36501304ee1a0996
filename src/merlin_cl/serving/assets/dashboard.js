(() => {
"use strict";
const EVERY = 2000, NS = "http://www.w3.org/2000/svg", WIDTH = 400, HEIGHT = 140, LEFT = 56, BOTTOM = 22;
const percent = value => value === null ? "–" : `${(100 * value).toFixed(1)} %`;
const count = value => value.toLocaleString("en");
const thousandth = value => value === null ? null : 1000 * value;
const PLOTS = {
  accuracy: {lines: [["accuracy", point => point.accuracy], ["coverage", point => point.coverage]], top: 1, show: percent},
  classes: {lines: [["classes", point => point.classes], ["tasks", point => point.tasks]], show: count, whole: true},
  answers: {lines: [["answers a second", point => point.answers]], show: value => value.toFixed(0)},
  latency: {
    lines: [["median", point => thousandth(point.median)], ["99 of 100", point => thousandth(point.slowest)]],
    show: value => value.toFixed(1),
  },
};

const element = (name, attributes, text) => {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
};

function draw(figure, history, {lines, top, show, whole}) {
  const values = lines.map(([, of]) => history.map(of));
  const needed = Math.max(1e-9, ...values.flat().filter(value => value !== null)) * 1.1;
  const highest = top ?? (whole ? 2 * Math.ceil(needed / 2) : needed);
  const x = at => LEFT + (WIDTH - LEFT) * (history.length > 1 ? at / (history.length - 1) : 0);
  const y = value => (HEIGHT - BOTTOM) * (1 - value / highest) + 4;
  const said = lines.map(([name], at) => {
    const last = values[at].findLast(value => value !== null);
    return `${name} ${last === undefined ? "–" : show(last)}`;
  }).join(", ");
  const svg = element("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": said});
  for (const share of [0, 0.5, 1]) {
    svg.append(element("line", {class: "frame", x1: LEFT, x2: WIDTH, y1: y(share * highest), y2: y(share * highest)}));
    svg.append(element("text", {x: LEFT - 4, y: y(share * highest) + 4, "text-anchor": "end"}, show(share * highest)));
  }
  const seconds = history.length * 5;
  const ago = seconds < 120 ? `${seconds} seconds ago` : `${Math.round(seconds / 60)} minutes ago`;
  svg.append(element("text", {x: LEFT, y: HEIGHT}, ago));
  svg.append(element("text", {x: WIDTH, y: HEIGHT, "text-anchor": "end"}, "now"));
  values.forEach((series, at) => {
    let path = "", pen = "M";
    series.forEach((value, place) => {
      if (value === null) { pen = "M"; return; }
      path += `${pen}${x(place).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = "L";
    });
    if (path) svg.append(element("path", {class: at ? "second" : "first", d: path}));
  });
  const caption = document.createElement("figcaption");
  lines.forEach((_, at) => {
    const part = document.createElement("span");
    part.className = `key ${at ? "second" : "first"}`;
    part.textContent = said.split(", ")[at];
    caption.append(part);
  });
  figure.replaceChildren(svg, caption);
}

function change(card, {recent, before, changed}) {
  const shown = document.querySelector(`[data-card=${card}]`);
  if (before === null) { shown.textContent = "–"; return; }
  const points = 100 * (recent - before);
  shown.textContent = `${points >= 0 ? "+" : "−"}${Math.abs(points).toFixed(1)}${changed ? " drift" : ""}`;
  shown.className = changed ? (points < 0 ? "bad" : "good") : "";
}

function show(status) {
  const card = (name, text) => { document.querySelector(`[data-card=${name}]`).textContent = text; };
  card("accuracy", percent(status.accuracy.recent));
  change("accuracy-change", status.accuracy);
  card("coverage", percent(status.coverage.recent));
  card("confidence", percent(status.confidence.recent));
  change("confidence-change", status.confidence);
  for (const name of ["classes", "tasks", "learned", "waiting", "answered"]) card(name, count(status[name]));
  const times = [status.median_seconds, status.slowest_seconds];
  card("latency", times.map(value => value === null ? "–" : (1000 * value).toFixed(1)).join(" · "));
  const state = document.getElementById("state");
  state.className = status.learning ? "good" : "bad";
  state.textContent = `${status.method}, version ${status.version}: ` +
    (status.learning ? "answers and learns" : `answers, but does not learn: ${status.trouble}`);
  document.getElementById("refusal").textContent =
    status.last_refusal ? `Last refused: ${status.last_refusal}` : "";
  for (const [name, plot] of Object.entries(PLOTS))
    draw(document.querySelector(`[data-plot=${name}]`), status.history, plot);
}

async function ask() {
  const token = document.getElementById("token").value;
  const state = document.getElementById("state");
  try {
    const answer = await fetch("/status", {headers: token ? {Authorization: `Bearer ${token}`} : {}});
    document.getElementById("ask").hidden = answer.status !== 401 && !token;
    if (answer.ok) show(await answer.json());
    else { state.className = "bad"; state.textContent = (await answer.json()).error; }
  } catch {
    state.className = "bad";
    state.textContent = "The service does not answer.";
  }
  document.documentElement.dataset.ready = "";
  setTimeout(ask, EVERY);
}
document.getElementById("ask").addEventListener("submit", event => event.preventDefault());
ask();
})();
