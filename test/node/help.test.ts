import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { root } from "../support/sources.ts";

const loadedForHelp = globSync(["cli.ts", "command/{io,options,run-command,terminal-ask}.ts", "command/verbs/*.ts"], {
  cwd: `${root}packages/keyhole/src`,
});

it("the command loads no kernel before a verb does its work", () => {
  expect(loadedForHelp.length).toBeGreaterThan(10);
  const loaded = loadedForHelp.flatMap((path) => {
    const text = readFileSync(`${root}packages/keyhole/src/${path}`, "utf8");
    return [...text.matchAll(/^import (?!type )[^;]*from "(@keyhole\/[^"]*)"/gms)].map(([, name]) => name);
  });
  expect([...new Set(loaded)]).toEqual(["@keyhole/kernel/visible"]);
});
