/** Writes values of its own making into a file until it is killed, and says each number once `put` has said that it is kept. */
import { nodeKv } from "../../packages/worker-host/src/node/kv.ts";

const store = nodeKv(process.argv[2]!);
for (let round = 1; ; round++) {
  const kept = await store.put("value", new Uint8Array(50_000).fill(round % 251));
  if (!kept.ok) throw new Error(kept.fault);
  // A pipe that is full would keep the numbers in this process, and they would end with it.
  await new Promise((resolve) => process.stdout.write(`${round}\n`, resolve));
}
