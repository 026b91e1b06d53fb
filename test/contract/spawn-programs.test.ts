import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnBroker } from "@keyhole/worker-host/node";
import { afterAll } from "vitest";
import { describeSpawn } from "./spawn.ts";

/** What the module under test does, as a program of Node. */
const script = `#!${process.execPath}
const input = require("node:fs").readFileSync(0);
const text = (key) => new RegExp('"' + key + '":"([^"]*)"').exec(input)?.[1] ?? "";
const say = (what) => process.stdout.write(what);
const deeds = {
  echo: () => say(input),
  exit() {
    process.stderr.write("a first line\\nthere is no such thing as " + text("value") + "\\n");
    process.exitCode = 3;
  },
  arguments() {
    say(JSON.stringify({ argc: process.argv.length - 1, last: process.argv.at(-1), place: process.env.PLACE }));
  },
  bytes: () => say(Buffer.from([255, 254, 0, 1])),
  flood: () => setInterval(() => say(Buffer.alloc(65536)), 0),
  chatter() {
    for (let i = 0; i < 5000; i++) process.stderr.write("line " + i + "\\n");
    say("null");
  },
  abort() {
    require("node:fs").writeSync(2, "about to abort\\n");
    process.abort();
  },
  loop() {
    for (;;);
  },
};
(deeds[text("deed")] ?? (() => (process.exitCode = 2)))();
`;

const folder = mkdtempSync(join(tmpdir(), "keyhole-subject-"));
const path = join(folder, "subject");
writeFileSync(path, script);
chmodSync(path, 0o700);
afterAll(() => rmSync(folder, { recursive: true }));

describeSpawn("programs of the host", {
  open: (limits) => spawnBroker({ commands: { subject: { path, env: { PLACE: "here" } } }, ...limits }),
  preempts: true,
});
