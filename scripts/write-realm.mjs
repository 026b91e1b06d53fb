// Writes the list of all that a tool can reach (test/realm/realm.txt) from what each realm has on this machine.
// What is new there needs a reason in test/realm/reasons.ts.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readList, withRealm, writeList } from "../test/realm/list.ts";
import { root } from "./project.mjs";

const path = join(root, "test", "realm", "realm.txt");
let list = readList(readFileSync(path, "utf8"));
for (const project of ["node", "chromium", "firefox", "webkit", "workerd"]) {
  const { stdout } = spawnSync("vitest", ["run", "--project", project, "test/realm/hardened"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    env: { ...process.env, KEYHOLE_WRITE_REALM: "1" },
  });
  const found = [...stdout.matchAll(/REALM ([A-Z]) (\[.*\])/g)];
  if (found.length === 0) console.log(`${project}: nothing was found; its realm stays as it was`);
  for (const [, realm, paths = "[]"] of found)
    list = withRealm(list, /** @type {import("../test/realm/list.ts").Realm} */ (realm), new Set(JSON.parse(paths)));
}
writeFileSync(path, writeList(list));
