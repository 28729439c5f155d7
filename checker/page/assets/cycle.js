// Below a lasso: for each fair action what keeps it from happening at each state of the cycle.

function cycleTable(path) {
  const { fair } = path;
  if (!fair || !fair.rows.length) return null;
  const ends = path.trace.loop === path.trace.length;
  const heads = ["fair action", ...fair.states.map((at) => (ends ? "in the last state" : `state ${at}`))];
  // what is the same in states that follow each other is said once
  const grouped = (cells) => cells.reduce((found, cell) => {
    const last = found.at(-1);
    if (last && same(last.cell, cell)) last.span++;
    else found.push({ cell, span: 1 });
    return found;
  }, []);
  const cell = ({ cell: [text, values, place], span }) => h("td", { colspan: span > 1 ? span : null }, text ? [h("code", null, eased(text)), values ? h("div.dim", null, eased(values)) : null, place ? h("div.dim", null, place) : null] : h("span.open", null, "enabled"));
  const rows = fair.rows.map(([name, fairness, cells]) => h("tr", null, h("th", { scope: "row" }, soft(name), h("div.dim", null, fairness)), grouped(cells).map(cell)));
  const table = h("table", null, h("thead", null, h("tr", null, heads.map((one) => h("th", { scope: "col" }, one)))), h("tbody", null, rows));
  const said = "A weakly fair action has to be taken if it stays enabled, a strongly fair one if it is enabled again and again. Below each state: the guard that is false there, with its values.";
  return h("section.card.cycle-why", null, h("h2", null, "Why no fair action ends this"), h("p.dim", null, said, fair.more ? ` Of the cycle, the first ${fair.states.length} states are shown.` : ""), h("div.scroll", { tabindex: "0", role: "region", "aria-label": "why no fair action ends this" }, table));
}
