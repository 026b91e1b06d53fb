import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { nodeStore } from "@keyhole/worker-host/node";
import fc from "fast-check";
import { checkPath } from "../../packages/kernel/src/capability/matching/paths.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sized } from "../support/size.ts";
import { describeGrammar, grammarPaths, mayPass } from "./paths-grammar.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "keyhole-grammar-")));
const root = join(base, "root");

beforeAll(() => {
  mkdirSync(root);
  for (const name of ["a", "b.txt", "secret.txt"]) writeFileSync(join(base, name), "a secret");
  symlinkSync(base, join(root, "proc"));
});
afterAll(() => rmSync(base, { recursive: true }));

/** Where each write ended up. */
const written: string[] = [];

describeGrammar("memory", () => memoryStore());
describeGrammar(
  "the file system",
  () => nodeStore(root),
  (path) => void written.push(realpathSync(join(root, path))),
);

describe("the grammar", () => {
  it("wrote below the root only", () => {
    expect(written.length).toBeGreaterThan(10);
    expect(written.filter((path) => !path.startsWith(root + sep))).toEqual([]);
  });

  it("left what is beside the root as it was", () => {
    expect(readdirSync(base).toSorted()).toEqual(["a", "b.txt", "root", "secret.txt"]);
    expect(readFileSync(join(base, "secret.txt"), "utf8")).toBe("a secret");
    expect(existsSync(join(root, "proc"))).toBe(true);
  });

  it("finds the check and its second wording of one mind, in 30,000 rows", () => {
    for (const path of grammarPaths(30_000, 7))
      expect([path, checkPath(path) === undefined]).toEqual([path, mayPass(path)]);
  });

  it("finds them of one mind about any text", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc
        .array(fc.constantFrom("..", "/", "\\", ".", "a", " ", "%", ":", "con", "\u0301", "\u202e", "\ud83d"))
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(text, (path) => {
        expect(checkPath(path) === undefined).toBe(mayPass(path));
      }),
      { numRuns: sized(150, 3_000) },
    );
  });
});
