// Installs the foreign packages that one part of the tests or benchmarks needs, when they are missing or not those of the
// lock. Each peer is a folder of test/peers with its own package.json and lock.
//
//   node scripts/peers.mjs cedar ajv      these
//   node scripts/peers.mjs                all
//   node scripts/peers.mjs --lock cedar   writes the lock again, after a change of package.json
import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { installFolder } from "./install.mjs";
import { root } from "./project.mjs";

const folder = join(root, "test", "peers");
const words = process.argv.slice(2);
const relock = words.includes("--lock");
const all = globSync("*/package.json", { cwd: folder })
  .map((path) => basename(join(folder, path, "..")))
  .sort();
const named = words.filter((word) => word !== "--lock");
const unknown = named.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`There is no peer ${unknown.join(", ")}; expected ${all.join(", ")}.`);
  process.exit(1);
}

for (const name of named.length > 0 ? named : all)
  await installFolder(`the peer ${name}`, join(folder, name), { relock });
