// A comparison: the table of its sides. Its ways are shown as paths beside each other.

const CHANGED = /(^|· )(fixed|broken|new|gone|now possible|no longer possible)$/;

function comparedHead({ sides, whole }) {
  return h(
    "section.verdict",
    null,
    h("h1", null, "Compared"),
    h("p.said", null, sides.join("  beside  ")),
    whole ? null : h("p.dim", null, "Something bounded an answer: see below."),
  );
}

function comparedCards({ compared, report }) {
  const heads = ["", ...compared.sides].map((name) => h("th", { scope: "col" }, name));
  const cell = (text) => h("td" + (CHANGED.test(text) ? ".moved" : ""), null, text);
  const rows = compared.rows.map(([name, ...cells]) => h("tr", null, h("th", { scope: "row" }, soft(name)), cells.map(cell)));
  const table = h("table.properties.matrix", null, h("thead", null, h("tr", null, heads)), h("tbody", null, rows));
  return h(
    "div.compared",
    null,
    card("Verdicts and sizes", h("div.scroll", { tabindex: "0", role: "region", "aria-label": "verdicts and sizes" }, table)),
    h("details.card", null, h("summary", null, h("h2", null, "The whole report")), reportLines(report)),
  );
}
