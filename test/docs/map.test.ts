import { existsSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { root } from "../support/sources.ts";
import { readPage } from "./markdown.ts";

const lines = readPage("docs/internals/map.md").prose;
const named = lines.flatMap((line) => /^\| `([\w/-]+\/)` \|/.exec(line)?.[1] ?? []);

function foldersOf(path: string): readonly string[] {
  return readdirSync(`${root}${path}`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${name}/`);
}

describe("docs/internals/map.md", () => {
  it("names every folder of the kernel, and no other", () => {
    const ofKernel = named.filter((name) => !name.includes("/src/"));
    expect(ofKernel.toSorted()).toEqual(foldersOf("packages/kernel/src").toSorted());
  });

  it("names folders of the hosts that exist", () => {
    const ofHosts = named.filter((name) => name.includes("/src/"));
    expect(ofHosts.length).toBeGreaterThan(5);
    expect(ofHosts.filter((name) => !existsSync(`${root}packages/${name}`))).toEqual([]);
  });
});
