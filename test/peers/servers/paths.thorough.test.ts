import { afterAll, beforeAll, expect, it } from "vitest";
import { pathGranter, pathToucher } from "../../../packages/kernel/src/capability/matching/url-paths.ts";
import { openServers, type PathServer, placesOf } from "./servers.ts";
import { spellings } from "./spellings.ts";

let servers: readonly PathServer[] = [];
beforeAll(async () => {
  servers = await openServers();
});
afterAll(async () => {
  for (const server of servers) await server.close();
});

it("no server is led out of a grant, nor past a deny, by any spelling", async () => {
  const touches = pathToucher(["/docs/internal"]);
  const grants = pathGranter(["/docs"]);
  const loose: string[] = [];
  const reached = new Map(servers.map(({ name }) => [name, 0]));
  for (const path of spellings(6_000, 11)) {
    const places = await placesOf(servers, path);
    for (const [at, place] of places.entries()) {
      const { name } = servers[at]!;
      if (place === "denied") reached.set(name, reached.get(name)! + 1);
      if (place === "denied" && !touches(path)) loose.push(`${name} denied ${path}`);
      if (place === "outside" && grants(path)) loose.push(`${name} outside ${path}`);
    }
  }
  expect(loose).toEqual([]);
  for (const [name, times] of reached) expect(times, name).toBeGreaterThan(20);
});
