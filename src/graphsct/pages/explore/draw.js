// Shapes, scales and numbers, for all pictures.

function shape(tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Give a picture its height and its shapes; its units are pixels, so that letters keep their size.
// Handles in front of the shapes are not replaced, because they must keep the focus.
function fill(svg, height, shapes) {
  svg.setAttribute("viewBox", `0 0 ${svg.clientWidth} ${height}`);
  svg.setAttribute("height", height);
  if (!svg.querySelector(".still")) svg.prepend(shape("g", { class: "still" }));
  svg.firstChild.replaceChildren(...shapes);
}

const scale = ([from, to], [start, end]) => (value) =>
  start + ((value - from) / (to - from)) * (end - start);

const circle = (kind, r, [cx, cy]) => shape("circle", { class: kind, r, cx, cy });

function trace(kind, points) {
  const d = points.map((point) => point.map((v) => v.toFixed(2))).join("L");
  return shape("path", { class: `line ${kind}`, d: d && `M${d}` });
}

const line = (kind, [x1, y1], [x2, y2]) => shape("line", { class: kind, x1, y1, x2, y2 });

const letters = (text, x, y, kind = "") => shape("text", { class: kind, x, y }, text);

// Round numbers between two others.
function ticks(low, high) {
  const step = [1, 2, 5].find((size) => (high - low) / size <= 8);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => step * (first + i));
}

// "−0.50": a true minus, and no minus at zero.
function show(value, digits = 2) {
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) > 0 ? `−${text}` : text;
}

// "0.2": no more digits than are needed.
const brief = (value) => show(value).replace(/\.?0+$/, "");

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

// Replace the items of a list, but leave items whose text stays the same untouched.
function say(list, sentences) {
  while (list.children.length > sentences.length) list.lastChild.remove();
  sentences.forEach((sentence, i) => {
    const item = list.children[i] ?? list.appendChild(document.createElement("li"));
    if (item.textContent !== sentence) item.textContent = sentence;
  });
}
