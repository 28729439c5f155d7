// The functions of a step as the spec has them: of the action, and of what it called; the lines that
// ran are marked, so that the branch taken is seen.

const WORDS = new Set("and as assert async await break class continue def del elif else except finally for from if import in is lambda not or pass raise return try while with yield True False None self".split(" "));
const TOKENS = /(#.*)|("""[^]*?"""|"[^"\n]*"|'[^'\n]*')|(@[\w.]+)|\b([A-Za-z_]\w*)\b|(\b\d+\b)/g;

// A line of Python, its words in colours of their kinds.
function coloured(text) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(TOKENS)) {
    const [, comment, string, mark, word, number] = found;
    const kind = comment ? "comment" : string ? "string" : mark ? "decorator" : number ? "digits" : WORDS.has(word) ? "keyword" : null;
    if (!kind) continue;
    parts.push(text.slice(from, found.index), h("span." + kind, null, found[0]));
    from = found.index + found[0].length;
  }
  return [...parts, text.slice(from)];
}

function functionOf(place, ran) {
  const found = data.code && data.code[place];
  if (!found) return null;
  const known = new Set(ran || []);
  const lines = found.lines.map((line, i) => {
    const at = found.first + i;
    const does = known.has(at);
    return h("span.codeline" + (does ? ".ran" : ""), null, h("span.number", { "aria-hidden": "true" }, String(at)), does ? h("span.unseen", null, "ran: ") : null, coloured(line), "\n");
  });
  const stand = found.lines[0].startsWith("@mutant") ? h("span.tag.bad", null, "mutant") : null;
  return [h("p.dim.above", null, eased(place), " ", stand), h("pre.code" + (known.size ? ".followed" : ""), { tabindex: "0", role: "region", "aria-label": "code of " + place }, lines)];
}

function codeOf(path, at) {
  const step = at ? path.steps[at - 1] : null;
  if (!step) return h("p.dim", null, "Choose a step: its function is shown here.");
  const ran = step.ran && step.ran.length ? step.ran : [[step.place, null]];
  const shown = ran.map(([place, lines]) => functionOf(place, lines)).filter(Boolean);
  if (!shown.length) return h("p.dim", null, "The text of this step is not in this page.");
  return [step.ran && step.ran.length ? h("p.dim.above", null, "The lines that this step ran are marked; functions that it called follow.") : null, shown];
}
