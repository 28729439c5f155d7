// The page: one object of data, one path and one step chosen, the choice kept in the address.

let data = JSON.parse(document.getElementById("data").textContent);
const TABS = [
  ["state", "State"],
  ["lanes", "Lanes"],
  ["table", "By role"],
];
const view = { trace: 0, step: 0, tab: "state", whole: false, side: 0, only: "", since: null };
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
const hasTab = (name) => TABS.some(([known]) => known === name);
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
  view.since = asked.has("since") ? Number(asked.get("since")) | 0 : null;
  view.whole = asked.get("whole") === "1";
  if (live) live.watched = asked.getAll("watch");
  if (graph) Object.assign(graph, { depth: FAR.find((n) => n === Number(asked.get("within"))) || 2, by: asked.get("by") || "" });
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
  if (view.tab === "state") drawState(path);
  if (view.tab === "code") fill(panel, codeOf(path, view.step));
  if (view.tab === "graph" && !live) fill(panel, graphBeside(path, view.step, select));
  if (view.tab === "graph" && live) {
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
    fill(panel, h("div.asked", null, filterOf(), toggle), roleTable(path, view.whole, select, view.step, fieldFilter(view.only)));
  }
  drawn.panel = view.tab;
  for (const one of panel.querySelectorAll("[data-step]")) {
    const here = Number(one.dataset.step) === view.step;
    one.classList.toggle("here", here);
    if (here) reveal(one, one.closest(".scroll"));
  }
}

function drawState(path) {
  const watched = live ? watchList(live.rows || [], view.step, (i) => watch(live.watched.filter((_, n) => n !== i))) : null;
  const pinned = view.since !== null && view.since < path.trace.states.length;
  const since = pinned ? view.since : Math.max(0, view.step - 1);
  const unpin = h("button.remove", { "aria-label": "changes since the step before", onclick: () => pin() }, "×");
  const said = pinned ? h("span.tag", null, `changes since state ${since} `, unpin) : null;
  fill(panel, watched, h("div.asked", null, filterOf(), said), stateTree(path, view.step, since, fieldFilter(view.only)));
}

// The field that says which fields are shown; it keeps the cursor while the state below changes.
const filterInput = h("input", {
  type: "text",
  spellcheck: "false",
  autocomplete: "off",
  placeholder: "all; inbox shows only it, -inbox hides it",
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
