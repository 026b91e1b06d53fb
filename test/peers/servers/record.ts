// Records where real servers lead spellings of paths: `npm run record:paths`, with python3, nginx and caddy on the PATH.
import { writeFileSync } from "node:fs";
import { openServers, placesOf } from "./servers.ts";
import { spellings } from "./spellings.ts";

const servers = await openServers();
const rows: string[] = [];
for (const path of spellings(5_000)) {
  const places = await placesOf(servers, path);
  if (places.some((place) => place === "denied" || place === "outside"))
    rows.push(`${places.map(([letter = ""]) => letter).join("")} ${path}`);
}
for (const server of servers) await server.close();
const head = `# ${servers.map(({ name }) => name).join("; ")}: granted, denied, outside, nowhere. Written by test/peers/servers/record.ts.`;
writeFileSync(new URL("../../hostile/path-places.txt", import.meta.url), [head, ...rows, ""].join("\n"));
