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

// The values of a line, beside it.
const beside = (text) => (text ? h("span.beside", null, " ", eased(text)) : null);

// In the explorer, which runs where the spec is: the place in an editor.
function editorLink(place) {
  if (!live || !data.editor) return null;
  const [, file, line] = /^(.*):(\d+)$/.exec(place);
  const whole = file.startsWith("/") ? file : `${data.folder}/${file}`;
  const address = data.editor.replace("{file}", encodeURI(whole)).replace("{line}", line);
  return /^(vscode|vscodium|cursor|idea|pycharm|zed|subl|txmt|emacs|org-protocol):/.test(address) ? h("a", { href: address }, "open in editor") : null;
}

function functionOf(place, ran, values) {
  const found = data.code && data.code[place];
  if (!found) return null;
  const known = new Set(ran || []);
  const lines = found.lines.map((line, i) => {
    const at = found.first + i;
    const does = known.has(at);
    return h("span.codeline" + (does ? ".ran" : ""), null, h("span.number", { "aria-hidden": "true" }, String(at)), does ? h("span.unseen", null, "ran: ") : null, h("span.text", null, coloured(line)), beside(values && values[at]), "\n");
  });
  const stand = found.lines[0].startsWith("@mutant") ? h("span.tag.bad", null, "mutant") : null;
  return [h("p.dim.above", null, eased(place), " ", stand, " ", editorLink(place)), h("pre.code" + (known.size ? ".followed" : ""), { tabindex: "0", role: "region", "aria-label": "code of " + place }, lines)];
}

const functionsOf = (ran) => ran.map(([place, lines, values]) => functionOf(place, lines, values)).filter(Boolean);

function codeOf(path, at) {
  const judged = at === path.trace.length ? judgedCode(path) : null;
  const step = at ? path.steps[at - 1] : null;
  if (!step) return [h("p.dim", null, "Choose a step: its function is shown here."), judged];
  const followed = step.ran && step.ran.length;
  const shown = functionsOf(followed ? step.ran : [[step.place, null]]);
  if (!shown.length) return [h("p.dim", null, "The text of this step is not in this page."), judged];
  return [followed ? h("p.dim.above", null, "The lines that this step ran are marked, with the values they had; functions that it called follow.") : null, shown, judged];
}

// What the property runs in the last state: there it is false.
function judgedCode(path) {
  const shown = functionsOf(path.judged || []);
  if (!shown.length) return null;
  return h("section.judged", { id: "judged" }, h("h3", null, `How ${path.trace.property} is judged`), h("p.dim.above", null, "The lines that the property ran in the last state, with the values they had last; those that ask for what decides come first."), shown);
}
