// Values of a trace file: plain JSON, or an object with one key that begins with "#".

function tagged(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [null, value];
  const [tag] = Object.keys(value);
  return [tag, value[tag]];
}

function quoted(text) {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return text.includes("'") && !text.includes('"') ? `"${inner}"` : `'${inner.replaceAll("'", "\\'")}'`;
}

const listed = (values) => values.map(textOf).join(", ");
const bagged = (pairs) => pairs.flatMap(([value, n]) => Array(Math.min(n, 1000)).fill(value));

// A value in one line, in Python's manner.
function textOf(value) {
  const [tag, inner] = tagged(value);
  switch (tag) {
    case null:
      if (value === null) return "None";
      if (value === true) return "True";
      if (value === false) return "False";
      if (typeof value === "string") return quoted(value);
      return Array.isArray(value) ? `[${listed(value)}]` : String(value);
    case "#int":
      return inner;
    case "#tuple":
      return `(${listed(inner)}${inner.length === 1 ? "," : ""})`;
    case "#set":
      return inner.length ? `{${listed(inner)}}` : "set()";
    case "#bag":
      return `Bag([${listed(bagged(inner))}])`;
    case "#dict":
      return `{${inner.map(([k, v]) => `${textOf(k)}: ${textOf(v)}`).join(", ")}}`;
    case "#enum":
      return typeof inner[1] === "string" ? inner[1] : `${inner[0]}(${inner[1]})`;
    case "#role":
      return `${inner[0]}#${inner[1]}`;
    case "#record":
      return `${inner[0]}(${Object.entries(inner[1]).map(([n, v]) => `${n}=${textOf(v)}`).join(", ")})`;
    default:
      return "…";
  }
}

// The parts of a value, each with its name; null for what has none.
function partsOf(value) {
  const [tag, inner] = tagged(value);
  if (tag === null) return Array.isArray(value) ? value.map((v, i) => [String(i), v]) : null;
  if (tag === "#tuple") return inner.map((v, i) => [String(i), v]);
  if (tag === "#set") return inner.map((v) => ["", v]);
  if (tag === "#bag") return inner.map(([v, n]) => [n > 1 ? `${n} ×` : "", v]);
  if (tag === "#dict") return inner.map(([k, v]) => [textOf(k), v]);
  if (tag === "#record") return Object.entries(inner[1]);
  return null;
}

function headOf(value) {
  const [tag, inner] = tagged(value);
  if (tag === "#record") return inner[0];
  const of = { null: "list", "#tuple": "tuple", "#set": "set", "#bag": "bag", "#dict": "dict" }[tag];
  return `${of} of ${partsOf(value).length}`;
}

const same = (a, b) => a === b || JSON.stringify(a) === JSON.stringify(b);

// The name of the instance that a path begins with, as reports show it.
function instanceOf(path, names) {
  const [owner, index] = path;
  if (owner === "@module" || index === undefined) return "";
  return owner in names ? names[owner] : `${owner}#${index}`;
}
const fieldOf = (path) => path.slice(2).map(String).join(".");

// The instances of a trace, in order, each with its fields by name in every state.
function instancesOf(trace) {
  const found = new Map();
  for (const state of trace.states) {
    for (const [path] of state) {
      const name = instanceOf(path, trace.names);
      if (!found.has(name)) found.set(name, new Set());
      found.get(name).add(fieldOf(path));
    }
  }
  return found;
}

function fieldsAt(trace, at) {
  const found = new Map();
  for (const [path, value] of trace.states[at] || []) {
    const name = instanceOf(path, trace.names);
    if (!found.has(name)) found.set(name, new Map());
    found.get(name).set(fieldOf(path), value);
  }
  return found;
}

// The instance whose field a change is in, and the rest of its place.
function splitPlace(place, instances) {
  const dot = place.indexOf(".");
  const owner = dot < 0 ? "" : place.slice(0, dot);
  return instances.has(owner) ? [owner, place.slice(dot + 1)] : ["", place];
}
