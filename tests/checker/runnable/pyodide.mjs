// Answers requests, a line each, with the files of a site, without a browser: node pyodide.mjs SITE LOCK
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const [site, lock] = process.argv.slice(2);
const folder = site + "/runnable/";
const part = (name) => import(pathToFileURL(folder + name).href);
const [{ loadPyodide }, { default: create }] = [await part("pyodide.mjs"), await part("pyodide.asm.mjs")];
const [memory, files] = ["memory.bin", "files.bin"].map((name) => gunzipSync(readFileSync(folder + name)));
const createPyodideModule = async (settings) => {
  const made = await create(settings);
  made._malloc(memory.length);
  return made;
};
const lockFileContents = { info: JSON.parse(readFileSync(lock, "utf8")).info, packages: {} };
const python = await loadPyodide({ indexURL: folder, lockFileContents, createPyodideModule, _loadSnapshot: memory });
let at = 4 + files.readUInt32LE(0);
for (const [name, size] of Object.entries(JSON.parse(files.toString("utf8", 4, at)))) {
  python.FS.mkdirTree(name.slice(0, name.lastIndexOf("/")));
  python.FS.writeFile(name, files.subarray(at, at += size));
}
const { answer } = python.pyimport("statewalk.checker.runnable.inside");
for await (const request of createInterface({ input: process.stdin })) {
  process.stdout.write(answer(request, () => null) + "\n");
}
