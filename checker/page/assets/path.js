// The path: a line per step (who, what, arguments); what it changed unfolds below.

const actionOf = (step) => step.label.filter(([, kind]) => kind === "action").map(([text]) => text).join("");

function changeLine([mark, place, before, after, element]) {
  const name = { "+": "plus", "-": "minus", "~": "tilde" }[mark];
  const word = { "+": "added", "-": "removed", "~": "changed" }[mark];
  const values =
    mark === "~"
      ? [worded(before), h("span.to", null, " → "), worded(after)]
      : [element ? null : h("span.to", null, "= "), worded(mark === "+" ? after : before)];
  return h("div.change." + name, null, h("span.mark", { "aria-label": word }, mark), h("span.place", null, soft(place)), " ", values);
}

// What a step changed, on one line: first what the property reads, then as the step did it.
function effectsOf(path, at) {
  const { trace, steps } = path;
  const step = steps[at - 1];
  const actor = step.label.filter(([, kind]) => kind === "actor").map(([text]) => text + ".").join("");
  const reads = trace.reason ? trace.reason.reads : [];
  const read = ([, place]) => reads.some((one) => place.startsWith(one));
  const ranked = [...step.changes.filter(read), ...step.changes.filter((one) => !read(one))];
  const parts = ranked.slice(0, 6).map(([mark, place, ...values]) => changeLine([mark, actor && place.startsWith(actor) ? place.slice(actor.length) : place, ...values]));
  return parts.length ? h("span.effects", null, parts) : null;
}

// The fields that a step read, with what they held before it.
function readsOf(path, at) {
  const { trace, steps } = path;
  if (!(steps[at - 1].reads || []).length) return null;
  const held = new Map([...fieldsAt(trace, at - 1)].flatMap(([name, fields]) => [...fields].map(([field, value]) => [name ? `${name}.${field}` : field, textOf(value)])));
  const shown = steps[at - 1].reads.map((place) => {
    const text = held.get(place);
    return [" ", h("span.known", { title: text || null }, soft(place), text && text.length <= SHORT / 2 ? [" = ", h("b", null, eased(text))] : null)];
  });
  return h("div.readby", null, "read", shown);
}

// ``beside`` is the other of two paths: what it does otherwise is marked.
function changesOf(path, at, beside) {
  const { trace } = path;
  const step = path.steps[at - 1];
  if (trace.steps[at - 1].completed === false) {
    return h("div.changes.failed", null, [trace.error_type, trace.error].filter(Boolean).join(": "));
  }
  const there = beside && beside.steps[at - 1];
  const known = there && new Set(there.changes.map((one) => JSON.stringify(one)));
  const line = (one) => {
    const made = changeLine(one);
    made.classList.toggle("differs", Boolean(known) && !known.has(JSON.stringify(one)));
    return made;
  };
  const lines = step.changes.length ? step.changes.map(line) : h("div.dim", null, "changes nothing");
  return h("div.changes", null, step.doc ? h("p.stepdoc", null, soft(step.doc)) : null, lines, readsOf(path, at), step.place && h("div.source", null, eased(step.place)));
}

function labelOf(step) {
  const parts = step.label.map(([text, kind]) => [text.replaceAll(" · ", " ·\u00a0"), kind]);
  const words = (text, kind) => (kind === "action" ? soft(text) : [text.startsWith("(") && h("wbr"), eased(text)]);
  return parts.map(([text, kind]) => h("span." + (kind && kind !== "dim" ? kind : "rest"), null, words(text, kind)));
}

// What comes after the last step of a lasso, and where of that the property is false.
function foreverOf({ loop, length, truths, property }) {
  if (loop === null) return "";
  const again = loop === length ? ", then stuttering" : `, of which the last ${length - loop} for ever`;
  const cycle = [...Array(Math.max(1, length - loop)).keys()].map((n) => loop + n);
  const wrong = cycle.filter((at) => (truths || {})[property]?.[at] === false);
  if (!wrong.length) return again;
  return `${again} · false ${wrong.length === cycle.length ? "all that time" : "again and again, in state " + wrong.join(", ")}`;
}

function loopMark(path, at) {
  const { loop, steps } = path.trace;
  if (loop === null) return null;
  if (at === loop && at === steps.length) return h("span.loop", null, "for ever");
  if (at === loop) return h("span.loop", null, "the cycle begins");
  return at === steps.length ? h("span.loop", null, `back to ${loop}`) : null;
}

// By state of a trace an earlier one that is the same.
function sameBefore(trace) {
  const first = new Map();
  return trace.states.map((state, at) => {
    const text = JSON.stringify(state);
    const before = first.get(text);
    if (before === undefined) first.set(text, at);
    return before;
  });
}

// Whether a property has to hold in every state; a witness may well be to come.
function isWrong(name, trace, witness) {
  return (data.always || []).includes(name) || (name === trace.property && !witness);
}

// What a step makes of the property shown, and what it violates besides; of others only the state
// tells. In the explorer of all, as there is none that is shown.
function turned({ trace, witness }, at) {
  if (!at) return null;
  const told = (name, value) => live || name === trace.property || (value === false && isWrong(name, trace, witness));
  const found = Object.entries(trace.truths || {}).filter(([name, values]) => told(name, values[at]) && typeof values[at] === "boolean" && typeof values[at - 1] === "boolean" && values[at] !== values[at - 1]);
  return found.map(([name, values]) => {
    const wrong = !values[at] && isWrong(name, trace, witness);
    return [h("span.turned" + (wrong ? ".wrong" : ""), { title: `${name} is ${values[at]} from here` }, h("span", { role: "img", "aria-label": values[at] ? "now true: " : "now false: " }, values[at] ? "✓\u00a0" : wrong ? "✗\u00a0" : "○\u00a0"), name, values[at] ? " is true from here" : " is false from here"), " "];
  });
}

const narrow = window.matchMedia("(max-width: 900px)");
const NEAR = 40; // steps on either side that are made at once

class PathList {
  constructor(select) {
    this.select = select;
    this.all = false;
    this.items = [];
    this.stop = () => {};
    this.element = h("ol.path", { "aria-label": "steps" });
  }

  // ``differs`` is the state in which the path beside it begins to be another.
  show(path, differs = null, beside = null) {
    this.path = path;
    this.beside = beside;
    this.differs = differs;
    this.chosen = undefined;
    this.same = sameBefore(path.trace);
    this.element.classList.toggle("long", path.steps.length > 200);
    this.items = [this.item(0), ...path.steps.map((_, i) => this.item(i + 1))];
    fill(this.element, this.items);
    this.stop();
    this.stop = afterwards([...this.items.keys()], (at) => this.line(at));
  }

  item(at) {
    const { path } = this;
    const last = at === path.steps.length && at > 0 && !path.witness && (!path.live || path.trace.property) && !path.side;
    const cycle = path.trace.loop !== null && at > path.trace.loop;
    return h("li" + (last ? ".last" : "") + (cycle ? ".cycle" : "") + (at === this.differs ? ".differs" : ""), { "data-step": at });
  }

  // The line of a step; it is made when it is asked for.
  line(at) {
    const { path } = this;
    const item = this.items[at];
    if (item.firstChild) return item.firstChild;
    const label = at ? labelOf(path.steps[at - 1]) : [h("span.action", null, "init"), path.trace.initial ? h("span.rest", null, ` (${path.trace.initial + 1})`) : null];
    const line = h(
      "button.line",
      { onclick: () => this.select(at), "aria-expanded": "false" },
      h("span.number", null, String(at)),
      h("span.what", null, label, loopMark(path, at), at === this.differs ? h("span.differs-mark", null, "first difference") : null, " ", this.sameAs(at), turned(path, at), at ? effectsOf(path, at) : null),
    );
    item.append(line);
    return line;
  }

  sameAs(at) {
    const before = this.same[at];
    return before === undefined || (this.path.trace.loop !== null && at === this.path.steps.length) ? null : h("span.turned", null, `same state as ${before}`);
  }

  unfold(at, open) {
    const item = this.items[at];
    if (!item) return;
    const line = this.line(at);
    const has = item.querySelector(".changes");
    line.setAttribute("aria-expanded", String(open && at > 0));
    if (open && !has && at > 0) item.append(changesOf(this.path, at, this.beside));
    if (!open && has) has.remove();
  }

  mark(at) {
    if (this.chosen !== undefined && this.items[this.chosen]) {
      this.line(this.chosen).removeAttribute("aria-current");
      if (!this.all) this.unfold(this.chosen, false);
    }
    this.chosen = at;
    for (let near = Math.max(0, at - NEAR); near <= at + NEAR && near < this.items.length; near++) this.line(near);
    this.line(at).setAttribute("aria-current", "step");
    this.unfold(at, true);
    // on a small screen there is room for the line of a step, not for all of its changes
    reveal(narrow.matches ? this.line(at) : this.items[at], this.element.parentElement);
  }

  unfoldAll(open) {
    this.all = open;
    this.items.forEach((_, at) => this.unfold(at, open || at === this.chosen));
  }
}
