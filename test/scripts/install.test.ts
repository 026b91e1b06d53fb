import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { packagesAreInstalled } from "../../scripts/install.mjs";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyhole-install-"));
  await mkdir(join(folder, "node_modules"));
});
afterEach(() => rm(folder, { recursive: true }));

const wanted = { "": { name: "x" }, "node_modules/a": { version: "1.0.0", integrity: "sha512-a" } };

async function installed(lock: unknown, found: unknown): Promise<boolean> {
  await writeFile(join(folder, "package-lock.json"), JSON.stringify({ packages: lock }));
  await writeFile(join(folder, "node_modules", ".package-lock.json"), JSON.stringify({ packages: found }));
  return packagesAreInstalled(folder);
}

it("packages of another version, other bytes or not there at all are not installed", async () => {
  expect(packagesAreInstalled(folder)).toBe(false);
  expect(await installed(wanted, {})).toBe(false);
  expect(await installed(wanted, { "node_modules/a": { version: "1.0.1", integrity: "sha512-a" } })).toBe(false);
  expect(await installed(wanted, { "node_modules/a": { version: "1.0.0", integrity: "sha512-b" } })).toBe(false);
  expect(await installed(wanted, { "node_modules/a": { version: "1.0.0", integrity: "sha512-a" } })).toBe(true);
});

it("an optional package can be absent", async () => {
  expect(await installed({ "node_modules/a": { version: "1.0.0", optional: true } }, {})).toBe(true);
  expect(await installed({ "node_modules/a": { version: "1.0.0", devOptional: true } }, {})).toBe(true);
});
