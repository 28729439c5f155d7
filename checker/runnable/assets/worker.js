"use strict";
// The Python of a page. It gets every file as bytes and has no network: what a spec may reach is
// this worker, of an origin of its own, without any storage.
const SITE = "/lib/python3.14/site-packages";
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

async function load({ files, memory, lock }) {
  limit(memory);
  self.fetch = async (address) => {
    const name = String(address).split("/").pop();
    if (!(name in files)) throw new TypeError("there is no network here: " + address);
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return new Response(files[name], { headers: { "Content-Type": type } });
  };
  const part = (name) => import(URL.createObjectURL(new Blob([files[name]], { type: "text/javascript" })));
  const [{ loadPyodide }, { default: createPyodideModule }] = [await part("pyodide.mjs"), await part("pyodide.asm.mjs")];
  const python = await loadPyodide({ indexURL: NOWHERE, packageBaseUrl: NOWHERE, lockFileContents: lock, createPyodideModule });
  for (const [name, extractDir] of [["packages.zip", SITE], ["statewalk.zip", SITE], ["diary.zip", "/home/diary"]]) {
    python.FS.mkdirTree(extractDir);
    python.unpackArchive(files[name], "zip", { extractDir });
    delete files[name];
  }
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
