import { type Capability, createKernel, type JsonObject, type Need } from "@keyhole/kernel";
import { suggestedGrants } from "@keyhole/kernel/policy";
import { describe, expect, it } from "vitest";
import { denialOf } from "../../packages/kernel/src/capability/denial.ts";
import httpFetch from "../../packages/worker-host/src/tools/http-fetch.ts";
import kvGet from "../../packages/worker-host/src/tools/kv-get.ts";
import listDirectory from "../../packages/worker-host/src/tools/list-directory.ts";
import readFile from "../../packages/worker-host/src/tools/read-file.ts";
import sqlQuery from "../../packages/worker-host/src/tools/sql-query.ts";
import webSearch from "../../packages/worker-host/src/tools/web-search.ts";
import type { AnyTool } from "../support/registered.ts";
import { openPolicy } from "../support/kernel.ts";
import { registerAny } from "../support/registered.ts";
import { attenuate, grantOf, needOf } from "../support/grants.ts";

async function adviceOf(tool: AnyTool, name: string, input: JsonObject): Promise<string> {
  const kernel = await createKernel({ policy: openPolicy });
  registerAny(kernel, tool);
  const result = await kernel.call(name, input, { caller: "ada" });
  return result.ok ? expect.unreachable("it was allowed") : result.error.operatorHint;
}

describe("a tool that has not asked for anything yet", () => {
  it.each<[AnyTool, string, JsonObject, Capability]>([
    [readFile, "read_file", { path: "notes/today.txt" }, { kind: "fs.read", paths: ["notes/today.txt"] }],
    [
      httpFetch,
      "http_fetch",
      { url: "https://Example.COM./a/b?c=d#e" },
      { kind: "net.read", hosts: ["example.com"], ports: [443], paths: ["/a/b"], methods: ["GET"], requests: 1 },
    ],
    [
      httpFetch,
      "http_fetch",
      { url: "http://[::1]:8080/", method: "HEAD" },
      { kind: "net.read", hosts: ["[::1]"], ports: [8080], paths: ["/"], methods: ["HEAD"], requests: 1 },
    ],
    [kvGet, "kv_get", { key: "settings/theme" }, { kind: "kv.read", keys: ["settings/theme"] }],
    [
      sqlQuery,
      "sql_query",
      { database: "notes", sql: "SELECT 1" },
      { kind: "db.read", databases: ["notes"], statements: ["select"] },
    ],
    [
      webSearch,
      "web_search",
      { query: "keyholes" },
      { kind: "net.read", hosts: ["searxng.invalid"], methods: ["GET"] },
    ],
  ])(
    "is suggested what its arguments name, or the single thing that it declares: %#",
    async (tool, name, input, capability) => {
      const advice = await adviceOf(tool, name, input);
      expect(advice).toBe(
        `Add it to the grants of the policy: ${JSON.stringify({ tool: name, caller: "ada", capability })}`,
      );
      expect(suggestedGrants(advice)).toEqual([{ tool: name, caller: "ada", capability }]);
    },
  );

  it.each<[string, AnyTool, string, JsonObject]>([
    ["the root folder", listDirectory, "list_directory", { path: "" }],
    ["a path that servers read in two ways", httpFetch, "http_fetch", { url: "https://example.com/%252e%252e/a" }],
  ])("is suggested nothing for %s", async (_, tool, name, input) => {
    expect(await adviceOf(tool, name, input)).toMatch(
      /^Add \S+ to the grants of the policy, with no more than the tool needs\.$/,
    );
  });
});

describe("the grants of a hint", () => {
  const grant = { tool: "t", capability: { kind: "fs.read", paths: ['a}"{b'] } };
  const added = `Add it to the grants of the policy: ${JSON.stringify(grant)}`;

  it.each<[string, string, readonly JsonObject[]]>([
    [
      "two of them, and words between",
      `${added} The call's own \`grants\` leave it out as well. ${added}`,
      [grant, grant],
    ],
    ["what ends too early", added.slice(0, -1), []],
    ["what is no JSON", "Add it to the grants of the policy: {tool}", []],
    ["a list", "Add it to the grants of the policy: [1]", []],
    ["the call's own grants", `The policy grants it. Add it to the call's \`grants\`: ${JSON.stringify(grant)}`, []],
    ["no hint", "", []],
  ])("are read back: %s", (_, hint, grants) => {
    expect(suggestedGrants(hint)).toEqual(grants);
  });
});

it("a call that was suspended is not told to change the policy for what it did not hold then", () => {
  const need: Need = { kind: "fs.read", path: "notes/b" };
  const all: Capability = { kind: "fs.read", paths: ["**"] };
  const before: Capability = { kind: "fs.read", paths: ["notes/a"] };
  const grant = attenuate(grantOf([all], [[all]]), [before]);
  const holder = { tool: "read_file", caller: "ada" };
  expect(denialOf(grant, needOf(need), { ...holder, hasOwnGrants: true })).toMatchObject({ reason: "narrowed" });
  const denial = denialOf(grant, needOf(need), { ...holder, hasOwnGrants: false });
  expect({ ...denial, granted: denial.granted.map(({ json }) => json) }).toEqual({
    reason: "not-held",
    granted: [before],
    operatorHint: "The policy grants it now: repeat the call.",
  });
});
