// A graph of states. It was laid out by who made it: here it becomes elements, and a state is gone to.

// ``open`` gives what happens when a state is chosen, or null where it leads nowhere; ``unfold`` what
// shows where a state leads to. What a box cuts short, or a dot leaves out, stands below.
function graphOf({ width, height, shapes, names }, open, label, unfold) {
  const picture = shape(["svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label }, ""]);
  const spots = [];
  for (const one of shapes) {
    const element = shape(one);
    const spot = one[1]["data-spot"];
    const folded = one[1]["data-unfold"];
    if (spot !== undefined) {
      element.append(shape(["title", {}, names[spot]]));
      const act = open(spot);
      if (act) spots.push(asButton(element, nameOfSpot(names[spot]), act, unfold && (() => unfold(spot))));
    }
    if (folded !== undefined) {
      element.append(shape(["title", {}, "unfold what this leads to"]));
      element.addEventListener("click", () => unfold(folded));
    }
    picture.append(element);
  }
  if (spots.length) spots[0].setAttribute("tabindex", "0");
  picture.addEventListener("keydown", (event) => moveAmong(spots, event));
  const spelt = h("p.spelt.dim", { "aria-hidden": "true" });
  const tell = (event) => {
    const spot = event.target.getAttribute("data-spot");
    if (spot !== null) fill(spelt, names[spot]);
  };
  picture.addEventListener("mouseover", tell);
  picture.addEventListener("focusin", tell);
  const box = h("div.scroll.lanes.graphbox", { tabindex: "0", role: "region", "aria-label": label }, picture, spelt);
  return h("div.graph", null, zoomable(box, picture), box);
}

const nameOfSpot = (text) => visible(text.replace("\n", ": "));

function asButton(element, name, act, unfold) {
  for (const [key, value] of Object.entries({ role: "button", tabindex: "-1", "aria-label": name })) element.setAttribute(key, value);
  if (unfold) element.setAttribute("aria-keyshortcuts", "+");
  element.classList.add("open");
  element.addEventListener("click", (event) => (event.shiftKey && unfold ? unfold() : act()));
  element.addEventListener("keydown", (event) => {
    const done = event.key === "Enter" || event.key === " " ? act : event.key === "+" ? unfold : null;
    if (!done) return;
    event.preventDefault();
    event.stopPropagation();
    done();
  });
  return element;
}

// Arrows go to the next spot in their direction; Tab goes through the graph in one step.
function moveAmong(spots, event) {
  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const way = ways[event.key];
  const from = spots.indexOf(event.target);
  if (!way || from < 0) return;
  event.preventDefault();
  event.stopPropagation();
  const place = (one) => [Number(one.getAttribute("x")), Number(one.getAttribute("y"))];
  const [x, y] = place(spots[from]);
  let best = null;
  for (const one of spots) {
    const [dx, dy] = [place(one)[0] - x, place(one)[1] - y];
    const along = dx * way[0] + dy * way[1];
    const cost = along + 3 * Math.abs(dx * way[1] + dy * way[0]);
    if (along > 0 && (!best || cost < best[0])) best = [cost, one];
  }
  if (!best) return;
  spots[from].setAttribute("tabindex", "-1");
  best[1].setAttribute("tabindex", "0");
  best[1].focus();
}

// Of a path in a file: what a state and the one before it lead to, as far as that was made.
function graphBeside(path, at, select) {
  const found = path.around && path.around[at];
  if (!found) return h("p.dim", null, path.around ? "For this state no graph was made: there was no time for so many." : data.alone || "What else was possible is not in this page.");
  const open = (spot) => (found.goes[spot] === null ? null : () => select(found.goes[spot]));
  const said = at ? "What this state and the one before it lead to." : "What this state leads to.";
  const more = found.whole ? "" : " Not all of it: there is too much to draw.";
  const wrong = found.drawing.shapes.some((one) => /\bwrong\b/.test(one[1].class)) ? " Red: what has to hold does not." : "";
  const made = graphOf(found.drawing, open, "states around");
  afterwards([made.querySelector(".spot.here")].filter(Boolean), (one) => reveal(one, one.closest(".scroll")));
  return [h("p.dim.above", null, said, more, " The path is marked.", wrong), made];
}

const FAR = [1, 2, 3, 4, 5, 10, 1000];

// In the explorer: the states around the one shown, as far as is asked.
class Around {
  constructor(live, go, say, onchange) {
    Object.assign(this, { live, go, say, onchange, depth: 2, by: "", unfolded: [] });
    const options = FAR.map((n) => h("option", { value: n }, n === 1000 ? "all steps" : plural(n, "step")));
    this.far = h("select", { onchange: () => this.turn({ depth: Number(this.far.value) }) }, options);
    this.value = h("input", { type: "text", spellcheck: "false", autocomplete: "off", placeholder: "an expression" });
    const submit = (event) => {
      event.preventDefault();
      this.live.wrote(this.value.value.trim());
      this.turn({ by: this.value.value.trim() });
    };
    this.said = h("span", { role: "status" });
    this.picture = h("div");
    const far = h("label.toggle", null, "within ", this.far);
    const by = h("form.toggle", { onsubmit: submit }, h("label", null, "one spot per value of ", this.value));
    this.element = h("div", null, h("div.asked", null, far, by, this.said), this.picture);
  }

  turn(change) {
    Object.assign(this, change);
    this.onchange();
    this.show(this.path, this.along);
  }

  // ``along`` is the whole path, of which ``path`` is the part to the state shown.
  async show(path, along) {
    if (this.path && !same(this.path, path)) this.unfolded = [];
    this.path = path;
    this.along = along;
    this.far.value = String(this.depth);
    if (document.activeElement !== this.value) this.value.value = this.by;
    const body = { path, along, depth: this.depth, by: this.by, unfolded: this.unfolded };
    const key = JSON.stringify(body);
    if (this.key === key) return;
    this.key = key;
    this.element.classList.add("busy");
    let found;
    try {
      found = await this.live.ask("around", body);
    } catch (error) {
      found = { error: error.message };
    }
    if (this.key !== key) return;
    this.element.classList.remove("busy");
    this.draw(found);
  }

  draw({ drawing, paths, said, error }) {
    const focused = this.picture.contains(document.activeElement) && document.activeElement.getAttribute("data-spot");
    const open = (spot) => (spot === 0 ? null : () => this.go(paths[spot], paths[spot][1].length));
    const unfold = this.by ? null : (spot) => this.turn({ unfolded: [...this.unfolded, paths[spot]] });
    const picture = error ? h("p.wrong", null, error) : graphOf(drawing, open, "states around", unfold);
    const boxOf = () => this.picture.querySelector(".graphbox") || {};
    const { scrollLeft = 0, scrollTop = 0 } = boxOf();
    fill(this.said, error ? null : said);
    fill(this.picture, picture);
    Object.assign(boxOf(), { scrollLeft, scrollTop });
    const again = focused && picture.querySelector(`[data-spot="${focused}"][role]`);
    if (again) again.focus();
  }
}
