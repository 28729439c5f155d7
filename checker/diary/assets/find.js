"use strict";
// Ranks the sections of all pages: words in titles and headings count more than words in the text.
const sections = JSON.parse(document.getElementById("sections").textContent);
const box = document.querySelector(".search");
const list = document.querySelector(".entries.found");
const MOST = 30;
box.hidden = false;

function hits(text, word) {
  const found = text.split(word).length - 1;
  return found ? 1 + Math.log(found) : 0;
}

function score(one, asked) {
  let sum = 0;
  for (const word of asked) {
    const own = 8 * hits(one.title.toLowerCase(), word) + 12 * hits(one.heading.toLowerCase(), word)
      + hits(one.low, word);
    if (!own) return 0;
    sum += own;
  }
  return sum;
}

function excerpt(one, asked) {
  const at = Math.max(0, Math.min(...asked.map((w) => one.low.indexOf(w)).filter((n) => n >= 0), 1e9));
  const from = at < 1e9 ? Math.max(0, at - 60) : 0;
  const paragraph = document.createElement("p");
  const text = `${from ? "…" : ""}${one.text.slice(from, from + 180)}…`;
  const words = asked.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  for (const part of text.split(new RegExp(`(${words})`, "i"))) {
    const marked = asked.includes(part.toLowerCase());
    const node = marked ? document.createElement("mark") : document.createTextNode(part);
    if (marked) node.textContent = part;
    paragraph.append(node);
  }
  return paragraph;
}

sections.forEach((one) => { one.low = one.text.toLowerCase(); });
box.querySelector("input").addEventListener("input", (event) => {
  const asked = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = asked.length ? sections.map((one) => [score(one, asked), one]).filter((x) => x[0]) : [];
  found.sort((a, b) => b[0] - a[0]);
  list.replaceChildren(...found.slice(0, MOST).map(([, one]) => {
    const row = document.createElement("li");
    const link = document.createElement("a");
    link.href = one.leads;
    link.textContent = one.heading ? `${one.title} › ${one.heading}` : one.title;
    row.append(link, excerpt(one, asked));
    return row;
  }));
  const shown = Math.min(found.length, MOST);
  box.querySelector("span").textContent = asked.length ? `${shown} of ${found.length} sections` : "";
});
