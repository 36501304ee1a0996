// What a careful eye would find on a page, measured: each function returns a list of findings, empty where all is well.

const shown = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== 'hidden';
const ownText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
const named = (element) => `${element.tagName} ${element.getAttribute('class') ?? ''}: ${element.textContent.trim().slice(0, 40)}`;

// Labels of figures outside their cards, or over each other.
function labels(section) {
  const found = [];
  for (const plot of document.querySelectorAll(`${section} .plot svg[role=img]`)) {
    const card = plot.closest('.card').getBoundingClientRect();
    const texts = [...plot.querySelectorAll('text')].filter((text) => shown(text) && text.textContent.trim()).map((text) => [text.textContent, text.getBoundingClientRect()]);
    const name = plot.getAttribute('aria-label');
    for (const [text, box] of texts) {
      if (box.left < card.left || box.right > card.right || box.bottom > card.bottom) found.push(`${name}: ${text} is outside`);
    }
    texts.forEach(([text, box], place) => texts.slice(place + 1).forEach(([other, beside]) => {
      const wide = Math.min(box.right, beside.right) - Math.max(box.left, beside.left);
      const high = Math.min(box.bottom, beside.bottom) - Math.max(box.top, beside.top);
      if (wide > 1 && high > 4) found.push(`${name}: ${text} covers ${other}`);
    }));
  }
  return found;
}

// Names that the line of the control or of the ceiling runs through.
function struck(section) {
  const found = [];
  for (const line of document.querySelectorAll(`${section} [data-line]`)) {
    const names = [...line.closest('svg').querySelectorAll('.row-name')].map((name) => [name.textContent, name.getBBox()]);
    for (let at = 0; at <= line.getTotalLength(); at += 2) {
      const { x, y } = line.getPointAtLength(at);
      const hit = names.find(([, box]) => x > box.x && x < box.x + box.width && y > box.y + 3 && y < box.y + box.height - 3);
      if (hit) found.push(`${line.dataset.line} runs through ${hit[0]}`);
    }
  }
  return [...new Set(found)];
}

// Text that is cut off, reaches over the edge of the screen, or is broken within a word.
function cut() {
  const found = [];
  for (const element of document.querySelectorAll('body *')) {
    if (!ownText(element) || !shown(element) || element.closest('svg, .unseen, script, style, .skip, select')) continue;
    const scrolled = element.closest('.scroll, .jumps, .tabs, pre, .many');
    const box = element.getBoundingClientRect();
    if (!scrolled && (box.left < -1 || box.right > document.documentElement.clientWidth + 1)) found.push(`over the edge: ${named(element)}`);
    const card = element.closest('.results tr');
    if (card && getComputedStyle(card).display === 'grid' && box.right > card.getBoundingClientRect().right) found.push(`outside its card: ${named(element)}`);
    if (getComputedStyle(element).overflowX === 'hidden' && element.scrollWidth > element.clientWidth + 1) found.push(`cut: ${named(element)}`);
    for (const node of element.childNodes) if (node.nodeType === 3) found.push(...broken(node));
  }
  return found;
}

// Words that begin on one line and end on another, elsewhere than at a hyphen or an underscore.
function broken(node) {
  const range = document.createRange();
  return [...node.textContent.matchAll(/[\p{L}\p{N}]{2,}/gu)].filter((word) => {
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    return new Set([...range.getClientRects()].filter((box) => box.width > 0).map((box) => Math.round(box.top))).size > 1;
  }).map((word) => `broken: ${word[0]} in ${node.textContent.trim().slice(0, 40)}`);
}

// Text, in figures too, that stands out from what it is drawn on by less than 4.5 to 1.
function faint() {
  const pot = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const channels = (colour) => {
    pot.clearRect(0, 0, 1, 1);
    pot.fillStyle = colour;
    pot.fillRect(0, 0, 1, 1);
    return [...pot.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const paint = channels(getComputedStyle(at).backgroundColor);
      if (paint[3] === 255) return paint;
    }
    return [255, 255, 255];
  };
  const behind = (text) => (text.previousElementSibling?.matches('circle.mark') ? channels(getComputedStyle(text.previousElementSibling).fill) : ground(text.closest('svg').parentElement));
  return [...document.querySelectorAll('body *')].filter((element) => {
    if (!ownText(element) || !shown(element) || element.closest('.unseen, script, style')) return false;
    const drawn = element.matches('svg text');
    if (!drawn && element.closest('svg')) return false;
    const style = getComputedStyle(element);
    const [a, b] = [light(channels(drawn ? style.fill : style.color)), light(drawn ? behind(element) : ground(element))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05) < 4.5;
  }).map(named);
}
