// Tabs, the way along the path, whose states are shown: made once, so that what has the focus keeps it.

const TABS = [
  ["state", "State"],
  ["lanes", "Lanes"],
  ["table", "By role"],
];
const hasTab = (name) => TABS.some(([known]) => known === name);

class Tabs {
  constructor(choose) {
    this.choose = choose;
    this.element = h("div.tabs", { role: "tablist", "aria-label": "views of the path" });
    this.made = new Map();
  }

  show(chosen) {
    for (const [name, text] of TABS) if (!this.made.has(name)) this.make(name, text);
    for (const [name, button] of this.made) {
      button.setAttribute("aria-selected", String(name === chosen));
      button.tabIndex = name === chosen ? 0 : -1;
    }
  }

  make(name, text) {
    const props = { role: "tab", id: "tab-" + name, "aria-controls": "panel", onclick: (event) => this.click(event, name), onkeydown: (event) => this.move(event, name) };
    this.made.set(name, h("button", props, text));
    this.element.append(this.made.get(name));
  }

  // Who points at a tab goes on with the keys of the page; who came with keys stays on the tab.
  click(event, name) {
    if (event.detail) event.currentTarget.blur();
    this.choose(name);
  }

  // Arrows go from tab to tab, as in other programs.
  move(event, from) {
    const names = [...this.made.keys()];
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const to = names[(names.indexOf(from) + by + names.length) % names.length];
    this.choose(to);
    this.made.get(to).focus();
  }
}

class Stepper {
  constructor(go, play) {
    this.said = h("span", { role: "status" });
    const turn = (word, by, sign) => h("button." + (by < 0 ? "back" : "on"), { "aria-label": word, onclick: () => go(by) }, sign);
    this.back = turn("previous step", -1, "‹");
    this.on = turn("next step", 1, "›");
    this.play = h("button.play", { "aria-keyshortcuts": "Space", onclick: play });
    this.element = h("div.stepper", null, this.play, this.back, this.said, this.on);
    this.plays(false);
  }

  plays(on) {
    this.play.textContent = on ? "❚❚" : "▶";
    this.play.setAttribute("aria-label", on ? "stop playing" : "play the steps");
    this.play.title = on ? "stop (space)" : "play the steps (space)";
  }

  show(at, end) {
    this.said.textContent = `step ${at} of ${end}`;
    this.back.setAttribute("aria-disabled", String(at === 0));
    this.on.setAttribute("aria-disabled", String(at === end));
  }
}

// Of a comparison: whose states are shown.
class Sides {
  constructor(choose) {
    this.choose = choose;
    this.element = h("div.sides", { role: "group", "aria-label": "whose states are shown" });
  }

  show(paths, chosen) {
    const key = paths.map((one) => one.side).join("\n");
    if (this.key !== key) {
      const button = (one, i) => h("button", { onclick: () => this.choose(i) }, one.side);
      fill(this.element, paths.map(button));
    }
    this.key = key;
    [...this.element.children].forEach((one, i) => one.setAttribute("aria-pressed", String(i === chosen)));
  }
}
