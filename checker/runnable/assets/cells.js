// The cells of an entry: blocks of files become editors, commands run below them.
const cells = (given.cells ?? []).map((cell, number) => ({ ...cell, number, figure: document.querySelector(`figure[data-line="${cell.line}"]`) }));
const files_ = cells.filter((cell) => cell.kind === "file" && cell.figure);
const texts = () => Object.fromEntries(files_.filter((cell) => cell.editor.changed).map((cell) => [cell.number, cell.editor.value]));
const button = (text, action) => h("button.small", { type: "button", onclick: action }, text);

function asEditor(cell) {
  const differs = h("details.changes", { hidden: true }, h("summary", null, "What you changed"));
  const list = h("pre");
  differs.append(list);
  const reset = button("Reset", () => { cell.editor.value = cell.text; });
  reset.hidden = true;
  cell.editor = editor(cell.name.replace("+", "").trim(), cell.text, () => {
    differs.hidden = reset.hidden = !cell.editor.changed;
    fill(list, changes(cell.editor));
  });
  cell.editor.number = cell.number;
  (cell.figure.querySelector(".copied") ?? cell.figure.querySelector("pre")).replaceWith(cell.editor.element);
  const caption = cell.figure.querySelector("figcaption");
  caption?.append(reset);
  cell.figure.append(differs);
}

function asCommands(cell) {
  const recorded = [...cell.figure.childNodes];
  const out = h("div.result", { "aria-live": "polite" });
  const lines = cell.commands.map((text) => h("code", { contenteditable: "plaintext-only", spellcheck: "false", role: "textbox", "aria-label": "command" }, text));
  const rows = lines.map((line) => h("p.command", null, "$ ", line, button("Run", () => run([line]))));
  async function run(chosen) {
    fill(out);
    kept.open = false;
    for (const line of chosen) {
      const live = h("pre.live");
      if (chosen.length > 1) out.append(h("p.command", null, "$ " + line.textContent));
      out.append(live);
      const reply = await ask({ kind: "run", entry: given.entry, cell: cell.number, texts: texts(), command: line.textContent.trim() }, live);
      live.replaceWith(...shown(reply, files_.map((one) => one.editor)));
      if (reply.problem) break;
    }
    back.hidden = false;
  }
  const stopper = button("Stop", stop);
  stopper.classList.add("stop");
  const back = button("Reset", () => { lines.forEach((line, at) => { line.textContent = cell.commands[at]; }); fill(out); back.hidden = kept.open = true; });
  back.hidden = true;
  lines.forEach((line) => line.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); run([line]); }
  }));
  const all = lines.length > 1 ? button("Run all", () => run(lines)) : null;
  cell.figure.append(h("div.run", null, h("div.buttons", null, all, stopper, back), rows, out));
  const kept = h("details.recorded", { open: true }, h("summary", null, "As it was recorded"));
  kept.append(...recorded);
  cell.figure.prepend(kept);
}

function asExercise() {
  const asks = [...document.querySelectorAll("figure.code pre")].find((pre) => /^statewalk diary check \d/.test(pre.textContent.trim()));
  if (!asks || !given.exercise) return;
  const own = editor("my.py", given.exercise);
  const out = h("div.result", { "aria-live": "polite" });
  const judge = button("Judge it", async () => {
    const live = h("pre.live");
    fill(out, live);
    const reply = await ask({ kind: "judge", entry: given.entry, text: own.value }, live);
    if (!reply.rows) return fill(out, shown(reply, [own]));
    const rows = reply.rows.map((row) => h("details", { open: !row.ok }, h("summary", null, (row.ok ? "ok  " : "no  ") + row.command), h("pre", null, printed(row.lines))));
    return fill(out, h(reply.solved ? "p.verdict.good" : "p.verdict.bad", null, reply.solved ? "Solved." : "Not yet."), rows);
  });
  const stopper = button("Stop", stop);
  stopper.classList.add("stop");
  const differs = button("What did I change?", () => fill(out, h("pre", null, changes(own))));
  const reset = button("Reset", () => { own.value = own.first; fill(out); });
  asks.closest("figure").after(h("figure.code.exercise", null, h("figcaption", null, "my.py"), own.element, h("div.buttons", null, judge, stopper, differs, reset), out));
}

if (given.cells) {
  files_.forEach(asEditor);
  cells.filter((cell) => cell.kind === "commands" && cell.figure).forEach(asCommands);
  asExercise();
  document.querySelector("article h1").after(bar.element);
}
