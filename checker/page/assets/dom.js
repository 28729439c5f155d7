// Elements are made here and nowhere else. Texts become text nodes, never markup; what cannot be
// seen in them (control and format characters, halves of characters) is written as in JSON.

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

function visible(text) {
  return String(text).replace(UNSEEN, (c) => {
    if (c === "\n" || c === "\t") return c;
    return "\\u" + c.codePointAt(0).toString(16).padStart(4, "0");
  });
}

function add(parent, child) {
  if (child === null || child === undefined || child === false) return;
  if (Array.isArray(child)) child.forEach((one) => add(parent, one));
  else if (child instanceof Node) parent.append(child);
  else parent.append(document.createTextNode(visible(child)));
}

// An element: h("button.primary", {onclick: go, "aria-label": "next"}, "Next").
function h(kind, props, ...children) {
  const [tag, ...classes] = kind.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : visible(value));
  }
  add(element, children);
  return element;
}

const SHAPES = new Set(["svg", "g", "rect", "line", "path", "text", "title", "circle"]);

// A shape of a drawing: its tag, attributes and text.
function shape([tag, attributes, text]) {
  if (!SHAPES.has(tag)) throw new Error("no shape: " + tag);
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.append(document.createTextNode(visible(text)));
  return element;
}

function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

// Scroll a box so that something in it is seen, in that part of the box that the window shows; the
// page itself stays where it is.
function reveal(element, box) {
  const [inner, outer] = [element.getBoundingClientRect(), box.getBoundingClientRect()];
  const inWindow = outer.top < window.innerHeight && outer.bottom > 0;
  const top = inWindow ? Math.max(outer.top, 0) : outer.top;
  const bottom = inWindow ? Math.min(outer.bottom, window.innerHeight) : outer.bottom;
  if (inner.top < top) box.scrollTop -= top - inner.top + 40;
  else if (inner.bottom > bottom) box.scrollTop += Math.min(inner.bottom - bottom + 12, inner.top - top);
  const fixed = box.querySelector("tbody th, .gutter"); // it stays at the left of what is scrolled
  const left = outer.left + (fixed ? fixed.getBoundingClientRect().width : 0);
  const beside = inner.left < left || inner.right > outer.right;
  if (beside && inner.width < outer.width) box.scrollLeft += inner.left - left - Math.max(0, (outer.right - left - inner.width) / 2);
}

// What is not seen at first is made after the first painting, a little at a time.
const unfinished = new Set();

function afterwards(items, act) {
  let at = 0;
  const some = (until) => {
    while (at < items.length && performance.now() < until) act(items[at++]);
    if (at === items.length) unfinished.delete(some);
  };
  const turn = () => {
    if (!unfinished.has(some)) return;
    some(performance.now() + 8);
    setTimeout(turn);
  };
  unfinished.add(some);
  requestAnimationFrame(() => setTimeout(turn));
  return () => unfinished.delete(some);
}

const finish = () => unfinished.forEach((some) => some(Infinity));

const count = (n) => Number(n).toLocaleString("en");
const plural = (n, one) => count(n) + " " + (n === 1 ? one : one + "s");

// A text that may be broken into lines within its names and calls, too.
const soft = (text) => text.split(/(?<=[_.([=])(?=.)/).flatMap((part, i) => (i ? [h("wbr"), part] : [part]));

// A value, code or a path: only long words of it may be broken, where something begins in them.
function eased(text) {
  const parts = [];
  let from = 0;
  for (const word of text.matchAll(/\S{25,}/g)) {
    for (const mark of word[0].matchAll(/[([{=/](?=[^\s,)\]}]{8})/g)) {
      const to = word.index + mark.index + 1;
      parts.push(text.slice(from, to), h("wbr"));
      from = to;
    }
  }
  return [...parts, text.slice(from)];
}

// A value; what would fill a screen has a box of its own to scroll in.
function worded(text) {
  if (text.length < 1000) return h("span.value", null, eased(text));
  return h("span.value.long", { tabindex: "0", role: "group", "aria-label": "a long value" }, eased(text));
}

const LABEL = 16; // letters that a label at the beginning of a line takes at most

// Lines of the report: texts with their styles. What does not fit goes on below its own text.
function reportLines(lines) {
  const names = { "+": "plus", "-": "minus", "~": "tilde" };
  const told = (line) => {
    const words = line.map(([text, style]) => (style ? h("span." + (names[style] || style), null, eased(text)) : eased(text)));
    const element = h("span.told", null, words, "\n");
    const [head, indent] = /^( *)(?:\S+ {2,})?/.exec(line.map(([text]) => text).join(""));
    const by = head.length > LABEL ? indent.length : head.length;
    Object.assign(element.style, { paddingLeft: by + "ch", textIndent: -by + "ch" });
    return element;
  };
  return h("pre.report", null, lines.map(told));
}
