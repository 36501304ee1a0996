// What is wrong with the page as it is shown now: [[kind, what], ...]. Run by audit.py in a browser.
() => {
  const findings = [], add = (kind, what) => findings.push([kind, what.slice(0, 120)]);
  const named = (node) => `${node.tagName.toLowerCase()}${node.className && node.className.baseVal === undefined ? "." + node.className : ""}`;
  const seen = (node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });

  // Overflow of the page, and of figures' labels out of their drawing
  if (document.documentElement.scrollWidth > innerWidth) add("overflow", `the page is ${document.documentElement.scrollWidth} wide`);
  for (const drawing of document.querySelectorAll("svg.fig")) {
    if (!seen(drawing)) continue;
    const frame = drawing.getBoundingClientRect(), texts = [...drawing.querySelectorAll("text")].filter(seen);
    const boxes = texts.map((text) => text.getBoundingClientRect());
    boxes.forEach((box, at) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        add("label outside", texts[at].textContent);
      if (texts[at].getAttribute("transform")) return;
      for (let other = at + 1; other < boxes.length; other++) {
        if (texts[other].getAttribute("transform")) continue;
        const wide = Math.min(box.right, boxes[other].right) - Math.max(box.left, boxes[other].left);
        const high = Math.min(box.bottom, boxes[other].bottom) - Math.max(box.top, boxes[other].top);
        if (wide > 1 && high > 0.35 * box.height) add("labels overlap", `${texts[at].textContent} / ${texts[other].textContent}`);
      }
    });
  }

  // Contrast
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parsed = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = "#000"; canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const light = (colour) => colour.slice(0, 3).map((value) => value / 255)
    .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (one, other) => { const [a, b] = [light(one), light(other)].sort((x, y) => y - x); return (a + 0.05) / (b + 0.05); };
  const behind = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) {
      const colour = parsed(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const drawnBehind = (text) => {
    const was = text.getBoundingClientRect();
    if (was.right > innerWidth || was.left < 0) text.scrollIntoView({ block: "nearest", inline: "center", behavior: "instant" });
    const box = text.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
    const shapes = document.elementsFromPoint(x, y).filter((node) => /^(rect|path|circle|ellipse)$/.test(node.tagName));
    const fills = shapes.map((node) => { const style = getComputedStyle(node), colour = style.fill === "none" ? [0, 0, 0, 0] : parsed(style.fill); return [...colour.slice(0, 3), colour[3] * style.fillOpacity]; });
    return fills.reverse().reduce((below, top) => over(top, below), behind(text.closest("svg").parentElement));
  };
  const told = new Set();
  const judge = (node, ink, ground) => {
    const found = ratio(over(ink, ground), ground);
    const what = `${found.toFixed(2)} ${named(node)} “${node.textContent.trim().slice(0, 40)}”`;
    if (found < 4.5 && !told.has(what)) { told.add(what); add("contrast", what); }
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || /^(SCRIPT|STYLE|TITLE|NOSCRIPT)$/i.test(node.tagName) || !seen(node)) continue;
    const style = getComputedStyle(node), box = node.getBoundingClientRect();
    if (box.width < 2 || box.height < 2 || style.clipPath !== "none") continue;
    if (node.closest("svg")) {
      if (node.closest("svg.fig") && node.tagName === "text") judge(node, parsed(style.fill), drawnBehind(node));
    } else judge(node, parsed(style.color), behind(node));
  }
  for (const field of document.querySelectorAll("input[placeholder]"))
    if (seen(field)) judge(field, parsed(getComputedStyle(field, "::placeholder").color), behind(field));

  // Names, alternative texts, headings
  for (const control of document.querySelectorAll("a[href], button, input, select, summary")) {
    if (!seen(control)) continue;
    const name = control.getAttribute("aria-label") || control.textContent.trim() || control.labels?.[0]?.textContent.trim() || control.querySelector("[aria-label], img[alt]");
    if (!name) add("no name", control.outerHTML);
    const box = control.getBoundingClientRect();
    if (/^(BUTTON|INPUT|SELECT)$/.test(control.tagName) && (box.height < 20 || box.width < 20)) add("too small to touch", control.outerHTML);
  }
  for (const image of document.querySelectorAll("img")) if (!image.getAttribute("alt")) add("no alternative text", image.outerHTML);
  for (const image of document.querySelectorAll("img")) if (image.complete && !image.naturalWidth) add("image not there", image.src);
  for (const drawing of document.querySelectorAll("svg")) {
    if (drawing.getAttribute("aria-hidden") !== "true" && !drawing.getAttribute("aria-label")) add("no alternative text", drawing.outerHTML);
  }
  const heads = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(seen).map((head) => +head.tagName[1]);
  if (heads.filter((level) => level === 1).length !== 1) add("headings", `${heads.filter((level) => level === 1).length} of the first level`);
  heads.forEach((level, at) => { if (at && level > heads[at - 1] + 1) add("headings", `level ${level} follows level ${heads[at - 1]}`); });
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) add("an id twice", id);
  if (!document.title.trim()) add("no title", location.href);
  if (!document.documentElement.lang) add("no language", location.href);
  return findings;
}
