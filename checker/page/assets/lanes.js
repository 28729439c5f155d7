// The sequence diagram. It was laid out by who made the page: here it becomes elements, and lanes
// may be folded, or take more room where there is some.

const GUTTER = 34; // at the left, where the steps' numbers are
const FIRST = 900; // points above and below the step shown that are drawn at once
const FOLDED = 22; // width of a lane that is folded
const folded = new Set(); // names of lanes, the same for all paths
let foldedBy = null; // the drawing for which lanes were folded so that the others fit

// How far down a shape is; null for what goes along the whole drawing, and for the rows.
function depthOf([, attributes]) {
  if (/\b(row|life|arc|band)\b/.test(attributes.class)) return null;
  const d = /^M[\d.-]+[ ,]([\d.-]+)/.exec(attributes.d || "");
  return Number(d ? d[1] : attributes.y || attributes.y1 || attributes.cy || 0);
}

function endOf({ loop, length }) {
  if (loop === null) return null;
  return h("p.dim", null, loop === length ? "Stuttering: no further step is taken." : `The last state is state ${loop} again, and so on for ever.`);
}

// Where everything is with some lanes folded, and with room given to the others.
class Places {
  constructor(lanes, width, room) {
    const open = lanes.filter((lane) => !folded.has(lane.name));
    const shut = (lane) => lane.end - lane.left - FOLDED;
    const saved = lanes.reduce((sum, lane) => sum + (folded.has(lane.name) ? shut(lane) : 0), 0);
    this.lanes = lanes;
    const spare = Math.max(0, Math.min(room - (width - saved), 60 * open.length));
    let by = 0;
    this.moved = lanes.map((lane) => {
      const left = lane.left + by;
      by += folded.has(lane.name) ? -shut(lane) : Math.floor(spare / open.length);
      return { left, end: lane.end + by };
    });
    this.width = width + by;
    this.by = by;
  }

  x(at) {
    const { lanes, moved } = this;
    let found = at;
    lanes.forEach((lane, i) => {
      if (at < lane.left) return;
      const by = at - lane.left;
      found = at > lane.end ? moved[i].end + at - lane.end : moved[i].left + (folded.has(lane.name) ? Math.min(by, FOLDED) : by);
    });
    return found;
  }

  // The text of an arrow stands in the first lane on its way that is open.
  label(attributes, text) {
    const { "data-lane": from, "data-end": to, x } = attributes;
    const open = [...Array(to - from).keys()].map((i) => from + i).find((i) => !folded.has(this.lanes[i].name));
    if (open === undefined) return null;
    return ["text", { ...attributes, x: this.moved[open].left + x - this.lanes[from].left }, text];
  }

  // A shape where it is now; null for what is in a folded lane.
  shape([tag, attributes, text]) {
    const lane = attributes["data-lane"];
    const kind = attributes.class;
    if (kind !== "label" && lane !== undefined && folded.has(this.lanes[lane].name) && !/pill/.test(kind)) return null;
    const now = { ...attributes };
    if (kind === "label") return this.label(attributes, text);
    if (kind === "row") now.width = this.width;
    else if (tag === "path") now.d = attributes.d.replace(/^M([\d.-]+)/, (_, x) => "M" + (/arc/.test(kind) ? Number(x) + this.by : this.x(Number(x))));
    else {
      if ("x1" in now) Object.assign(now, { x1: this.x(now.x1), x2: this.x(now.x2) });
      if ("x" in now) now.x = this.x(now.x);
      if (lane !== undefined && "width" in now) now.width = Math.min(now.width, this.moved[lane].end - now.x);
    }
    return [tag, now, text];
  }
}

// Fold what takes no part in the last step and is not read by the property, where not all fits.
function foldToFit(path, room) {
  const { lanes, width } = path.lanes;
  if (foldedBy === path || !room) return;
  foldedBy = path;
  folded.clear();
  const { reason, length } = path.trace;
  const asked = new Set(reason ? [...reason.reads.map((place) => place.split(".")[0]), ...reason.clauses.flatMap((c) => c.values.map(([, v]) => v))] : []);
  const step = path.steps[length - 1];
  if (step) for (const [text, kind] of step.label) if (kind === "actor") asked.add(text);
  if (step) for (const [, place] of step.changes) asked.add(place.split(".")[0]);
  const by = lanes.map((lane) => [asked.has(lane.name) ? 1 : 0, lane]).sort((a, b) => a[0] - b[0]);
  let now = width;
  for (const [wanted, lane] of by) {
    if (now <= room || wanted) break;
    folded.add(lane.name);
    now -= lane.end - lane.left - FOLDED;
  }
}

const short = (name) => name.replace(/^(\w)[^#]*#?/, "$1");

function lanesOf(path, select, at, room) {
  foldToFit(path, room);
  const { height, lanes, shapes } = path.lanes;
  const places = new Places(lanes, path.lanes.width, room);
  const { width } = places;
  const size = (tall) => ({ width, height: tall, viewBox: `0 0 ${width} ${tall}` });
  const body = shape(["svg", { ...size(height), role: "img", "aria-label": "sequence diagram of the path; its steps are listed beside it" }, ""]);
  const gutter = shape(["svg", { ...size(height), class: "gutter", width: GUTTER, viewBox: `0 0 ${GUTTER} ${height}`, "aria-hidden": "true" }, ""]);
  const isNumber = ([tag, { class: kind }]) => tag === "text" && kind === "number";
  const row = shapes.find((one) => one[1].class === "row" && one[1]["data-step"] === at);
  const middle = row ? row[1].y : 0;
  const put = (one) => {
    const now = isNumber(one) ? one : places.shape(one);
    if (now) (isNumber(one) ? gutter : body).append(shape(now));
  };
  const far = shapes.filter((one) => {
    const depth = depthOf(one);
    if (depth !== null && Math.abs(depth - middle) > FIRST) return true;
    put(one);
    return false;
  });
  afterwards(far, put);
  body.addEventListener("click", (event) => {
    const y = event.clientY - body.getBoundingClientRect().top;
    const found = shapes.find(([, a]) => a.class === "row" && y >= a.y && y < a.y + a.height);
    if (found) select(found[1]["data-step"]);
  });
  const states = pillsIn(path.lanes).lanes.some((one) => one.length);
  const names = h("div.lanenames" + (states ? ".stated" : ""), null, lanes.map((lane, i) => laneHead(lane, places.moved[i], i, states)));
  names.style.width = width + "px";
  return h("div.scroll.lanes", { tabindex: "0", role: "region", "aria-label": "lanes" }, names, h("div.body", null, gutter, body), endOf(path.trace));
}

// By drawing where its rows end, and by lane its pills: how far down each is, and its text.
const pillsOf = new WeakMap();

function pillsIn(drawing) {
  if (pillsOf.has(drawing)) return pillsOf.get(drawing);
  const found = { ends: new Map(), lanes: drawing.lanes.map(() => []) };
  for (const [tag, { class: kind, y, height, "data-step": step, "data-lane": lane }, text] of drawing.shapes) {
    if (kind === "row") found.ends.set(step, y + height);
    else if (kind === "state" && tag === "text") found.lanes[lane].push([y, text]);
  }
  pillsOf.set(drawing, found);
  return found;
}

// The state that a lane is in after a step: what its last pill until there says.
function stateOf({ lanes }, number, at) {
  const { ends, lanes: pills } = pillsIn(lanes);
  const low = ends.get(at) ?? (at ? Infinity : 0);
  return pills[number].findLast(([y]) => y < low)?.[1] ?? "";
}

function markStates(path, at) {
  for (const said of panel.querySelectorAll(".lanestate")) {
    const text = stateOf(path, Number(said.dataset.lane), at);
    if (said.textContent !== text) fill(said, text);
  }
}

// The name of a lane, which folds it, and below it the state it is in.
function laneHead(lane, { left, end }, number, states) {
  const shut = folded.has(lane.name);
  const turn = () => {
    if (shut) folded.delete(lane.name);
    else folded.add(lane.name);
    drawn.panel = "";
    draw();
    [...panel.querySelectorAll(".lanename")].find((one) => one.title.endsWith(" " + lane.name)).focus();
  };
  const word = shut ? "unfold" : "fold";
  const name = h("button.lanename", { onclick: turn, "aria-expanded": String(!shut), "aria-label": `${lane.name}: ${word} its lane`, title: `${word} ${lane.name}` }, shut ? short(lane.name) : lane.name);
  const said = states && !shut ? h("span.lanestate", { "data-lane": number }) : null;
  for (const one of [name, said]) if (one) Object.assign(one.style, { left: left + "px", width: end - left + "px" });
  return [name, said];
}
