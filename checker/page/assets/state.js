// A state as a tree, and the path as a table: one row per step, one column per instance.

const SHORT = 64;
let beforeWord = "was"; // of a value that a state is compared with

function valueTree(value, before, depth, open) {
  const parts = partsOf(value);
  const text = textOf(value);
  if (!parts || !parts.length || text.length <= SHORT) return worded(text);
  const old = new Map(before === undefined ? [] : partsOf(before) || []);
  const isNew = before !== undefined;
  const known = new Set((partsOf(before === undefined ? null : before) || []).map(([, v]) => JSON.stringify(v)));
  return h(
    "details.tree",
    { open: open || depth < 2 || isNew },
    h("summary", null, h("span.kind", null, headOf(value)), " ", h("span.brief", null, text)),
    h(
      "div.inner",
      null,
      parts.map(([name, part]) => {
        const was = name && old.has(name) ? old.get(name) : undefined;
        const changed = isNew && (name ? was === undefined || !same(part, was) : !known.has(JSON.stringify(part)));
        return row(name, part, was, changed, depth + 1, open);
      }),
    ),
  );
}

// ``open`` unfolds all of a value: the property reads it, so nothing of it may be cut.
function row(name, value, before, changed, depth, open = false) {
  const unfolds = (partsOf(value) || []).length && textOf(value).length > SHORT;
  const whole = changed && before !== undefined && !unfolds;
  return h(
    "div.field" + (changed ? ".changed" : "") + (open && depth === 1 ? ".read" : ""),
    open && depth === 1 ? { title: "the property reads this" } : null,
    name ? h("span.name", null, name) : h("span.name.none", null, "·"),
    h(
      "div.holds",
      null,
      valueTree(value, changed ? before : undefined, depth, open),
      whole && h("span.was", null, h("span.whose", null, beforeWord, " "), eased(textOf(before))),
    ),
  );
}

// Which fields are shown: all, those that a word names, but none that a word after a minus names.
function fieldFilter(text) {
  const words = text.toLowerCase().split(/[\s,]+/).filter(Boolean);
  const wanted = words.filter((word) => !word.startsWith("-"));
  const hidden = words.filter((word) => word.startsWith("-") && word.length > 1).map((word) => word.slice(1));
  return (owner, field) => {
    const name = `${owner}.${field}`.toLowerCase();
    return (!wanted.length || wanted.some((word) => name.includes(word))) && !hidden.some((word) => name.includes(word));
  };
}

// Instances with a field that the property reads come first.
function readFirst(fields, isRead) {
  const wanted = ([name, held]) => [...held.keys()].some((field) => isRead(name, field));
  const all = [...fields];
  return new Map([...all.filter(wanted), ...all.filter((one) => !wanted(one))]);
}

function stateTree(path, at, then, shows) {
  const { reason } = path.trace;
  const reads = new Set(reason ? reason.reads : []);
  const used = new Set((at && path.steps[at - 1].reads) || []);
  const isIn = (places) => (name, field) => places.has(name ? `${name}.${field}` : field);
  const isRead = isIn(reads);
  const isUsed = isIn(used);
  const now = readFirst(fieldsAt(path.trace, at), isRead);
  const blocks = [];
  const small = [];
  for (const [name, fields] of now) {
    const old = then && (then.get(name) || new Map());
    const known = [...fields].filter(([field]) => shows(name, field));
    const rowOf = ([field, value], label) => {
      const before = old ? old.get(field) : undefined;
      const made = row(label || field, value, before, old !== null && !same(value, before), 1, isRead(name, field));
      made.classList.toggle("used", isUsed(name, field));
      return made;
    };
    if (fields.size === 1 && known.length && textOf(known[0][1]).length < SHORT / 2) small.push(rowOf(known[0], name ? `${name}.${known[0][0]}` : ""));
    else if (known.length) blocks.push(h("section.instance", null, h("h4", null, name || "Variables"), known.map((one) => rowOf(one))));
  }
  if (small.length) blocks.push(h("section.instance", null, h("h4", null, blocks.length ? "Others" : "Variables"), small));
  if (!now.size) blocks.push(h("p.dim", null, "The spec could not finish this step: there is no state."));
  else if (!blocks.length) blocks.push(h("p.dim", null, "No field has such a name."));
  return h("div.instances", null, blocks);
}

// Where a property has to hold and does not, its name stands out.
function truthsAt({ trace, witness }, at) {
  const found = Object.entries(trace.truths || {}).map(([name, values]) => [name, values[at]]);
  const word = (v) => (v === true ? "true" : v === false ? "false" : "undecided");
  if (!found.length) return null;
  const marks = [["✓ true", true, false], ["✗ violated", false, true], ["○ false, as it may be", false, false]];
  const used = marks.filter(([, value, wrong]) => found.some(([name, v]) => v === value && (v || isWrong(name, trace, witness) === wrong)));
  const legend = h("li.legend", null, h("b", null, "In this state"), ` (${used.map(([text]) => text).join(" · ")}):`);
  return h(
    "ul.truths",
    { "aria-label": "properties in this state" },
    legend,
    found.map(([name, v]) => {
      const wrong = v === false && isWrong(name, trace, witness);
      return h("li." + word(v) + (wrong ? ".wrong" : ""), { title: `${name} is ${word(v)} here` }, soft(name));
    }),
  );
}

const WINDOW = 40; // steps on either side: a table of thousands of rows takes seconds to lay out

function roleTable(path, whole, select, middle, shows) {
  const instances = instancesOf(path.trace);
  const reads = path.trace.reason ? path.trace.reason.reads.map((place) => place.split(".")[0]) : [];
  const moved = new Map(path.steps.flatMap((step, i) => step.changes.map((c) => [splitPlace(c[1], instances)[0], i]))); // when last
  const named = [...instances].filter(([name, fields]) => [...fields].some((field) => shows(name, field))).map(([name]) => name);
  // what the property reads comes first, then what changed last: that is to be in sight
  const rank = (name) => (reads.includes(name) ? path.steps.length : 0) + (moved.get(name) ?? -1);
  const columns = named.filter((name) => whole || !moved.size || moved.has(name)).sort((a, b) => rank(b) - rank(a));
  const head = h("tr", null, h("th.corner", { scope: "col" }, "step"), columns.map((c) => h("th", { scope: "col" }, c || "Variables")));
  const from = Math.max(0, middle - WINDOW);
  const rows = path.trace.states.slice(from, middle + WINDOW + 1).map((_, i) => {
    const at = from + i;
    const step = at ? path.steps[at - 1] : null;
    const cells = new Map(columns.map((c) => [c, []]));
    for (const change of step ? step.changes : []) {
      const [owner, rest] = splitPlace(change[1], instances);
      const cell = cells.get(owner) || (instances.has(owner) ? null : cells.values().next().value);
      if (cell && shows(owner, rest)) cell.push(changeLine([change[0], rest, ...change.slice(2)]));
    }
    if (whole || !at) {
      const now = fieldsAt(path.trace, at);
      for (const c of columns) {
        const lines = [...(now.get(c) || [])].filter(([f]) => shows(c, f)).map(([f, v]) => h("div.whole", null, h("span.name", null, f), " ", worded(textOf(v))));
        cells.set(c, [h("details", { open: whole }, h("summary", null, whole ? "state" : "start"), lines), whole ? cells.get(c) : null]);
      }
    }
    const first = at ? columns.find((c) => cells.get(c).length) : null;
    return h(
      "tr",
      { "data-step": at },
      h("th", { scope: "row" }, h("div.named", null, h("button.link", { onclick: () => select(at) }, String(at)), step && h("span.act", null, soft(actionOf(step))))),
      columns.map((c) => h("td", { "data-step": c === first ? at : null }, cells.get(c))),
    );
  });
  const part = rows.length < path.trace.states.length ? h("p.dim", null, `steps ${from} to ${from + rows.length - 1}`) : null;
  return h("div.scroll", { tabindex: "0", role: "region", "aria-label": "states by role" }, part, h("table.roles", null, h("thead", null, head), h("tbody", null, rows)));
}
