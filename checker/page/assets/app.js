// The page: one object of data, one path and one step chosen, the choice kept in the address.

let data = JSON.parse(document.getElementById("data").textContent);
const TABS = [
  ["state", "State"],
  ["lanes", "Lanes"],
  ["table", "By role"],
];
const view = { trace: 0, step: 0, tab: "state", whole: false, side: 0 };
const list = new PathList((at) => choose({ step: at, side: 0 }));
const other = new PathList((at) => choose({ step: at, side: 1 }));
const panel = h("div.panel", { role: "tabpanel", id: "panel" });
const title = h("div.pathhead");
const why = h("div.why");
const stepper = h("div.stepper");
const status = h("p.status", { role: "status" });
const tabs = h("div.tabs", { role: "tablist", "aria-label": "views of the path" });
const help = h("dialog.help", { "aria-label": "keys" });
const sides = h("div.sides", { role: "group", "aria-label": "whose states are shown" });
const box = h("div.explore");
const current = () => data.traces[view.trace];
const shown = () => (view.side && current().beside) || current();
const nameOf = (path) => path.title || path.trace.property;
const last = (path) => Math.max(path.steps.length, path.beside ? path.beside.steps.length : 0);
let live = null;
let choices = null;
let graph = null;
let drawn = {};

const address = () => new URLSearchParams(location.hash.slice(1));
const within = (at) => Math.min(Math.max(0, at | 0), last(current()));

function readAddress() {
  const asked = address();
  view.trace = Math.max(0, data.traces.findIndex((path) => nameOf(path) === asked.get("trace")));
  if (current()) view.step = within(asked.has("step") ? Number(asked.get("step")) : current().steps.length);
  if (TABS.some(([name]) => name === asked.get("view"))) view.tab = asked.get("view");
  view.side = asked.get("side") === "1" ? 1 : 0;
}

function writeAddress(push) {
  const path = current();
  const asked = new URLSearchParams(live ? { path: pathText(path.path) } : { trace: nameOf(path) });
  if (view.side) asked.set("side", view.side);
  asked.set("step", view.step);
  asked.set("view", view.tab);
  for (const text of live ? live.watched : []) asked.append("watch", text);
  const text = "#" + asked;
  if (text === location.hash) return;
  try {
    if (push) history.pushState(null, "", text);
    else history.replaceState(null, "", text);
  } catch {
    // within a frame of a notebook there is no address
  }
}

function choose(change, push) {
  Object.assign(view, change);
  view.step = within(view.step);
  if (!current().beside) view.side = 0;
  writeAddress(push);
  draw();
}

function saidOf(path) {
  const { trace, witness, beside } = path;
  if (live) return "each state is made when it is looked at";
  if (path.title) return beside ? `${path.side} beside ${beside.side}` : path.side;
  const way = trace.loop === null ? plural(trace.length, "step") : `${plural(trace.loop, "step")}, then ${plural(trace.length - trace.loop, "step")} for ever`;
  return `${data.kinds[trace.kind] || trace.kind} · ${witness ? "reached by" : "counterexample of"} ${way}`;
}

function drawHead() {
  const path = current();
  const option = (one, i) => h("option", { selected: i === view.trace }, one.title || `${one.trace.property} (${one.witness ? "witness" : "counterexample"})`);
  const turn = (event) => choose({ trace: event.target.selectedIndex, step: 1e9, side: 0 });
  const select = h("select", { "aria-label": "path shown", onchange: turn }, data.traces.map(option));
  fill(title, h("div", null, h("h2", null, live ? "Exploring" : nameOf(path)), h("p.dim", null, saidOf(path))), data.traces.length > 1 ? select : null);
  fill(why, path.why.length ? reportLines(path.why) : null);
  const one = [path.beside ? h("h3", null, path.side) : null, list.element];
  const two = path.beside ? h("div.left", null, h("div.pathbox", null, h("h3", null, path.beside.side), other.element)) : null;
  const left = h("div.left" + (live ? ".live" : ""), null, h("div.pathbox", null, one), live ? choices.element : null);
  box.classList.toggle("pair", Boolean(path.beside));
  fill(box, left, two, h("div.right", null, h("div.head", null, tabs, sides, stepper), panel));
}

function drawSides() {
  const path = current();
  const button = (one, i) => h("button", { "aria-pressed": String(view.side === i), onclick: () => choose({ side: i }) }, one.side);
  fill(sides, path.beside ? [path, path.beside].map(button) : null);
}

function drawTabs() {
  fill(
    tabs,
    TABS.map(([name, text]) =>
      h("button", { role: "tab", id: "tab-" + name, "aria-controls": "panel", "aria-selected": String(view.tab === name), onclick: () => choose({ tab: name }) }, text),
    ),
  );
  panel.setAttribute("aria-labelledby", "tab-" + view.tab);
}

function drawPanel() {
  const path = shown();
  if (drawn.side !== view.side) drawn.panel = "";
  drawn.side = view.side;
  const select = (at) => choose({ step: at });
  const watched = live ? watchList(live.rows || [], view.step, (i) => watch(live.watched.filter((_, n) => n !== i))) : null;
  if (view.tab === "state") fill(panel, watched, stateTree(path, view.step));
  if (view.tab === "graph") {
    if (drawn.panel !== "graph") fill(panel, graph.element);
    graph.show(prefix(path.path, view.step));
  }
  if (view.tab === "lanes" && drawn.panel !== "lanes") fill(panel, lanesOf(path, select));
  if (view.tab === "table" && (drawn.panel !== "table" || Math.abs(view.step - drawn.middle) > WINDOW)) {
    drawn.middle = view.step;
    const turn = () => {
      drawn.panel = "";
      choose({ whole: !view.whole });
    };
    const toggle = h("label.toggle", null, h("input", { type: "checkbox", checked: view.whole, onchange: turn }), "whole states");
    fill(panel, toggle, roleTable(path, view.whole, select, view.step));
  }
  drawn.panel = view.tab;
  for (const one of panel.querySelectorAll("[data-step]")) {
    const here = Number(one.dataset.step) === view.step;
    one.classList.toggle("here", here);
    if (here) reveal(one, one.closest(".scroll"));
  }
}

function draw() {
  const path = current();
  if (drawn.path !== path) {
    drawn = { path };
    list.show(path);
    if (path.beside) other.show(path.beside);
    drawHead();
    if (list.all) unfoldAll(true);
  }
  list.mark(view.step);
  if (path.beside) other.mark(Math.min(view.step, path.beside.steps.length));
  const end = last(path);
  const turn = (word, by, sign, off) => h("button", { "aria-label": word, disabled: off, onclick: () => choose({ step: view.step + by }) }, sign);
  fill(stepper, turn("previous step", -1, "‹", view.step === 0), h("span", null, `step ${view.step} of ${end}`), turn("next step", 1, "›", view.step === end));
  drawTabs();
  drawSides();
  drawPanel();
  if (live) choices.show(prefix(path.path, view.step), path.path[1][view.step]);
}

function unfoldAll(open) {
  list.unfoldAll(open);
  if (current().beside) other.unfoldAll(open);
}

// Go along another path, as a person chose it or as the address says.
async function go(path, step, push = true) {
  try {
    data.traces = [await live.path(path)];
    if (push) say("");
    live.rows = [];
    choose({ trace: 0, step }, push);
    await watch(live.watched);
  } catch (error) {
    say(error.message);
  }
}

function say(text) {
  fill(status, text);
}

async function watch(texts) {
  live.watched = texts;
  try {
    live.rows = texts.length ? (await live.ask("watch", { path: current().path, expressions: texts })).watched : [];
  } catch (error) {
    say(error.message);
  }
  writeAddress();
  drawPanel();
}

const KEYS = [
  ["j ↓ →", "next step", ["j", "ArrowDown", "ArrowRight"], () => choose({ step: view.step + 1 })],
  ["k ↑ ←", "previous step", ["k", "ArrowUp", "ArrowLeft"], () => choose({ step: view.step - 1 })],
  ["Home", "first state", ["Home"], () => choose({ step: 0 })],
  ["End", "last state", ["End"], () => choose({ step: 1e9 })],
  ["d", "unfold all changes, or fold them", ["d"], () => unfoldAll(!list.all)],
  ["s", "state", ["s"], () => choose({ tab: "state" })],
  ["l", "lanes", ["l"], () => choose({ tab: "lanes" })],
  ["t", "by role", ["t"], () => choose({ tab: "table" })],
  ["?", "these keys", ["?"], () => (help.open ? help.close() : help.showModal())],
];
const PAGE_KEYS = [["n", "next path", ["n"], () => choose({ trace: (view.trace + 1) % data.traces.length, step: 1e9, side: 0 })]];
const LIVE_KEYS = [
  ["1 … 9", "take a step", [..."123456789"], (key) => choices.take(Number(key) - 1)],
  ["g", "graph of the states around", ["g"], () => choose({ tab: "graph" })],
  ["b", "back to where you were", ["b"], () => history.back()],
  ["/", "find a state", ["/"], () => choices.finder.focus()],
];
const keys = () => [...KEYS, ...(live ? LIVE_KEYS : PAGE_KEYS)];

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !current()) return;
  if (event.key === "Escape") document.activeElement.blur();
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  const found = keys().find(([, , known]) => known.includes(event.key));
  if (!found || (help.open && event.key !== "?")) return;
  event.preventDefault();
  found[3](event.key);
}

function onAddress() {
  const path = live && textPath(address().get("path") || "");
  if (path && !same(path, current().path)) {
    live.watched = address().getAll("watch");
    go(path, Number(address().get("step")), false);
    return;
  }
  readAddress();
  draw();
}

function frame() {
  document.title = `${data.spec} · statewalk`;
  const constants = data.constants.map(([name, value]) => h("span.constant", null, h("span.dim", null, name), " ", value));
  const listed = constants.length ? h("details.constants", null, h("summary", null, plural(constants.length, "constant")), h("div", null, constants)) : null;
  const open = h("button.keys", { onclick: () => help.showModal(), "aria-label": "keys" }, "?");
  const close = h("form", { method: "dialog" }, h("button", null, "Close"));
  fill(help, h("h2", null, "Keys"), h("dl", null, keys().map(([shown, what]) => [h("dt", null, shown), h("dd", null, what)])), close);
  const main = h("main");
  document.body.append(h("header.top", null, h("span.brand", null, "statewalk"), h("span.spec", null, data.spec), listed, open), main, help);
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", onAddress);
  window.addEventListener("popstate", onAddress);
  window.addEventListener("beforeprint", () => current() && unfoldAll(true));
  return main;
}

const explored = () => [title, why, live ? status : null, box];

function startPage() {
  const main = frame();
  readAddress();
  const show = (at) => {
    choose({ trace: at, step: 1e9 });
    title.scrollIntoView({ behavior: "smooth" });
  };
  const wrong = data.result && ["violated", "error"].includes(data.result.verdict);
  const paths = current() ? explored() : null;
  add(main, data.result ? verdict(data) : data.compared ? comparedHead(data.compared) : null);
  add(main, wrong ? [paths, cards(data, show)] : [data.result ? cards(data, show) : null, paths]);
  if (data.compared) add(main, comparedCards(data));
  if (current()) draw();
}

async function startLive() {
  live = new Live(takeToken());
  choices = new Choices(live, go, say);
  choices.onwatch = watch;
  graph = new Around(live, go, say);
  TABS.push(["graph", "Graph"]);
  let first;
  try {
    data = await live.ask("start", {});
    live.watched = address().getAll("watch");
    const asked = textPath(address().get("path") || "");
    const tab = address().get("view");
    const step = asked ? Number(address().get("step")) : 1e9;
    if (TABS.some(([name]) => name === tab)) view.tab = tab;
    first = [asked || data.start, step];
  } catch (error) {
    document.body.append(h("main", null, h("h2", null, "There is nothing to explore"), h("p", null, error.message)));
    return;
  }
  add(frame(), explored());
  const hint = data.python ? "a Python expression with the spec's names, or a property" : "a property of the spec: " + data.properties.join(", ");
  fill(choices.hint, hint);
  await go(...first, false);
  if (!current()) await go(data.start, 1e9, false);
}

if (data.live) startLive();
else startPage();
