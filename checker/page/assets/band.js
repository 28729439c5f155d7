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
const CAME = { holds: "these steps no longer violate it", fails: "these steps violate it, too", stops: "the last of these steps is not possible", "": "not known" };
const setTo = (name, value) => h("code", null, `${name}=${value}`);

// A constant that decides: its value, and those with which the same steps do no harm; below, all.
function decidedOf({ name, value, doc, others }) {
  const having = (wanted) => {
    const found = others.filter(([, , came]) => came === wanted).map(([one], i) => (i ? h("code", null, one) : setTo(name, one)));
    return found.length ? [["with ", found.flatMap((one, i) => (i ? [i === found.length - 1 ? " or " : ", ", one] : [one])), " " + CAME[wanted]]] : [];
  };
  const harmless = [...having("holds"), ...having("stops")];
  const unsure = harmless.length ? null : others.map(([one, , came, why]) => [" with ", setTo(name, one), ` ${CAME[came]}${why ? ": " + why : ""}`]);
  const then = harmless.flatMap((one, i) => (i ? [", ", one] : [one]));
  const said = doc ? [h("span.dim", null, name === "MUTANT" ? ` (a planted defect: ${doc.replace(/\.$/, "")})` : ` (${doc.replace(/\.$/, "")})`)] : null;
  const tail = harmless.length ? [" makes it possible", said, "; ", h("span.instead", null, then), h("span.dim", null, " (only these steps were replayed)")] : [" is set", said, ";", unsure];
  const rows = others.map(([one, about, came, why]) => h("tr." + (came || "open"), null, h("td", null, setTo(name, one)), h("td", null, about), h("td", null, CAME[came], why ? ": " + why.replaceAll("`", "") : "")));
  return h("details.decided", null, h("summary", null, setTo(name, value), tail), h("table", null, h("tbody", null, rows)));
}

// Constants that decide; others that are not as the spec declares them say what was searched, such
// as how much of each there is.
function givenOf({ decided = [] }) {
  const told = new Set(decided.map(({ name }) => name));
  const given = (data.given || []).filter(([name]) => !told.has(name));
  const others = given.map(([name, value, doc], i) => [i ? ", " : "searched with ", setTo(name, value), doc ? `, a planted defect: ${doc}` : ""]);
  return [decided.length ? h("div.deciding", null, decided.map(decidedOf)) : null, given.length ? h("p.dim.given", null, others) : null];
}

// To the functions with which the property is judged.
function judgedLink(path) {
  if (!(path.judged || []).length) return null;
  const show = () => {
    choose({ tab: "code", step: path.trace.length, side: 0 });
    const found = document.getElementById("judged");
    if (found) found.scrollIntoView({ behavior: still.matches ? "auto" : "smooth" });
  };
  return h("button.link.judge", { onclick: show, title: "how the property is judged" }, "its code");
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
    h("div.bandhead", null, h("h1", null, word), h("h2", null, soft(trace.kind === "error" ? trace.error_type : trace.property)), h("span.dim", null, saidOf(path)), judgedLink(path)),
    sentenceOf(path),
    error ? h("p.clause", null, h("code", null, error)) : null,
    trace.reason ? falseOf(path) : null,
    deciding,
    h("div.bandfoot", null, given, data.result ? h("p.dim.counts", null, countsOf(data)) : null, select),
  );
}

// What an explanation says beyond the band: where it is of a spec that is refined, of what is
// enabled and never taken, or of more guards and clauses than the band has.
function wholeWhy(path) {
  const { clauses = [] } = path.trace.reason || {};
  const within = clauses.filter((one) => one.file).length <= 3;
  const more = path.title || path.trace.abstract || path.trace.loop !== null || path.trace.kind === "deadlock" || path.trace.kind === "error";
  if (!path.why.length || (within && !more)) return null;
  return h("details.whole-why", null, h("summary", null, "The whole explanation"), reportLines(path.why));
}
