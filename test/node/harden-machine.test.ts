import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { leaks } from "../realm/leaks.ts";
import type machine from "./harden-machine.ts";

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

describe("a tool in a thread of Node does not get", () => {
  let found: ReadonlyMap<string, unknown>;
  let own: readonly string[];
  beforeAll(async () => {
    // A process has one default locale, from its start on.
    const env = { ...process.env, LC_ALL: "de_DE", TZ: "Asia/Calcutta" };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [pathOf("./process.ts"), pathOf("./harden-machine.ts")],
      { env },
    );
    const told = JSON.parse(stdout) as Awaited<ReturnType<typeof machine>>;
    found = new Map(told.found);
    own = told.own;
  });

  it("what its machine has, which are another zone and another locale", () => {
    expect(own).toEqual(["de-DE", "Asia/Calcutta"]);
  });

  it.each(leaks)("%s", (name, _, expected) => {
    expect(found.get(name)).toEqual(expected);
  });
});
