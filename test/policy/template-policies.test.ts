import { globSync, readFileSync } from "node:fs";
import type { PolicyDocument } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

// People copy these policies. A rule that says "for people only" covers each tool that reaches the place.

const path = { type: "object", properties: { path: { type: "string" } }, required: ["path"] } as const;
const reads = { kind: "fs.read", paths: ["**"], target: { path: "/path" } } as const;
const writes = { kind: "fs.write", paths: ["**"], target: { path: "/path" } } as const;
const reaching = [
  ["read_file", reads],
  ["list_directory", reads],
  ["write_file", writes],
  ["save_note", writes],
] as const;

describe.each(globSync("packages/keyhole/templates/*/policy.json"))("%s", (file) => {
  it("denies an agent private notes by each tool and spelling", async () => {
    const policy = JSON.parse(readFileSync(file, "utf8")) as PolicyDocument;
    const { kernel } = await openKernel({ policy });
    const said: unknown[] = [];
    for (const [name, capability] of reaching) {
      const tool = {
        name,
        effects: [capability.kind],
        capabilities: [capability],
        input: path,
        determinism: "external",
        tier: 2,
      };
      expect(kernel.registerTrusted(toolOf(() => 1, tool))).toMatchObject({ ok: true });
      for (const place of ["notes/private", "notes/private/diary.txt", "./notes//private/x/y", "NOTES/Private/a"]) {
        const { decision } = await kernel.preview(name, { path: place }, { caller: "agent" });
        if (decision !== "deny") said.push([name, place, decision]);
      }
    }
    expect(said).toEqual([]);
    expect(await kernel.preview("save_note", { path: "notes/a.txt" }, { caller: "agent" })).toMatchObject({
      decision: "ask",
    });
  });
});
