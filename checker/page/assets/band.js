// The band above a path: the verdict, the property's sentence, what is false with its values, and
// how much was searched. It says all that a reader has to know before the first step.

const LONG = 60; // letters of a value that takes lines of its own

function countsOf({ result }) {
  if (!result) return null;
  const { counts } = result;
  const parts = [
    plural(counts.distinct, "distinct state"),
    `${count(counts.generated)} generated`,
    `depth ${counts.depth}`,
    `${seconds(result.seconds)} on the ${result.engine} engine`,
  ];
  return parts.join(" · ");
}

// Short values come first: what is false is seen before a record that takes lines.
function valuesOf(clause) {
  const long = ([, value]) => value.length > LONG;
  const values = [...clause.values.filter((one) => !long(one)), ...clause.values.filter(long)];
  return values.map(([name, value]) => h("span.known" + (value.length > LONG ? ".long" : ""), null, h("span.dim", null, name, " = "), h("b", null, eased(value))));
}

// A clause: its text, that it is false, and the values in it.
function clauseOf(clause, kind) {
  const said = clause.file && kind !== "deadlock" ? [h("code", null, soft(clause.text)), ` is ${clause.truth}`] : soft(clause.text);
  const where = clause.line ? h("span.dim.where", null, `${clause.file.split("/").pop()}:${clause.line}`) : null;
  return h("p.clause", null, h("span", null, said), " ", valuesOf(clause), " ", where);
}

// What is false, the innermost part first, as that is what can be seen in the state.
function falseOf({ trace }) {
  const { clauses } = trace.reason;
  if (trace.kind === "deadlock") return clauses.map((one) => clauseOf(one, trace.kind));
  const said = clauses.filter((one) => !one.file);
  const parts = clauses.filter((one) => one.file).reverse();
  const [first, ...others] = parts;
  const within = others.slice(0, 2).map((one) => h("p.clause.within", null, "in ", h("code", null, soft(one.text)), one.values.length ? ", where " : "", valuesOf(one)));
  return [said.map((one) => clauseOf(one, trace.kind)), first ? clauseOf(first, trace.kind) : null, within];
}

function wordOf(path) {
  if (path.witness) return ["Reached", "good"];
  if (path.trace.kind === "error") return ["Error", "bad"];
  return ["Violated", "bad"];
}

// What the property says; where it has no sentence, the expression that it is.
function sentenceOf({ trace, sentence }) {
  const doc = trace.reason && trace.reason.doc;
  if (doc) return h("p.doc", null, doc);
  if (!sentence || trace.reason?.clauses.at(-1)?.text === sentence) return null;
  return h("p.doc", null, trace.kind === "refines" ? sentence : h("code", null, eased(sentence)));
}

const knownOf = (name, value) => h("span.known", null, h("span.dim", null, name, " = "), h("b", null, eased(value)));
const CAME = { holds: "these steps violate nothing", fails: "these steps violate it, too", stops: "a guard forbids the last step", "": "" };

// A constant that decides: its value, and those with which the same steps do no harm; below, all.
function decidedOf({ name, value, doc, others }) {
  const having = (wanted, then) => {
    const found = others.filter(([, , came]) => came === wanted).map(([one]) => h("code", null, one));
    return found.length ? h("span.instead", null, "✓ with ", found.flatMap((one, i) => (i ? [", ", one] : [one])), ` ${then} `) : null;
  };
  const known = h("summary", null, knownOf(name, value), doc ? [" ", h("span", null, doc)] : null, " ", having("holds", CAME.holds), having("stops", CAME.stops));
  const rows = others.map(([one, said, came]) => h("tr." + (came || "open"), null, h("td", null, h("code", null, one)), h("td", null, said), h("td", null, CAME[came])));
  return h("details.decided", null, known, h("table", null, h("tbody", null, rows)));
}

// Constants that decide, then others that are not as the spec declares them; what a mutant does.
function givenOf({ decided = [] }) {
  const told = new Set(decided.map(({ name }) => name));
  const given = (data.given || []).filter(([name]) => !told.has(name));
  const others = given.length ? h("p.given", null, h("span.dim", null, "with "), given.map(([name, value, doc]) => [knownOf(name, value), doc ? [" ", h("span", null, h("span.dim", null, "a planted defect: "), doc)] : null, " "])) : null;
  return [decided.length ? h("div.deciding", null, decided.map(decidedOf)) : null, others];
}

// The band of a path of a report. Of a comparison or in the explorer there is a title of its own.
function bandOf(path, select) {
  const { trace } = path;
  const [deciding, given] = givenOf(path);
  const [word, tone] = wordOf(path);
  const error = [trace.error_type, trace.error].filter(Boolean).join(": ");
  return h(
    "section.band." + tone,
    { "aria-label": "what was found" },
    h("div.bandhead", null, h("h1", null, word), h("h2", null, soft(trace.kind === "error" ? trace.error_type : trace.property)), h("span.dim", null, saidOf(path))),
    sentenceOf(path),
    error ? h("p.clause", null, h("code", null, error)) : null,
    trace.reason ? falseOf(path) : null,
    deciding,
    h("div.bandfoot", null, given, data.result ? h("p.dim.counts", null, countsOf(data)) : null, select),
  );
}

// All of the explanation, for who wants to follow it down; the band has its end.
function wholeWhy(path) {
  if (!path.why.length) return null;
  return h("details.whole-why", null, h("summary", null, "The whole explanation"), reportLines(path.why));
}
