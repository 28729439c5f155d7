// The playground: one spec, its constants as fields, and links that carry it in the fragment.
const SPEC = "spec.py";
const HEAD = "#1"; // the version of a link: deflated JSON in base64 follows

async function piped(data, stream) {
  return new Uint8Array(await new Response(new Blob([data]).stream().pipeThrough(stream)).arrayBuffer());
}

async function packed(thing) {
  const data = await piped(JSON.stringify(thing), new CompressionStream("deflate-raw"));
  return HEAD + btoa(String.fromCharCode(...data)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

async function unpacked(fragment) {
  const letters = atob(fragment.slice(HEAD.length).replace(/-/g, "+").replace(/_/g, "/"));
  const data = await piped(Uint8Array.from(letters, (c) => c.charCodeAt(0)), new DecompressionStream("deflate-raw"));
  const { text, command } = JSON.parse(new TextDecoder().decode(data));
  if (typeof text !== "string" || typeof command !== "string") throw new Error("no spec in it");
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
  const request = (more) => ({ name: SPEC, text: spec.value, files: { [SPEC]: spec.value }, ...more });

  function begin(text, ran) {
    spec.first = text;
    spec.value = text;
    command.value = ran ?? "statewalk check " + SPEC;
    fill(out);
    fill(fields);
  }
  models.addEventListener("change", async () => {
    const name = models.value;
    notice.hidden = true;
    history.replaceState(null, "", location.pathname);
    if (name.startsWith("new ")) return begin(given.templates[name.slice(4)]);
    return begin(new TextDecoder().decode(await bytes("models/" + name + ".py")));
  });

  async function run() {
    const live = h("pre.live");
    fill(out, live);
    const reply = await ask(request({ kind: "run", command: words() }), live);
    fill(out, shown(reply, [spec]));
    notice.hidden = true;
  }
  command.addEventListener("keydown", (event) => { if (event.key === "Enter") run(); });

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
    history.replaceState(null, "", await packed({ text: spec.value, command: words() }));
    await navigator.clipboard?.writeText(location.href).catch(() => null);
    notice.hidden = false;
    fill(notice, "The address of this page now carries the spec (" + location.href.length + " letters, also copied). Nothing was sent anywhere.");
  }
  fill(root, bar.element, h("div.buttons", null, h("label", null, "Begin with ", models), button("Constants", constants), button("Link", share),
    button("Download", () => save(SPEC, spec.value, "text/x-python")),
    button("Notebook", () => save("spec.ipynb", asNotebook(spec.value, words()), "application/json"))),
  notice, h("figure.code", null, h("figcaption", null, SPEC), spec.element), fields,
  h("div.run", null, h("p.command", null, "$ ", command, button("Run", run), button("Stop", stop, ".stop")), out));
  if (location.hash.startsWith(HEAD)) {
    unpacked(location.hash).then(({ text, command: ran }) => {
      begin(text, ran);
      notice.hidden = false;
      fill(notice, "This spec came with the link. Nothing of it has run: read it, then press Run. It runs in a worker without network, and without access to what this site stores.");
    }, () => {
      notice.hidden = false;
      fill(notice, "The link is damaged: no spec can be read from it.");
    });
  }
}

if (given.templates) playground(document.getElementById("playground"));
