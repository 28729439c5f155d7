// The checker of the page: nothing is loaded before the first run, one thing runs at a time, and to
// stop it its worker is ended.
const given = JSON.parse(document.getElementById("runnable").textContent);
const FILES = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "memory.bin", "files.bin"];
const GRACE = 20; // seconds past its own limit after which a run is ended from here
const engine = { frame: null, files: null, ready: null, job: null, state: "asleep" };
const bar = {
  state: h("span.state", { role: "status" }, "Nothing is loaded yet: Run loads " + given.size + ", once."),
  limits: {
    states: h("input", { type: "number", value: "20000", min: "1" }),
    seconds: h("input", { type: "number", value: "60", min: "1" }),
    memory: h("input", { type: "number", value: "1024", min: "256", step: "256" }),
  },
};
bar.element = h("div.runbar", null, bar.state, given.playground ? h("a", { href: given.playground }, "Playground") : null, h("details", null, h("summary", null, "Limits"),
  h("label", null, bar.limits.states, " states"), h("label", null, bar.limits.seconds, " seconds"),
  h("label", null, bar.limits.memory, " MB (of the next start)")));
const limit = (name) => Math.max(1, Number(bar.limits[name].value) || 1);

async function files() {
  const got = await Promise.all(FILES.map(async (name) => [name, await bytes(name)]));
  return { files: Object.fromEntries(got), worker: new TextDecoder().decode(await bytes("worker.js")) };
}

async function bytes(name) {
  const response = await fetch(given.root + name);
  if (!response.ok) throw new Error(name + " cannot be loaded: " + response.status);
  return response.arrayBuffer();
}

function told({ source, data }) {
  if (!engine.frame || source !== engine.frame.contentWindow) return;
  if (data.kind === "ready") engine.started();
  else if (data.kind === "progress") engine.job?.progress(String(data.text));
  else if (data.kind === "done") conclude(data.reply);
  else fail(String(data.text));
}
addEventListener("message", told);

function start() {
  const began = performance.now();
  engine.ready = (async () => {
    bar.state.textContent = "Loading Python …";
    if (location.protocol === "file:") throw new Error("A browser reads no files beside a page from file://. Serve the folder, for example with: python -m http.server");
    engine.files ??= await files();
    const frame = h("iframe", { sandbox: "allow-scripts", src: given.root + "frame.html", hidden: true, title: "the checker" });
    await new Promise((done) => { frame.addEventListener("load", done); document.body.append(frame); });
    engine.frame = frame;
    await new Promise((done, failed) => {
      engine.started = done;
      engine.broke = failed;
      frame.contentWindow.postMessage(engine.files.worker, "*");
      frame.contentWindow.postMessage({ kind: "load", files: engine.files.files, most: limit("memory") * 1048576, lock: given.lock }, "*");
    });
    bar.state.textContent = "Ready: loaded in " + ((performance.now() - began) / 1000).toFixed(1) + " s.";
  })();
  return engine.ready;
}

function end() {
  engine.frame?.remove();
  Object.assign(engine, { frame: null, ready: null });
}

function conclude(reply, problem) {
  const job = engine.job;
  if (!job) return;
  clearTimeout(job.late);
  engine.job = null;
  document.body.classList.remove("running");
  if (reply) bar.state.textContent = "Ready. The last run took " + ((performance.now() - job.began) / 1000).toFixed(1) + " s.";
  job.done(reply ?? { lines: [problem], problem: true });
}

function fail(text) {
  engine.broke?.(new Error(text));
  end();
  bar.state.textContent = "Stopped.";
  conclude(null, text);
}

const stop = () => fail("Stopped by hand: there is no result." + (engine.job?.last ? " Seen until then: " + engine.job.last : ""));

// Send a request, and return the reply; progress is shown in an element meanwhile.
async function ask(request, shown) {
  if (engine.job) return { lines: ["Something else runs: stop it first."], problem: true };
  return new Promise((done) => {
    const job = { done, began: performance.now(), last: "", progress(text) {
      job.last = text.split("\n")[1]?.trim() ?? "";
      if (shown) fill(shown, text.trimEnd());
    } };
    engine.job = job;
    document.body.classList.add("running");
    if (shown) fill(shown, engine.ready ? "running …" : "loading Python, then running …");
    (engine.ready ?? start()).then(() => {
      if (engine.job !== job) return;
      const limits = { "--max-states": limit("states"), "--timeout": limit("seconds") };
      job.began = performance.now();
      job.late = setTimeout(() => fail("Ended after " + (limit("seconds") + GRACE) + " s: there is no result."), (limit("seconds") + GRACE) * 1000);
      engine.frame.contentWindow.postMessage({ ...request, limits }, "*");
    }, (error) => { end(); bar.state.textContent = "Not loaded."; conclude(null, String(error.message ?? error)); });
  });
}
