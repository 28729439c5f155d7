// An editor: a text area over its own text in colours, and the numbers of lines.
function editor(name, text, changed) {
  const area = h("textarea", { spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": name + ": Tab indents, Escape and Tab leave" });
  const [numbers, colours] = [h("pre.numbers", { "aria-hidden": "true" }), h("pre.colours", { "aria-hidden": "true" })];
  const marks = new Set();
  let leaving = false;
  function draw() {
    fill(colours, coloured(area.value), "\n");
    const lines = area.value.split("\n").map((_, at) => h(marks.has(at + 1) ? "span.wrong" : "span", null, String(at + 1), "\n"));
    fill(numbers, lines);
  }
  function put(from, to, more) {
    area.setSelectionRange(from, to);
    document.execCommand("insertText", false, more);
  }
  area.addEventListener("input", () => { marks.clear(); draw(); changed?.(); });
  area.addEventListener("keydown", (event) => {
    const at = area.selectionStart;
    const line = area.value.slice(area.value.lastIndexOf("\n", at - 1) + 1, at);
    if (event.key === "Escape") leaving = true;
    else if (event.key === "Tab" && !leaving && !event.shiftKey) {
      event.preventDefault();
      put(at, area.selectionEnd, " ".repeat(4 - line.length % 4));
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      put(at, area.selectionEnd, "\n" + line.match(/^ */)[0] + (line.trimEnd().endsWith(":") ? "    " : ""));
    }
    if (event.key !== "Escape") leaving = false;
  });
  const made = {
    name,
    element: h("div.editor", null, numbers, h("div.text", null, colours, area)),
    first: text,
    get value() { return area.value; },
    set value(next) { area.value = next; marks.clear(); draw(); changed?.(); },
    get changed() { return area.value !== made.first; },
    mark(line) {
      marks.add(line);
      draw();
      const at = numbers.children[line - 1];
      if (at && marks.size === 1) made.element.scrollTop = at.offsetTop - made.element.clientHeight / 2;
    },
  };
  area.value = text;
  draw();
  return made;
}

// The lines of two texts, as [sign, line]: a longest common subsequence.
function difference(before, after) {
  const [a, b] = [before.split("\n"), after.split("\n")];
  const best = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  }
  const found = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) found.push([" ", a[i++], j++]);
    else if (j < b.length && (i === a.length || best[i][j + 1] > best[i + 1][j])) found.push(["+", b[j++]]);
    else found.push(["-", a[i++]]);
  }
  return found;
}

function changes(one) {
  const kinds = { "+": "plus", "-": "minus" };
  return difference(one.first, one.value).filter(([sign]) => sign !== " ").map(([sign, line]) => h("span." + kinds[sign], null, sign + " " + line, "\n"));
}

// Output of a command, coloured as the recorded one is; errors lead to their pages and lines.
// A cell that shows parts of a file is told which of its lines show which of the file's.
const styles = given.styles.map(([pattern, style]) => [new RegExp(pattern), style]);

function printed(lines) {
  return lines.map((line) => [h("span." + (styles.find(([pattern]) => pattern.test(line))?.[1] ?? "plain"), null, line), "\n"]);
}

function shown(reply, editors) {
  const parts = [h("pre", null, printed(reply.lines))];
  const text = reply.lines.join("\n");
  for (const one of editors) {
    const name = one.name.split("/").pop().replace(/[.]/g, "\\.");
    for (const found of text.matchAll(new RegExp("\\b" + name + ":(\\d+)", "g"))) {
      const line = "number" in one ? reply.places?.[one.number]?.[found[1]] : Number(found[1]);
      if (line) one.mark(line);
    }
  }
  const code = text.match(/\bSW\d{3}\b/);
  if (code && given.errors) {
    const address = given.errors + code[0] + ".html";
    parts.push(h("details.about", { open: true }, h("summary", null, "About " + code[0]), h("iframe", { src: address, title: "the page of " + code[0] })));
  }
  if (reply.page) {
    parts.push(h("details.look", { open: true }, h("summary", null, "Look at it: states, lanes, playback"), h("iframe", { sandbox: "allow-scripts", srcdoc: reply.page, title: "the page of this run" })));
  }
  return parts;
}
