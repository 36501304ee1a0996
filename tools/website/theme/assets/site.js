// Light and dark, the menu, copying, search, and the table of every row. No framework, and nothing that needs a server.
"use strict";
const root = document.documentElement, base = document.body.dataset.base || ".";
const $ = (what, where = document) => where.querySelector(what);
const $$ = (what, where = document) => [...where.querySelectorAll(what)];

$(".theme").addEventListener("click", () => {
  const dark = (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("merlin-theme", root.dataset.theme); } catch (e) { /* a page from disk may keep nothing */ }
});
$(".menu").addEventListener("click", (event) => {
  const open = document.body.classList.toggle("open");
  event.currentTarget.setAttribute("aria-expanded", open);
});

// Code that can be copied
for (const block of $$(".highlight")) {
  const button = document.createElement("button");
  button.className = "copy"; button.type = "button"; button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const text = $("code, pre", block).innerText;
    try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch (e) { button.textContent = "Select it"; }
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  });
  block.append(button);
}

// Search: the index is a script, so that it loads from a disk, too; it is fetched when somebody begins to search
const field = $("#find"), list = $("#found");
let sections = null, at = -1;
function load() {
  if (sections || $("#index")) return;
  const script = document.createElement("script");
  script.id = "index"; script.src = base + "/assets/search.js";
  script.onload = () => { sections = window.merlinSections; show(); };
  document.head.append(script);
}
const fold = (text) => text.toLowerCase().normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }[sign]));
function search(words) {
  const scored = [];
  for (const section of sections) {
    const title = fold(section.title), page = fold(section.page), body = fold(section.text);
    let score = 0;
    for (const word of words) {
      const inTitle = title.includes(word), inPage = page.includes(word), place = body.indexOf(word);
      if (!inTitle && !inPage && place < 0) { score = 0; break; }
      score += (title === word ? 40 : 0) + (inTitle ? 14 : 0) + (title.startsWith(word) ? 6 : 0) + (inPage ? 6 : 0);
      score += place < 0 ? 0 : 1 + Math.min(4, body.split(word).length - 1);
    }
    if (score) scored.push([score - (section.at.includes("#") ? 0.5 : 0), section]);
  }
  return scored.sort((one, other) => other[0] - one[0]).slice(0, 12).map((pair) => pair[1]);
}
function excerpt(text, words) {
  const place = Math.max(0, Math.min(...words.map((word) => { const found = fold(text).indexOf(word); return found < 0 ? 1e9 : found; })));
  const start = place > 1e8 ? 0 : Math.max(0, place - 50), part = text.slice(start, start + 150);
  let html = (start ? "… " : "") + escaped(part) + (start + 150 < text.length ? " …" : "");
  for (const word of words) html = html.replace(new RegExp("(" + word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + ")", "gi"), "<mark>$1</mark>");
  return html;
}
function show() {
  const words = fold(field.value).split(/\s+/).filter(Boolean);
  if (!words.length || !sections) { close(); return; }
  const hits = search(words);
  list.innerHTML = hits.length ? hits.map((hit) => `<a href="${base}/${hit.at}"><b>${escaped(hit.title)}</b>${hit.title === hit.page ? "" : ` <small>${escaped(hit.page)}</small>`}<small>${excerpt(hit.text, words)}</small></a>`).join("")
    : `<p>Nothing has ${escaped(words.join(" and "))}.</p>`;
  list.hidden = false; at = -1; field.setAttribute("aria-expanded", "true");
}
function close() { list.hidden = true; at = -1; field.setAttribute("aria-expanded", "false"); }
field.addEventListener("focus", load);
field.addEventListener("input", () => { load(); show(); });
field.addEventListener("keydown", (event) => {
  const links = $$("a", list);
  if (event.key === "Escape") { field.value = ""; close(); }
  if (event.key === "Enter" && links.length) location.href = links[Math.max(0, at)].href;
  if ((event.key === "ArrowDown" || event.key === "ArrowUp") && links.length) {
    event.preventDefault();
    at = (at + (event.key === "ArrowDown" ? 1 : -1) + links.length) % links.length;
    links.forEach((link, place) => link.classList.toggle("at", place === at));
    links[at].scrollIntoView({ block: "nearest" });
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) { event.preventDefault(); field.focus(); }
});
document.addEventListener("click", (event) => { if (!event.target.closest(".find")) close(); });

// The table of every row: filters are in the address, so that a link keeps them
const every = $(".every-row table");
if (every) {
  const rows = $$("tbody tr", every), controls = $$(".filters select, .filters input"), count = $(".filters output");
  const asked = new URLSearchParams(location.hash.startsWith("#?") ? location.hash.slice(2) : "");
  for (const control of controls) if (asked.has(control.name)) control.value = asked.get(control.name);
  const apply = () => {
    const chosen = Object.fromEntries(controls.map((control) => [control.name, fold(control.value)]));
    let shown = 0;
    for (const row of rows) {
      const keep = Object.entries(chosen).every(([name, value]) => !value || (name === "words"
        ? value.split(/\s+/).every((word) => fold(row.textContent).includes(word)) : fold(row.dataset[name]) === value));
      row.hidden = !keep; shown += keep;
    }
    count.textContent = `${shown} of ${rows.length} rows`;
    const kept = new URLSearchParams(controls.filter((control) => control.value).map((control) => [control.name, control.value])).toString();
    if (kept || location.hash.startsWith("#?")) history.replaceState(null, "", kept ? "#?" + kept : location.pathname);
  };
  controls.forEach((control) => control.addEventListener("input", apply));
  $$("th button", every).forEach((button) => button.addEventListener("click", () => {
    const head = button.closest("th"), place = [...head.parentNode.children].indexOf(head);
    const up = head.getAttribute("aria-sort") === "descending" || (head.dataset.first === "up" && !head.hasAttribute("aria-sort"));
    $$("th", every).forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const value = (row) => row.children[place].dataset.value ?? row.children[place].textContent.trim();
    rows.sort((one, other) => {
      const a = value(one), b = value(other);
      if (a === "" || b === "") return (a === "") - (b === "");
      const order = isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b;
      return up ? order : -order;
    });
    rows.forEach((row) => row.parentNode.append(row));
  }));
  apply();
}
