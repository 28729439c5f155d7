// The page: one object of data, one path and one step chosen, the choice kept in the address.

let data = JSON.parse(document.getElementById("data").textContent);
const view = { trace: 0, step: 0, tab: "state", whole: false, side: 0, only: "", since: null };
const list = new PathList((at) => choose({ step: at, side: 0 }));
const other = new PathList((at) => choose({ step: at, side: 1 }));
const panel = h("div.panel", { role: "tabpanel", id: "panel" });
const title = h("div.pathhead");
const why = h("div.why");
const below = h("div.below");
const player = new Player((at) => playStep(at), () => stepper.plays(player.playing));
const play = () => player.toggle(view.step, last(current()));
const share = new Share();
const stepper = new Stepper((by) => {
  player.stop();
  choose({ step: view.step + by });
}, play);
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

// Where a path begins to be looked at: at its end; of two at the first difference.
const startOf = (i) => firstDifference(data.traces[i]) ?? 1e9;

const address = () => new URLSearchParams(location.hash.slice(1));
const within = (at) => Math.min(Math.max(0, at | 0), last(current()));

function readAddress() {
  const asked = address();
  view.trace = Math.max(0, data.traces.findIndex((path) => nameOf(path) === asked.get("trace")));
  if (current()) view.step = within(asked.has("step") ? Number(asked.get("step")) : startOf(view.trace));
  readView(asked);
  view.side = asked.get("side") === "1" ? 1 : 0;
}

// What of the address says how the path is shown.
function readView(asked) {
  if (hasTab(asked.get("view"))) view.tab = asked.get("view");
  view.only = asked.get("only") || "";
  view.since = sinceOf(asked.get("since"));
  view.whole = asked.get("whole") === "1";
  if (!live) return;
  const { watch, by } = live.sift(asked);
  live.watched = watch;
  const unfolded = asked.getAll("unfold").map(textPath).filter(Boolean);
  Object.assign(graph, { depth: FAR.find((n) => n === Number(asked.get("within"))) || 2, by, unfolded, path: null });
}

// What a state is compared with: of two ways the other, unless another state is asked for.
function sinceOf(text) {
  if (text === "step") return null;
  if (text === null || text === "side") return text || (current() && current().beside) ? "side" : null;
  return Number(text) | 0;
}

function writeAddress(push) {
  const path = current();
  const asked = new URLSearchParams(live ? { path: pathText(path.path) } : { trace: nameOf(path) });
  if (live) asked.set("states", path.prints.join("."));
  if (view.side) asked.set("side", view.side);
  asked.set("step", view.step);
  asked.set("view", view.tab);
  if (view.only) asked.set("only", view.only);
  if (view.since !== null) asked.set("since", view.since);
  else if (path.beside) asked.set("since", "step");
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

// Go to a step, or to the next; whether there was one.
function playStep(at) {
  const before = view.step;
  choose({ step: at === null ? before + 1 : at });
  return view.step !== before;
}

function drawPanel() {
  const path = shown();
  if (drawn.side !== view.side) drawn.panel = "";
  drawn.side = view.side;
  const select = (at) => choose({ step: at });
  box.dataset.view = view.tab;
  if (view.tab === "state") drawState(path);
  if (view.tab === "code") fill(panel, codeOf(path, view.step));
  if (view.tab === "graph" && !live) fill(panel, graphBeside(path, view.step, select));
  if (view.tab === "graph" && live) {
    if (drawn.panel !== "graph") fill(panel, graph.element);
    graph.show(prefix(path.path, view.step), path.path);
  }
  if (view.tab === "lanes" && drawn.panel !== "lanes") fill(panel, lanesOf(path, select, view.step, panel.clientWidth - 50));
  if (view.tab === "table" && (drawn.panel !== "table" || Math.abs(view.step - drawn.middle) > WINDOW)) {
    drawn.middle = view.step;
    wholeInput.checked = view.whole;
    fill(panel, h("div.asked", null, filterOf(), wholeLabel), roleTable(path, view.whole, select, view.step, fieldFilter(view.only)));
  }
  if (view.tab === "lanes") markStates(path, view.step);
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
  const there = path === current() ? path.beside : current();
  beforeWord = view.since === "side" && there ? `${there.side}:` : "was";
  const state = stateTree(path, view.step, stateBefore(path, pinned), fieldFilter(view.only));
  const marked = path.trace.reason && path.trace.reason.reads.length ? h("span.reads", null, "◂ ", h("span.dim", null, `read by ${path.trace.property}`)) : null;
  const used = view.step && (path.steps[view.step - 1]?.reads || []).length ? h("span.uses", null, "▸ ", h("span.dim", null, `read by step ${view.step}`)) : null;
  shown.append(marked || "", used || "");
  fill(panel, picturesOf(path, view.step), wide.matches && !current().beside ? null : factsOf(path), shown, state);
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
  const link = (one, i) => h("li", null, h("button.link", { "aria-current": i === view.trace ? "true" : null, onclick: () => choose({ trace: i, step: startOf(i), side: 0 }) }, soft(nameOf(one))), " ", h("span.dim", null, one.witness ? "witness" : "counterexample"));
  const paths = data.traces.length > 1 ? [h("h3", null, "Paths"), h("ul.links", null, data.traces.map(link))] : null;
  fill(third, h("h3", null, "In this state"), factsOf(path), paths);
}

// Pin the state shown, or let go of the one that is pinned.
function pin() {
  choose({ since: view.since === null ? view.step : null, tab: "state" });
}

function draw() {
  const path = current();
  if (drawn.path !== path) {
    drawn = { path };
    const differs = firstDifference(path);
    list.show(path, differs, path.beside);
    if (path.beside) other.show(path.beside, differs, path);
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

// Drawings are made for the width there is.
let resizing = null;
function resized() {
  clearTimeout(resizing);
  resizing = setTimeout(() => {
    if (!current() || view.tab !== "lanes") return;
    drawn.panel = "";
    foldedBy = null;
    draw();
  }, 150);
}

function unfoldAll(open) {
  list.unfoldAll(open);
  if (current().beside) other.unfoldAll(open);
}

// Go along another path, as a person chose it or as the address says.
async function go(path, step, push = true, prints = []) {
  try {
    data.traces = [await live.path(path, prints)];
    Object.assign(data.code, current().code);
    if (push || current().said) say(current().said || "");
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
