"use strict";
// The Python of a page. It gets every file as bytes and has no network: what a spec may reach is
// this worker, of an origin of its own, without any storage.
const NOWHERE = "https://nowhere.invalid/";
const say = (kind, more) => self.postMessage({ kind, ...more });
let answer = null;

// Memory grows up to a limit; past it Python raises MemoryError.
function limit(bytes) {
  const grow = WebAssembly.Memory.prototype.grow;
  WebAssembly.Memory.prototype.grow = function limited(pages) {
    if (this.buffer.byteLength + pages * 65536 > bytes) throw new RangeError("the limit of memory");
    return grow.call(this, pages);
  };
}

async function inflated(data) {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Write all files: their index is preceded by its length, and followed by their contents.
function unpack(fs, data) {
  let at = 4 + new DataView(data.buffer).getUint32(0, true);
  for (const [name, size] of Object.entries(JSON.parse(new TextDecoder().decode(data.subarray(4, at))))) {
    fs.mkdirTree(name.slice(0, name.lastIndexOf("/")));
    fs.writeFile(name, data.subarray(at, at += size), { canOwn: true });
  }
}

async function load({ files, most, lock }) {
  limit(most);
  self.fetch = async (address) => {
    const name = String(address).split("/").pop();
    if (!(name in files)) throw new TypeError("there is no network here: " + address);
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return new Response(files[name], { headers: { "Content-Type": type } });
  };
  const part = (name) => import(URL.createObjectURL(new Blob([files[name]], { type: "text/javascript" })));
  const [{ loadPyodide }, { default: create }] = [await part("pyodide.mjs"), await part("pyodide.asm.mjs")];
  const memory = await inflated(files["memory.bin"]);
  const createPyodideModule = async (settings) => {
    const made = await create(settings);
    made._malloc(memory.length); // so that there is room: what is kept replaces it
    // but for what calls functions, which browsers differ in
    const [words, to] = [new Uint32Array(memory.buffer), made.__PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET / 4];
    const at = (made.__PyRuntime + made.HEAPU32[to]) / 4;
    words[words[1] / 4 + at] = made.HEAPU32[at];
    return made;
  };
  const python = await loadPyodide({ indexURL: NOWHERE, packageBaseUrl: NOWHERE, lockFileContents: lock, createPyodideModule, _loadSnapshot: memory });
  unpack(python.FS, await inflated(files["files.bin"]));
  for (const name of Object.keys(files)) delete files[name];
  answer = python.pyimport("statewalk.checker.runnable.inside").answer;
}

self.onmessage = async ({ data }) => {
  try {
    if (data.kind === "load") {
      await load(data);
      say("ready", {});
    } else {
      const reply = answer(JSON.stringify(data), (text) => say("progress", { text }));
      say("done", { reply: JSON.parse(reply) });
    }
  } catch (error) {
    say("failed", { text: String(error && error.message || error) });
  }
};
