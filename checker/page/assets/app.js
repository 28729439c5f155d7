// The page: one object of data, one path and one step chosen, the choice kept in the address.

const data = JSON.parse(document.getElementById("data").textContent);
const TABS = [
  ["state", "State"],
  ["lanes", "Lanes"],
  ["table", "By role"],
];
const view = { trace: 0, step: 0, tab: "state", whole: false };
const list = new PathList((at) => choose({ step: at }));
const panel = h("div.panel", { role: "tabpanel", id: "panel", "aria-live": "off" });
const title = h("div.pathhead");
const why = h("div.why");
const stepper = h("div.stepper");
const tabs = h("div.tabs", { role: "tablist", "aria-label": "views of the path" });
const help = h("dialog.help", { "aria-label": "keys" });
const current = () => data.traces[view.trace];
let drawn = {};

function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const at = data.traces.findIndex((path) => path.trace.property === asked.get("trace"));
  view.trace = Math.max(0, at);
  const last = current() ? current().trace.states.length - 1 : 0;
  const step = asked.has("step") ? Number(asked.get("step")) : current() && current().trace.steps.length;
  view.step = Math.min(Math.max(0, step | 0), Math.max(last, current() ? current().steps.length : 0));
  if (TABS.some(([name]) => name === asked.get("view"))) view.tab = asked.get("view");
}

function writeAddress() {
  const asked = new URLSearchParams({ trace: current().trace.property, step: view.step, view: view.tab });
  history.replaceState(null, "", "#" + asked);
}

function choose(change) {
  Object.assign(view, change);
  view.step = Math.min(Math.max(0, view.step), current().steps.length);
  writeAddress();
  draw();
}

function drawHead() {
  const { trace, witness } = current();
  const way = trace.loop === null ? plural(trace.length, "step") : `${plural(trace.loop, "step")}, then ${plural(trace.length - trace.loop, "step")} for ever`;
  const kind = data.kinds[trace.kind] || trace.kind;
  fill(
    title,
    h("div", null, h("h2", null, trace.property), h("p.dim", null, `${kind} · ${witness ? "reached by" : "counterexample of"} ${way}`)),
    data.traces.length > 1 &&
      h(
        "select",
        { "aria-label": "path shown", onchange: (event) => choose({ trace: event.target.selectedIndex, step: data.traces[event.target.selectedIndex].steps.length }) },
        data.traces.map((path, i) => h("option", { selected: i === view.trace }, `${path.trace.property} (${path.witness ? "witness" : "counterexample"})`)),
      ),
  );
  fill(why, current().why.length ? reportLines(current().why) : null);
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
  const path = current();
  const select = (at) => choose({ step: at });
  if (view.tab === "state") fill(panel, stateTree(path, view.step));
  if (view.tab === "lanes" && drawn.panel !== "lanes") fill(panel, lanesOf(path, select));
  if (view.tab === "table" && drawn.panel !== "table") {
    const toggle = h("label.toggle", null, h("input", { type: "checkbox", checked: view.whole, onchange: () => { drawn.panel = ""; choose({ whole: !view.whole }); } }), "whole states");
    fill(panel, toggle, roleTable(path, view.whole, select));
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
    list.chosen = undefined;
    drawHead();
    if (list.all) list.unfoldAll(true);
  }
  list.mark(view.step);
  const last = path.steps.length;
  fill(
    stepper,
    h("button", { "aria-label": "previous step", disabled: view.step === 0, onclick: () => choose({ step: view.step - 1 }) }, "‹"),
    h("span", { "aria-live": "polite" }, `step ${view.step} of ${last}`),
    h("button", { "aria-label": "next step", disabled: view.step === last, onclick: () => choose({ step: view.step + 1 }) }, "›"),
  );
  drawTabs();
  drawPanel();
}

const KEYS = [
  ["j ↓ →", "next step", ["j", "ArrowDown", "ArrowRight"], () => choose({ step: view.step + 1 })],
  ["k ↑ ←", "previous step", ["k", "ArrowUp", "ArrowLeft"], () => choose({ step: view.step - 1 })],
  ["Home", "first state", ["Home"], () => choose({ step: 0 })],
  ["End", "last state", ["End"], () => choose({ step: current().steps.length })],
  ["d", "unfold all changes, or fold them", ["d"], () => list.unfoldAll(!list.all)],
  ["s", "state", ["s"], () => choose({ tab: "state" })],
  ["l", "lanes", ["l"], () => choose({ tab: "lanes" })],
  ["t", "by role", ["t"], () => choose({ tab: "table" })],
  ["n", "next path", ["n"], () => { const trace = (view.trace + 1) % data.traces.length; choose({ trace, step: data.traces[trace].steps.length }); }],
  ["?", "these keys", ["?"], () => (help.open ? help.close() : help.showModal())],
];

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !current()) return;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  const found = KEYS.find(([, , keys]) => keys.includes(event.key));
  if (!found || (help.open && event.key !== "?")) return;
  event.preventDefault();
  found[3]();
}

function start() {
  document.title = `${data.spec} · statewalk`;
  const constants = data.constants.map(([name, value]) => h("span.constant", null, h("span.dim", null, name), " ", value));
  const head = h("header.top", null, h("span.brand", null, "statewalk"), h("span.spec", null, data.spec), h("details.constants", null, h("summary", null, plural(constants.length, "constant")), h("div", null, constants)), h("button.keys", { onclick: () => help.showModal(), "aria-label": "keys" }, "?"));
  fill(help, h("h2", null, "Keys"), h("dl", null, KEYS.map(([keys, what]) => [h("dt", null, keys), h("dd", null, what)])), h("form", { method: "dialog" }, h("button", null, "Close")));
  const main = h("main");
  document.body.append(head, main, help);
  readAddress();
  const show = (at) => {
    choose({ trace: at, step: data.traces[at].steps.length });
    title.scrollIntoView({ behavior: "smooth" });
  };
  const explored = current() && [
    title,
    why,
    h("div.explore", null, h("div.left", null, list.element), h("div.right", null, h("div.head", null, tabs, stepper), panel)),
  ];
  const wrong = data.result && ["violated", "error"].includes(data.result.verdict);
  add(main, data.result && verdict(data));
  add(main, wrong ? [explored, cards(data, show)] : [data.result && cards(data, show), explored]);
  if (current()) draw();
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", () => { readAddress(); draw(); });
  window.addEventListener("beforeprint", () => current() && list.unfoldAll(true));
}

start();
