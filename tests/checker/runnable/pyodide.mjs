// Answers requests, a line each, with the files of a site, without a browser: node pyodide.mjs SITE LOCK
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [site, lock] = process.argv.slice(2);
const folder = site + "/runnable/";
const { loadPyodide } = await import(pathToFileURL(folder + "pyodide.mjs").href);
const python = await loadPyodide({ indexURL: folder, lockFileContents: { info: JSON.parse(readFileSync(lock, "utf8")).info, packages: {} } });
const SITE = "/lib/python3.14/site-packages";
for (const [name, extractDir] of [["packages.zip", SITE], ["statewalk.zip", SITE], ["diary.zip", "/home/diary"]]) {
  python.FS.mkdirTree(extractDir);
  python.unpackArchive(new Uint8Array(readFileSync(folder + name)), "zip", { extractDir });
}
const { answer } = python.pyimport("statewalk.checker.runnable.inside");
for await (const request of createInterface({ input: process.stdin })) {
  process.stdout.write(answer(request, () => null) + "\n");
}
