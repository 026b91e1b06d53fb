import { interpreterHost } from "@keyhole/worker-host/wasm/interpreter";
import { type BombCount, bombs, countBomb } from "./bombs.ts";
import { testEngine } from "./engine.ts";

/** Run by Vite's own Node: what the bombs cost there, by name. */
export default async function countBombs(): Promise<Record<string, BombCount>> {
  const host = interpreterHost({ engine: await testEngine() });
  const counts: Record<string, BombCount> = {};
  for (const [name, , body] of bombs) counts[name] = await countBomb(host, body);
  return counts;
}
