import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { isPathPrefix, pathToucher } from "../../packages/kernel/src/capability/readings.ts";

/** Spellings that real servers (Node, express, hono, Python, nginx, Caddy) were seen to lead to a denied place, or out of the granted one. */
const [head = "", ...rows] = readFileSync(new URL("path-places.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");
const seen = rows.map((row) => {
  const [places = "", path = ""] = row.split(" ");
  return { places, path };
});

it("names seven servers, each of which was led astray", () => {
  const servers = head.split(":")[0]!.split(";");
  expect(servers).toHaveLength(7);
  for (const at of servers.keys()) expect(seen.some(({ places }) => "do".includes(places[at]!))).toBe(true);
  expect(seen.length).toBeGreaterThan(500);
});

it("a deny meets every spelling that a server was seen to lead to the denied place", () => {
  const touches = pathToucher(["/docs/internal"]);
  expect(seen.filter(({ places, path }) => places.includes("d") && !touches(path))).toEqual([]);
});

it("a grant covers no spelling that a server was seen to lead out of it", () => {
  expect(seen.filter(({ places, path }) => places.includes("o") && isPathPrefix("/docs", path))).toEqual([]);
});
