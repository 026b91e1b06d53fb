// Loaded before a command: interrupts it at one of its steps, which are the uses of its own files, its processes, its threads and its output. Counted, not
// timed: the same step is the same moment on every machine.
import childProcess from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { sep } from "node:path";
import process from "node:process";
import threads from "node:worker_threads";
import { descendants } from "../../../scripts/serve/processes.mjs";

const REPORT = 3;
const at = Number(process.env["KEYHOLE_INTERRUPT_AT"] ?? Infinity);
const { writeSync } = fs;
let steps = 0;

/** @param {object} report */
const tell = (report) => void writeSync(REPORT, `${JSON.stringify(report)}\n`);

function step() {
  steps += 1;
  if (steps !== at) return;
  tell({ started: descendants(process.pid).map(({ pid }) => pid) });
  // As a terminal does it: to the whole group.
  process.kill(-process.pid, "SIGINT");
}

/** @param {unknown} path */
function isOwn(path) {
  const text = String(path);
  const { pathname } = URL.canParse(text) ? new URL(text) : { pathname: text };
  const inFolder = pathname.startsWith(process.cwd() + sep) || !pathname.startsWith(sep);
  return inFolder && !pathname.includes("node_modules");
}

/** @param {Record<string, any>} owner @param {string} name @param {(first: unknown) => boolean} counts */
function counted(owner, name, counts) {
  const original = owner[name];
  owner[name] = function (/** @type {any[]} */ ...args) {
    if (counts(args[0])) step();
    return Reflect.apply(original, this, args);
  };
}

if (threads.isMainThread) {
  const uses = [
    "open",
    "opendir",
    "readdir",
    "readFile",
    "writeFile",
    "mkdir",
    "mkdtemp",
    "chmod",
    "link",
    "rename",
    "rm",
  ];
  for (const name of uses) counted(fs.promises, name, isOwn);
  for (const name of ["createReadStream", "createWriteStream", "watch"]) counted(fs, name, isOwn);
  counted(childProcess, "spawn", () => true);
  for (const stream of [process.stdout, process.stderr]) counted(/** @type {any} */ (stream), "write", () => true);
  threads.Worker = class extends threads.Worker {
    /** @param {ConstructorParameters<typeof threads.Worker>} args */
    constructor(...args) {
      step();
      super(...args);
    }
  };
  syncBuiltinESMExports();
  process.on("exit", () => tell({ steps }));
}
