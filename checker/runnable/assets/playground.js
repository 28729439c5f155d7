// The playground: one spec, its constants as fields, and links that carry it in the fragment.
const SPEC = "spec.py";
const HEAD = "#1"; // the version of a link: deflated JSON in base64 follows
const MOST = 200_000; // letters of a spec in a link, and of the link
const LARGE = new RangeError("it is too large: a link carries at most " + MOST.toLocaleString("en") + " letters");

// What a stream makes of data; no more of it is read than a link may carry.
async function piped(data, stream) {
  const [found, reader] = [[], new Blob([data]).stream().pipeThrough(stream).getReader()];
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    for (const byte of next.value) found.push(byte);
    if (found.length > MOST) { reader.cancel(); throw LARGE; }
  }
  return new Uint8Array(found);
}

async function packed(thing) {
  const text = new TextEncoder().encode(JSON.stringify(thing));
  if (text.length > MOST) throw LARGE;
  const data = await piped(text, new CompressionStream("deflate-raw"));
  return HEAD + btoa(Array.from(data, (c) => String.fromCharCode(c)).join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

async function unpacked(fragment) {
  if (fragment.length > MOST) throw LARGE;
  if (!fragment.startsWith(HEAD)) throw new RangeError("it is of another version of this page");
  const letters = atob(fragment.slice(HEAD.length).replace(/-/g, "+").replace(/_/g, "/"));
  const data = await piped(Uint8Array.from(letters, (c) => c.charCodeAt(0)), new DecompressionStream("deflate-raw"));
  const { text, command } = JSON.parse(new TextDecoder().decode(data));
  if (typeof text !== "string" || typeof command !== "string") throw new RangeError("there is none in it");
  return { text, command };
}

function save(name, text, type) {
  const link = h("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function asNotebook(text, command) {
  const cell = (source) => ({ cell_type: "code", execution_count: null, metadata: {}, outputs: [], source });
  const metadata = { kernelspec: { display_name: "Python 3", language: "python", name: "python3" } };
  return JSON.stringify({ cells: [cell("%%writefile " + SPEC + "\n" + text), cell("!" + command)], metadata, nbformat: 4, nbformat_minor: 4 }, null, 1);
}

function playground(root) {
  const spec = editor(SPEC, given.templates.empty);
  const command = h("input.line", { type: "text", value: "statewalk check " + SPEC, spellcheck: "false", "aria-label": "command" });
  const [out, fields, notice] = [h("div.result", { "aria-live": "polite" }), h("div.fields"), h("p.notice", { hidden: true })];
  const option = (value, text) => h("option", { value }, text);
  const models = h("select", { "aria-label": "begin with" },
    h("optgroup", { label: "Templates" }, Object.keys(given.templates).map((name) => option("new " + name, name))),
    h("optgroup", { label: "Library" }, given.models.map(([name, line]) => option(name, name + ": " + line))));
  const words = () => command.value.trim();
  let safe = spec.value; // what is written nowhere else may not be lost
  const replaces = () => spec.value === safe || confirm("Replace what you wrote? Link and Download keep it.");
  const tell = (text) => { notice.hidden = false; fill(notice, text); };
  const request = (more) => ({ name: SPEC, text: spec.value, files: { [SPEC]: spec.value }, ...more });

  function begin(text, ran) {
    spec.value = safe = text;
    command.value = ran ?? "statewalk check " + SPEC;
    fill(out);
    fill(fields);
  }
  let chosen = models.value;
  models.addEventListener("change", async () => {
    if (!replaces()) { models.value = chosen; return; }
    chosen = models.value;
    notice.hidden = true;
    history.replaceState(null, "", location.pathname);
    if (chosen.startsWith("new ")) begin(given.templates[chosen.slice(4)]);
    else begin(new TextDecoder().decode(await bytes("models/" + chosen + ".py")));
    if (engine.ready && !engine.job) await constants();
  });

  async function run() {
    const live = h("pre.live");
    fill(out, live);
    const reply = await ask(request({ kind: "run", command: words() }), live);
    fill(out, shown(reply, [spec]));
    notice.hidden = true;
  }
  command.addEventListener("keydown", (event) => { if (event.key === "Enter") run(); });
  spec.element.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run(); });

  // A constant's field becomes --set in the command, which is all that counts.
  function set(name, value) {
    const others = words().split(/\s+/).filter((word, at, all) => !(word.startsWith(name + "=") && all[at - 1] === "--set") && !(word === "--set" && all[at + 1]?.startsWith(name + "=")));
    command.value = [...others, ...(value === null ? [] : ["--set", name + "=" + (/^[\w.-]*$/.test(value) ? value : "'" + value + "'")])].join(" ");
  }
  async function constants() {
    fill(fields, h("span.dim", null, "loading …"));
    const reply = await ask(request({ kind: "constants" }), null);
    if (!reply.constants) { fill(fields); return fill(out, shown(reply, [spec])); }
    const made = Object.entries(reply.constants).map(([name, value]) => {
      const box = h("input", { type: "text", value, size: String(Math.max(3, value.length)), list: reply.choices[name] ? "of-" + name : null });
      box.addEventListener("change", () => set(name, box.value === value ? null : box.value));
      return h("label", null, name + " ", box, reply.choices[name] ? h("datalist", { id: "of-" + name }, reply.choices[name].map((one) => option(one, one))) : null);
    });
    return fill(fields, made.length ? made : h("span.dim", null, "This spec has no constants."));
  }

  const button = (text, action, kind = "") => h("button.small" + kind, { type: "button", onclick: action }, text);
  async function share() {
    try {
      history.replaceState(null, "", await packed({ text: spec.value, command: words() }));
    } catch (error) {
      return tell("There is no link to this spec: " + error.message + ". Download it instead.");
    }
    safe = spec.value;
    const copied = await navigator.clipboard?.writeText(location.href).then(() => ", also copied", () => "");
    return tell("The address of this page now carries the spec (" + location.href.length + " letters" + (copied ?? "") + "). Nothing was sent anywhere.");
  }
  async function receive() {
    if (!/^#\d/.test(location.hash) || !replaces()) return;
    try {
      const { text, command: ran } = await unpacked(location.hash);
      begin(text, ran);
      models.value = chosen = "";
      tell("This spec came with the link. Nothing of it has run: read it, then press Run. It runs in a worker without network, and without access to what this site stores.");
    } catch (error) {
      tell("No spec can be read from this link: " + (error instanceof RangeError ? error.message : "it is damaged") + ".");
    }
  }
  fill(root, bar.element, h("div.buttons", null, h("label", null, "Begin with ", models), button("Constants", constants), button("Link", share),
    button("Download", () => { save(SPEC, spec.value, "text/x-python"); safe = spec.value; }),
    button("Notebook", () => save("spec.ipynb", asNotebook(spec.value, words()), "application/json"))),
  notice, fields, h("figure.code", null, h("figcaption", null, SPEC), spec.element),
  h("div.run", null, h("p.command", null, "$ ", command, h("button.small", { type: "button", title: "Ctrl+Enter in the editor", onclick: run }, "Run"), button("Stop", stop, ".stop")), out));
  addEventListener("hashchange", receive);
  receive();
}

if (given.templates) playground(document.getElementById("playground"));
