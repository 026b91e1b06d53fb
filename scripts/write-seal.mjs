// Writes the list of all that a tool can reach (test/seal/realm.txt) from what each realm has on this machine.
// What is new there needs a reason in test/seal/reasons.ts.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readList, withRealm, writeList } from "../test/seal/list.ts";
import { root } from "./project.mjs";

const path = join(root, "test", "seal", "realm.txt");
let list = readList(readFileSync(path, "utf8"));
for (const project of ["node", "chromium", "firefox", "webkit", "workerd"]) {
  const { stdout } = spawnSync("vitest", ["run", "--project", project, "test/seal/seal"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    env: { ...process.env, KEYHOLE_WRITE_SEAL: "1" },
  });
  const found = [...stdout.matchAll(/SEAL ([A-Z]) (\[.*\])/g)];
  if (found.length === 0) console.log(`${project}: nothing was found; its realm stays as it was`);
  for (const [, realm, paths = "[]"] of found)
    list = withRealm(list, /** @type {import("../test/seal/list.ts").Realm} */ (realm), new Set(JSON.parse(paths)));
}
writeFileSync(path, writeList(list));
