// What a check found: the verdict, what it rests on, properties, and two small plots.

const VERDICTS = {
  holds: ["Holds", "good"],
  violated: ["Violated", "bad"],
  bounded: ["No violation found", "warn"],
  error: ["Error", "bad"],
};

function seconds(value) {
  return value < 60 ? value.toFixed(value < 10 ? 2 : 1) + " s" : Math.floor(value / 60) + " min " + Math.round(value % 60) + " s";
}

function sentence(data) {
  const { result, evidence } = data;
  const wrong = result.properties.filter((p) => p.verdict === "violated").map((p) => p.name);
  if (result.verdict === "holds") return "Every state that can be reached was visited.";
  if (result.verdict === "violated") return wrong.join(", ");
  if (result.verdict === "bounded") return "The search was bounded: " + evidence.bounds.join(", ") + ".";
  if (!data.traces.length && result.warnings.length) return result.warnings[0];
  const { error, error_type: type } = data.traces[0] ? data.traces[0].trace : {};
  if (type) return `${type}: ${error}`;
  return "The spec raised an exception; the search stopped there.";
}

function propertiesTable(data, show) {
  const ways = new Map(data.traces.map((path, i) => [path.trace.property, i]));
  const rows = data.result.properties.map((p) => {
    const at = ways.get(p.name);
    const steps = at === undefined ? "" : plural(data.traces[at].trace.length, "step");
    const what = at !== undefined && data.traces[at].witness ? "witness" : "counterexample";
    const tone = { holds: "good", violated: "bad", unknown: "open" }[p.verdict];
    const said = data.traces[at] && data.traces[at].witness && p.verdict === "holds" ? "reached" : p.verdict;
    return h(
      "tr",
      null,
      h("th", { scope: "row" }, soft(p.name)),
      h("td.dim", null, data.kinds[p.kind] || p.kind),
      h("td", null, h("span.tag." + tone, null, said), p.vacuous ? h("span.tag.warn", null, "vacuous") : null),
      h("td", null, at === undefined ? "" : h("button.link", { onclick: () => show(at) }, `${what}, ${steps}`)),
    );
  });
  if (!rows.length) return null;
  return card("Properties", h("table.properties", null, h("tbody", null, rows)));
}

function card(title, ...content) {
  return h("section.card", null, h("h2", null, title), content);
}

function bars(entries, label, said = (n) => (n ? count(n) : "never")) {
  const most = Math.max(1, ...entries.map(([, n]) => n));
  return h(
    "div.bars",
    { role: "img", "aria-label": label },
    entries.map(([name, n]) => {
      const bar = h("span.bar");
      bar.style.width = n ? Math.max(1, (100 * n) / most) + "%" : "0";
      return h("div.barrow", { title: `${name}: ${said(n)}` }, h("span.barname", null, name), h("span.track", null, bar), h("span.barcount", null, said(n)));
    }),
  );
}

function columns(levels) {
  const most = Math.max(1, ...levels);
  const size = Math.ceil(levels.length / 120);
  const groups = [];
  for (let i = 0; i < levels.length; i += size) groups.push([i, Math.max(...levels.slice(i, i + size))]);
  return h(
    "div.columns",
    { role: "img", "aria-label": "states per level" },
    groups.map(([at, n]) => {
      const column = h("span.column", { title: `level ${at}: ${plural(n, "state")}` });
      column.style.height = Math.max(2, (100 * n) / most) + "%";
      return column;
    }),
  );
}

// The verdict of a check that found nothing wrong.
function verdict({ result, evidence, ...data }) {
  const [word, tone] = VERDICTS[result.verdict];
  return h(
    "section.band." + tone,
    null,
    h("div.bandhead", null, h("h1", null, word)),
    h("p.doc.said", null, soft(sentence({ result, evidence, ...data }))),
    h("p.dim.counts", null, countsOf({ result })),
  );
}

function levelsCard({ levels }) {
  if (levels.length < 2) return null;
  const most = plural(Math.max(...levels), "state");
  const axis = ["level 0", `most: ${most}`, String(levels.length - 1)].map((text) => h("span", null, text));
  return card("Levels", columns(levels), h("p.axis", null, axis));
}

function fieldsCard({ fields = [] }) {
  const rows = fields.filter((cost) => cost.factor >= 1.05).slice(0, 12);
  if (!rows.length) return null;
  const entries = rows.map((cost) => [cost.fields.join(" and ") + (cost.steps.length ? "" : " *"), cost.factor]);
  const times = (n) => "× " + (n < 10 ? n.toFixed(1) : count(Math.round(n)));
  const unread = rows.some((cost) => !cost.steps.length);
  return card(
    "Fields",
    h("p.dim", null, "How many times as many states there are as without the field." + (unread ? " * No step reads it." : "")),
    bars(entries, "states per field", times),
  );
}

function cards(data, show) {
  const { result, evidence } = data;
  const actions = result.actions.map((a) => [a.name, a.fired]).sort((a, b) => b[1] - a[1]);
  return h(
    "div.cards",
    null,
    h("div", null, propertiesTable(data, show)),
    h("div", null, actions.length ? card("Actions", bars(actions, "transitions per action")) : null, fieldsCard(evidence), levelsCard(evidence)),
    h("details.card.evidence", { open: true }, h("summary", null, h("h2", null, "What the verdict rests on")), reportLines(data.report)),
  );
}
