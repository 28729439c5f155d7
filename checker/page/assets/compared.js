// A comparison: what changed between its sides, then both ways of a change beside each other.

const TURNS = [
  ["broken", "broke", /(^|· )broken$/],
  ["repaired", "fixed", /(^|· )fixed$/],
  ["no longer possible", "lost", /(^|· )no longer possible$/],
  ["now possible", "gained", /(^|· )now possible$/],
  ["new", "moved", /(^|· )new$/],
  ["gone", "moved", /(^|· )gone$/],
];

const turnOf = (text) => TURNS.find(([, , words]) => words.test(text));

// By change the names of what changed so.
function turnsOf({ rows }) {
  const found = TURNS.map(([word, kind]) => [word, kind, rows.filter(([, ...cells]) => cells.some((text) => turnOf(text)?.[0] === word)).map(([name]) => name)]);
  return found.filter(([, , names]) => names.length);
}

function comparedHead(compared) {
  const { sides, whole, rows } = compared;
  const turns = turnsOf(compared);
  const told = turns.map(([word, kind, names]) => h("p.clause", null, h("span.turn." + kind, null, word), " ", names.map((name, i) => [i ? ", " : "", soft(name)])));
  const moved = rows.filter(([, ...cells]) => cells.some(turnOf));
  const alike = rows.filter((row) => !moved.includes(row));
  return [
    h(
      "section.band",
      null,
      h("div.bandhead", null, h("h1", null, "Compared"), h("h2", null, sides.join("  beside  "))),
      told.length ? told : h("p.doc", null, "No verdict differs."),
      whole ? null : h("p.dim", null, "Something bounded an answer: see below."),
    ),
    h("div.compared", null, moved.length ? matrix(sides, moved, "what changed") : null, h("details.card", null, h("summary", null, h("h2", null, `${plural(alike.length, "row")} without a change, sizes included`)), matrix(sides, alike, "verdicts and sizes"))),
  ];
}

function matrix(sides, rows, label) {
  const heads = ["", ...sides].map((name) => h("th", { scope: "col" }, name));
  const cell = (text, i) => {
    const turn = turnOf(text);
    return h("td" + (turn ? "." + turn[1] : ""), { "data-side": sides[i] }, text);
  };
  const lines = rows.map(([name, ...cells]) => h("tr", null, h("th", { scope: "row" }, soft(name)), cells.map(cell)));
  const table = h("table.properties.matrix", null, h("thead", null, h("tr", null, heads)), h("tbody", null, lines));
  return h("div.scroll", { tabindex: "0", role: "region", "aria-label": label }, table);
}

function comparedReport({ report }) {
  return h("div.compared", null, h("details.card", null, h("summary", null, h("h2", null, "The whole report")), reportLines(report)));
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
function differenceOf(path) {
  const at = firstDifference(path);
  const button = at === null ? null : h("button.link.differs-link", { onclick: () => choose({ step: at }) }, `first difference: state ${at}`);
  return [path.why.length ? reportLines(path.why) : null, button];
}
