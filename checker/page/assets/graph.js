// A graph of states. It was laid out by who made it: here it becomes elements, and a state is gone to.

// ``open`` is what happens when a state is chosen, or null where it leads nowhere.
function graphOf({ width, height, shapes, names }, open, label) {
  const picture = shape(["svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label }, ""]);
  for (const one of shapes) {
    const element = shape(one);
    const spot = one[1]["data-spot"];
    if (spot !== undefined) {
      element.append(shape(["title", {}, names[spot]]));
      const go = open(spot);
      if (go) {
        const name = visible(names[spot].replace("\n", ": "));
        for (const [key, value] of Object.entries({ role: "button", tabindex: "0", "aria-label": name })) element.setAttribute(key, value);
        element.classList.add("open");
        element.addEventListener("click", go);
        element.addEventListener("keydown", (event) => {
          if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            event.stopPropagation();
            go();
          }
        });
      }
    }
    picture.append(element);
  }
  return h("div.scroll.lanes", { tabindex: "0", "aria-label": label }, picture);
}

// Of a path in a file: what a state and the one before it lead to, as far as that was made.
function graphBeside(path, at, select) {
  const found = path.around && path.around[at];
  if (!found) return h("p.dim", null, path.around ? "For this state no graph was made: there was no time for so many." : "What else was possible is not in this page.");
  const open = (spot) => (found.goes[spot] === null ? null : () => select(found.goes[spot]));
  const said = at ? "What this state and the one before it lead to." : "What this state leads to.";
  const more = found.whole ? "" : " Not all of it: there is too much to draw.";
  return [h("p.dim.above", null, said, more, " The path is marked."), graphOf(found.drawing, open, "states around")];
}

const FAR = [1, 2, 3, 4, 5, 10, 1000];

// In the explorer: the states around the one shown, as far as is asked.
class Around {
  constructor(live, go, say, onchange) {
    Object.assign(this, { live, go, say, onchange, depth: 2, by: "" });
    this.element = h("div");
  }

  async show(path) {
    const key = JSON.stringify([path, this.depth, this.by]);
    if (this.key === key) return;
    this.key = key;
    this.element.classList.add("busy");
    let found;
    try {
      found = await this.live.ask("around", { path, depth: this.depth, by: this.by });
    } catch (error) {
      found = { error: error.message };
    }
    if (this.key !== key) return;
    this.element.classList.remove("busy");
    this.draw(found, path);
  }

  draw({ drawing, paths, said, error }, path) {
    const turn = (change) => {
      Object.assign(this, change);
      this.onchange();
      this.show(path);
    };
    const options = FAR.map((n) => h("option", { value: n, selected: n === this.depth }, n === 1000 ? "all steps" : plural(n, "step")));
    const far = h("label.toggle", null, "within ", h("select", { onchange: (event) => turn({ depth: Number(event.target.value) }) }, options));
    const by = h("input", { type: "text", value: this.by, spellcheck: "false", autocomplete: "off", placeholder: "an expression" });
    const submit = (event) => {
      event.preventDefault();
      turn({ by: by.value.trim() });
    };
    const one = h("form.toggle", { onsubmit: submit }, h("label", null, "one spot per value of ", by));
    const open = (spot) => (spot === 0 ? null : () => this.go(paths[spot], paths[spot][1].length));
    const picture = error ? h("p.wrong", null, error) : graphOf(drawing, open, "states around");
    fill(this.element, h("div.asked", null, far, one, h("span", null, said)), picture);
  }
}
