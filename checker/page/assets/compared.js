// A comparison: what changed between its sides, then both ways of a change beside each other.

const TURNS = [
  ["broke", /(^|· )broken$/],
  ["fixed", /(^|· )fixed$/],
  ["lost", /(^|· )no longer possible$/],
  ["gained", /(^|· )now possible$/],
  ["moved", /(^|· )(new|gone)$/],
];

const turnOf = (text) => TURNS.find(([, words]) => words.test(text));

function comparedHead({ sides, whole, rows }) {
  const moved = rows.filter(([, ...cells]) => cells.some(turnOf));
  const alike = rows.filter((row) => !moved.includes(row));
  return h(
    "section.band.compared",
    null,
    h("div.bandhead", null, h("h1", null, "Compared"), h("h2", null, sides.join("  beside  "))),
    moved.length ? matrix(sides, moved, "what changed") : h("p.doc", null, "No verdict differs."),
    whole ? null : h("p.dim", null, "Something bounded an answer: see below."),
    h("details", null, h("summary.dim", null, `${plural(alike.length, "row")} without a change, sizes included`), matrix(sides, alike, "verdicts and sizes")),
  );
}

function matrix(sides, rows, label) {
  const heads = ["", ...sides].map((name) => h("th", { scope: "col" }, name));
  const cell = (text, i) => {
    const turn = turnOf(text);
    return h("td" + (turn ? "." + turn[0] : ""), { "data-side": sides[i] }, text);
  };
  const lines = rows.map(([name, ...cells]) => h("tr", null, h("th", { scope: "row" }, soft(name)), cells.map(cell)));
  const table = h("table.properties.matrix", null, h("thead", null, h("tr", null, heads)), h("tbody", null, lines));
  return h("div.scroll", { tabindex: "0", role: "region", "aria-label": label }, table);
}

function comparedReport({ report }) {
  return h("details.whole-why", null, h("summary", null, "The whole report"), reportLines(report));
}

// The first state in which two ways differ, or the first that only one of them has; null where there is none.
function firstDifference(path) {
  if (!path || !path.beside) return null;
  const [one, two] = [path.trace.states, path.beside.trace.states];
  const most = Math.min(one.length, two.length);
  for (let at = 0; at < most; at++) if (!same(one[at], two[at])) return at;
  return one.length === two.length ? null : most;
}

// What is said of two ways, and the way to where they part.
function differenceOf(path, select) {
  const at = firstDifference(path);
  const button = at === null ? null : h("button.link.differs-link", { onclick: () => choose({ step: at }) }, `first difference: state ${at}`);
  const clauses = path.trace.reason ? falseOf(path) : null;
  return [sentenceOf(path), clauses, path.why.length ? reportLines(path.why) : null, h("div.bandfoot", null, button, select)];
}
