import { nodeHost } from "@keyhole/worker-host/node";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { expect, it } from "vitest";
import { testEngine } from "./engine.ts";
import { runBody } from "./run-body.ts";
import { describeTurns } from "./turns.shared.ts";

describeTurns(testEngine);

it("a tool costs the same in turns as in one piece, in a thread of its own", async () => {
  const body = "for (let i = 0; i < 500_000; i++); return 1";
  const [shared, own] = [interpreterHost({ engine: await testEngine() }), nodeHost()];
  expect(await runBody(shared, body)).toEqual(await runBody(own, body));
  await own.close();
});
