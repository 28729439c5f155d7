// Writes what pages begin with: files, compiled, and the memory of a Python that has imported them.
//   node prepare.mjs FOLDER FILES LOCK, with Pyodide in FOLDER, an archive of files, a lock file
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

process.on("uncaughtException", (error) => { console.error(error.message); process.exit(1); });
const [folder, archive, lock] = process.argv.slice(2);
const lockFileContents = JSON.parse(readFileSync(lock, "utf8"));
const { loadPyodide } = await import(pathToFileURL(folder + "/pyodide.mjs").href);
const write = (name, data) => writeFileSync(folder + "/" + name, gzipSync(data, { level: 9 }));

const load = (options) => loadPyodide({ indexURL: folder, lockFileContents, ...options });

const compiler = await load({});
compiler.unpackArchive(new Uint8Array(readFileSync(archive)), "zip", { extractDir: "/" });
const { names, packed, used } = compiler.pyimport("statewalk.checker.runnable.prepared");
const modules = used().toJs();
write("files.bin", packed().toJs());
// a second one, as compiling leaves memory that is not zero
const python = await load({ _makeSnapshot: true });
for (const name of names()) {
  python.FS.mkdirTree(name.slice(0, name.lastIndexOf("/")));
  python.FS.writeFile(name, compiler.FS.readFile(name));
}
python.pyimport("statewalk.checker.runnable.prepared").imported(modules);
write("memory.bin", python.makeMemorySnapshot());
