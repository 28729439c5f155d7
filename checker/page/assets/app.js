// The page: one object of data, one path and one step chosen, the choice kept in the address.

let data = JSON.parse(document.getElementById("data").textContent);
const view = { trace: 0, step: 0, tab: "state", whole: false, side: 0, only: "", since: null };
const list = new PathList((at) => choose({ step: at, side: 0 }));
const other = new PathList((at) => choose({ step: at, side: 1 }));
const panel = h("div.panel", { role: "tabpanel", id: "panel" });
const title = h("div.pathhead");
const why = h("div.why");
const stepper = new Stepper((by) => choose({ step: view.step + by }));
const status = h("p.status", { role: "status" });
const tabs = new Tabs((tab) => choose({ tab }));
const help = h("dialog.help", { "aria-label": "keys" });
const sides = new Sides((side) => choose({ side }));
const third = h("aside.third", { "aria-label": "properties and paths" });
const box = h("div.explore");
const wide = window.matchMedia("(min-width: 1500px)");
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
  readView(asked);
  view.side = asked.get("side") === "1" ? 1 : 0;
}

// What of the address says how the path is shown.
function readView(asked) {
  if (hasTab(asked.get("view"))) view.tab = asked.get("view");
  view.only = asked.get("only") || "";
  view.since = asked.has("since") ? (asked.get("since") === "side" ? "side" : Number(asked.get("since")) | 0) : null;
  view.whole = asked.get("whole") === "1";
  if (!live) return;
  const { watch, by } = live.sift(asked);
  live.watched = watch;
  const unfolded = asked.getAll("unfold").map(textPath).filter(Boolean);
  Object.assign(graph, { depth: FAR.find((n) => n === Number(asked.get("within"))) || 2, by, unfolded, path: null });
}

function writeAddress(push) {
  const path = current();
  const asked = new URLSearchParams(live ? { path: pathText(path.path) } : { trace: nameOf(path) });
  if (view.side) asked.set("side", view.side);
  asked.set("step", view.step);
  asked.set("view", view.tab);
  if (view.only) asked.set("only", view.only);
  if (view.since !== null) asked.set("since", view.since);
  if (view.whole) asked.set("whole", "1");
  if (graph && graph.depth !== 2) asked.set("within", graph.depth);
  if (graph && graph.by) asked.set("by", graph.by);
  for (const one of graph ? graph.unfolded : []) asked.append("unfold", pathText(one));
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
  if (!current().beside) {
    view.side = 0;
    if (view.since === "side") view.since = null;
  }
  writeAddress(push);
  draw();
}

function saidOf(path) {
  const { trace, witness, beside } = path;
  if (live && !trace.property) return "each state is made when it is looked at";
  if (path.title) return beside ? `${path.side} beside ${beside.side}` : path.side;
  return `${data.kinds[trace.kind] || trace.kind} · ${witness ? "reached by" : "counterexample of"} ${plural(trace.length, "step")}${foreverOf(trace)}`;
}

function drawHead() {
  const path = current();
  const { trace } = path;
  const option = (one, i) => h("option", { selected: i === view.trace }, one.title || `${one.trace.property} (${one.witness ? "witness" : "counterexample"})`);
  const turn = (event) => choose({ trace: event.target.selectedIndex, step: 1e9, side: 0 });
  const select = h("select", { "aria-label": "path shown", onchange: turn }, data.traces.map(option));
  fill(title, h("div", null, h("h2", null, live ? ["Exploring ", soft(trace.property)] : soft(nameOf(path))), h("p.dim", null, saidOf(path))), data.traces.length > 1 ? select : null);
  fill(why, live ? broughtBox(live.brought, agree) : path.why.length ? reportLines(path.why) : null);
  if (live && box.firstChild) return; // what has the focus keeps it
  const one = [path.beside ? h("h3", null, path.side) : null, list.element];
  const two = path.beside ? h("div.left", null, h("div.pathbox", null, h("h3", null, path.beside.side), other.element)) : null;
  const left = h("div.left" + (live ? ".live" : ""), null, h("div.pathbox", null, one), live ? choices.element : null);
  box.classList.toggle("pair", Boolean(path.beside));
  fill(box, left, two, h("div.right", null, h("div.head", null, tabs.element, sides.element, stepper.element), panel), path.beside ? null : third);
}

function drawPanel() {
  const path = shown();
  if (drawn.side !== view.side) drawn.panel = "";
  drawn.side = view.side;
  const select = (at) => choose({ step: at });
  if (view.tab === "state") drawState(path);
  if (view.tab === "code") fill(panel, codeOf(path, view.step));
  if (view.tab === "graph" && !live) fill(panel, graphBeside(path, view.step, select));
  if (view.tab === "graph" && live) {
    if (drawn.panel !== "graph") fill(panel, graph.element);
    graph.show(prefix(path.path, view.step), path.path);
  }
  if (view.tab === "lanes" && drawn.panel !== "lanes") fill(panel, lanesOf(path, select, view.step));
  if (view.tab === "table" && (drawn.panel !== "table" || Math.abs(view.step - drawn.middle) > WINDOW)) {
    drawn.middle = view.step;
    wholeInput.checked = view.whole;
    fill(panel, h("div.asked", null, filterOf(), wholeLabel), roleTable(path, view.whole, select, view.step, fieldFilter(view.only)));
  }
  drawn.panel = view.tab;
  for (const one of panel.querySelectorAll("[data-step]")) {
    const here = Number(one.dataset.step) === view.step;
    one.classList.toggle("here", here);
    if (here) reveal(one, one.closest(".scroll"));
  }
}

function drawState(path) {
  const pinned = typeof view.since === "number" && view.since < path.trace.states.length;
  const unpin = h("button.remove", { "aria-label": "changes since the step before", onclick: () => pin() }, "×");
  const said = pinned ? h("span.tag", null, `changes since state ${view.since} `, unpin) : null;
  const shown = h("div.asked", null, filterOf(), said, current().beside ? besideLabel : null);
  besideInput.checked = view.since === "side";
  const state = stateTree(path, view.step, stateBefore(path, pinned), fieldFilter(view.only));
  fill(panel, wide.matches && !current().beside ? null : factsOf(path), shown, state);
}

// What the state shown is compared with: the one before, one that was pinned, that of the other side.
function stateBefore(path, pinned) {
  if (view.since === "side") {
    const there = path === current() ? path.beside : current();
    return fieldsAt(there.trace, Math.min(view.step, there.trace.states.length - 1));
  }
  if (!pinned && view.step === 0) return null;
  return fieldsAt(path.trace, pinned ? view.since : view.step - 1);
}

// What is true in the state shown: properties, and expressions that are watched.
function factsOf(path) {
  const watched = live ? watchList(live.rows || [], view.step, (i) => watch(live.watched.filter((_, n) => n !== i))) : null;
  return [watched, truthsAt(path, view.step)];
}

function drawThird(path) {
  if (!wide.matches || path.beside) {
    fill(third);
    return;
  }
  const link = (one, i) => h("li", null, h("button.link", { "aria-current": i === view.trace ? "true" : null, onclick: () => choose({ trace: i, step: 1e9, side: 0 }) }, soft(nameOf(one))), " ", h("span.dim", null, one.witness ? "witness" : "counterexample"));
  const paths = data.traces.length > 1 ? [h("h3", null, "Paths"), h("ul.links", null, data.traces.map(link))] : null;
  fill(third, h("h3", null, "In this state"), factsOf(path), paths);
}

const wholeInput = h("input", {
  type: "checkbox",
  onchange: () => {
    drawn.panel = "";
    choose({ whole: wholeInput.checked });
    wholeInput.focus();
  },
});
const wholeLabel = h("label.toggle", null, wholeInput, "whole states");
const besideInput = h("input", {
  type: "checkbox",
  onchange: () => {
    choose({ since: besideInput.checked ? "side" : null });
    besideInput.focus();
  },
});
const besideLabel = h("label.toggle", null, besideInput, "what differs from the other side");

// The field that says which fields are shown; it keeps the cursor while the state below changes.
const filterInput = h("input", {
  type: "text",
  spellcheck: "false",
  autocomplete: "off",
  placeholder: "inbox, or -inbox to hide it",
  oninput: (event) => {
    drawn.panel = "";
    choose({ only: event.target.value.trim() });
    event.target.focus();
  },
});
const filterLabel = h("label.toggle.filter", null, "fields ", filterInput);

function filterOf() {
  if (document.activeElement !== filterInput) filterInput.value = view.only;
  return filterLabel;
}

function focusFilter() {
  if (view.tab !== "state" && view.tab !== "table") choose({ tab: "state" });
  filterInput.focus();
}

// Pin the state shown, or let go of the one that is pinned.
function pin() {
  choose({ since: view.since === null ? view.step : null, tab: "state" });
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
  const end = last(path);
  stepper.show(view.step, end);
  tabs.show(view.tab);
  panel.setAttribute("aria-labelledby", "tab-" + view.tab);
  sides.show(path.beside ? [path, path.beside] : [], view.side);
  drawPanel();
  drawThird(path);
  list.mark(view.step); // the view decides how wide the path is
  if (path.beside) other.mark(Math.min(view.step, path.beside.steps.length));
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

// To what the address brought: evaluate it, or leave it out.
async function agree(yes) {
  const { strange, watch: texts, by } = live.brought;
  live.brought = null;
  if (!yes) return drawHead();
  live.wrote(...strange);
  graph.by = by;
  drawHead();
  await watch(texts);
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
  drawThird(current());
}
