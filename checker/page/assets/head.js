// What stands above and below a path: its band or title, the way through it, why it does not end.

function headOfPath(path) {
  const { trace } = path;
  const option = (one, i) => h("option", { selected: i === view.trace }, one.title || `${one.trace.property} (${one.witness ? "witness" : "counterexample"})`);
  const turn = (event) => choose({ trace: event.target.selectedIndex, step: startOf(event.target.selectedIndex), side: 0 });
  const select = data.traces.length > 1 ? h("select", { "aria-label": "path shown", onchange: turn }, data.traces.map(option)) : null;
  if (!live && !path.title) return bandOf(path, select);
  const head = live ? ["Exploring ", soft(trace.property)] : soft(nameOf(path));
  const said = path.title && path.beside ? null : h("span.dim", null, saidOf(path));
  const more = path.title ? differenceOf(path, select) : h("div.bandfoot", null, select);
  return h("section.band" + (live ? "" : path.trace.reason ? ".way-head.bad" : ".way-head"), null, h("div.bandhead", null, h("h2", null, head), said), more);
}

function drawHead() {
  const path = current();
  fill(title, headOfPath(path));
  fill(why, live ? broughtBox(live.brought, agree) : null);
  fill(below, cycleTable(path), live ? null : wholeWhy(path));
  if (live && box.firstChild) return; // what has the focus keeps it
  const one = [path.beside ? h("h3", null, path.side) : null, list.element];
  const two = path.beside ? h("div.left", null, h("div.pathbox", null, h("h3", null, path.beside.side), other.element)) : null;
  const left = h("div.left" + (live ? ".live" : ""), null, h("div.pathbox", null, one), live ? choices.element : null);
  box.classList.toggle("pair", Boolean(path.beside));
  const head = h("div.head", null, tabs.element, sides.element, stepper.element, share.element);
  fill(box, left, two, h("div.right", null, head, panel), path.beside ? null : third);
}
