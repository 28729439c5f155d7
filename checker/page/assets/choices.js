// What is possible in a state and what is not, a search from it, and expressions that are watched.

// "send" of "Client#0.send(broker=Broker#0)".
const actionName = (label) => label.replace(/\(.*$/, "").split(".").pop();

class Choices {
  constructor(live, go, say) {
    this.live = live;
    this.go = go;
    this.say = say;
    this.element = h("section.choices", { "aria-label": "next steps" });
    this.tools = this.makeTools();
    this.listed = h("div");
    add(this.element, [this.listed, this.tools]);
  }

  // Show what is possible at a step of a path; ``taken`` is the step that the path takes there.
  async show(path, taken) {
    this.path = path;
    const key = JSON.stringify(path);
    this.listed.classList.add("busy");
    this.enabled = null; // a number that is pressed meanwhile is not of these
    let found;
    try {
      found = await this.live.ask("next", { path });
    } catch (error) {
      found = { enabled: [], disabled: [], more: [], error: error.message };
    }
    if (JSON.stringify(this.path) !== key) return;
    this.listed.classList.remove("busy");
    this.enabled = found.enabled;
    const focused = this.listed.contains(document.activeElement);
    const steps = found.enabled.map((one, i) => this.step(one, i, taken));
    fill(
      this.listed,
      h("h3", null, found.error ? "No step" : steps.length ? "Next" : "Nothing is possible here"),
      found.error ? h("p.dim", null, found.error) : h("ol.next", null, steps),
      found.more.map((label) => h("p.dim", null, `Of ${label} there are more ways than are listed.`)),
      found.disabled.length ? this.stopped(found.disabled) : null,
    );
    if (focused) this.focus();
  }

  step(one, i, taken) {
    const chosen = taken && same(taken, one.step);
    const notes = [
      chosen && h("span.tag", null, "on the path"),
      one.cut && h("span.tag.warn", { title: "a search does not go on from there" }, "cut by " + one.cut),
      one.back !== undefined && one.back !== null && h("span.tag", null, "back to " + one.back),
      one.raises && h("span.tag.bad", null, "raises"),
    ];
    const changes = one.raises ? h("div.changes.failed", null, one.raises) : one.changes.map(changeLine);
    return h(
      "li" + (chosen ? ".chosen" : ""),
      null,
      h("button.line", { onclick: () => this.take(i) }, h("span.number", null, i < 9 ? String(i + 1) : ""), h("span.what", null, labelOf(one), " ", notes)),
      h("div.changes.brief", null, one.raises || one.changes.length ? changes : h("span.dim", null, "changes nothing")),
    );
  }

  take(i) {
    const one = this.enabled && this.enabled[i];
    if (one) this.go([this.path[0], [...this.path[1], one.step]], this.path[1].length + 1);
  }

  // Disabled actions, those of one name together: each with its guard and values.
  stopped(disabled) {
    const groups = new Map();
    for (const one of disabled) {
      const key = actionName(one.label);
      groups.set(key, [...(groups.get(key) || []), one]);
    }
    const reason = (one) =>
      h(
        "li",
        null,
        h("span.action", null, one.label),
        one.guard && h("div.guard", null, h("code", null, one.guard), " ", h("span.source", null, eased(one.place))),
        one.values && h("div.values", null, one.values),
      );
    const group = ([name, alike]) => (alike.length === 1 ? reason(alike[0]) : h("li", null, h("details", null, h("summary", null, h("span.action", null, name), h("span.dim", null, ` × ${alike.length}`)), h("ul", null, alike.map(reason)))));
    return h("details.stopped", null, h("summary", null, `${plural(disabled.length, "action")} disabled`), h("ul", null, [...groups].map(group)));
  }

  makeTools() {
    const find = h("input", { type: "text", id: "find", spellcheck: "false", autocomplete: "off", "aria-label": "expression to find a state by", "aria-describedby": "hint" });
    const watch = h("input", { type: "text", id: "watch", spellcheck: "false", autocomplete: "off", "aria-label": "expression to watch", "aria-describedby": "hint" });
    this.finder = find;
    this.watcher = watch;
    this.hint = h("p.hint", { id: "hint" });
    return h(
      "div.tools",
      null,
      this.form("Find the nearest state where", find, "Find", () => this.seek("find", { path: this.path, text: find.value })),
      this.form("Watch", watch, "Add", () => {
        const text = watch.value.trim();
        watch.value = "";
        if (!text) return;
        this.live.wrote(text);
        this.onwatch([...this.live.watched, text]);
      }),
      this.hint,
      h("button.plain", { onclick: () => this.another() }, "Another way to this state"),
    );
  }

  form(label, input, word, act) {
    const submit = (event) => {
      event.preventDefault();
      act();
    };
    return h("form", { onsubmit: submit }, h("label", { for: input.id }, label), input, h("button.plain", { type: "submit" }, word));
  }

  another() {
    this.seek("another", { path: this.path });
  }

  // To the first of the next steps: from there on Tab goes through them.
  focus() {
    const first = this.listed.querySelector("button");
    if (first) first.focus();
  }

  async seek(question, body) {
    this.say("Looking…");
    try {
      const found = await this.live.ask(question, body);
      if (found.path) await this.go(found.path, found.path[1].length);
      this.say(found.said);
    } catch (error) {
      this.say(error.message);
    }
  }
}

// The expressions that an address brought, and the question whether they may be evaluated.
function broughtBox(brought, agree) {
  if (!brought) return null;
  const button = (word, yes) => h("button.plain", { onclick: () => agree(yes) }, word);
  return h(
    "div.brought",
    { role: "group", "aria-label": "expressions in the address" },
    h("p", null, "This address brings Python. It would run with your rights: evaluate it only if you trust who wrote it."),
    h("ul", null, brought.strange.map((text) => h("li", null, h("code", null, text)))),
    button("Evaluate", true),
    " ",
    button("Leave out", false),
  );
}

// Watched expressions with their values at a step, and where along the path they change.
function watchList(rows, at, remove) {
  if (!rows.length) return null;
  return h(
    "dl.watched",
    { "aria-label": "watched expressions" },
    rows.map((row, i) => {
      const values = row.values || [];
      const turns = values.map((v, n) => (n && v !== values[n - 1] ? n : 0)).filter(Boolean);
      return [
        h("dt", null, row.text, h("button.remove", { "aria-label": "stop watching " + row.text, onclick: () => remove(i) }, "×")),
        h("dd", null, row.error ? h("span.wrong", null, row.error) : h("span.value", null, values[Math.min(at, values.length - 1)]), turns.length ? h("span.dim", null, "  changes at " + turns.join(", ")) : null),
      ];
    }),
  );
}
