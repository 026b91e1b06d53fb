import type { IsolateHost } from "@keyhole/kernel";
import { browserHost } from "@keyhole/worker-host/browser";
import { afterAll, beforeAll, expect, it } from "vitest";
import { callWith, moduleOf, quietPort, toolText } from "../browser/open.ts";
import { sized } from "../support/size.ts";

let host: IsolateHost;
beforeAll(async () => {
  host = await browserHost();
});
afterAll(() => host.close());

const stream = `const stream = () => new ReadableStream({ start: (c) => (c.enqueue(1), c.close()) });`;

/** Ways for a tool to be inside a pipe of the engine when its thread is ended. */
const ways = [
  "await stream().pipeTo(new WritableStream())",
  "for await (const _ of stream().pipeThrough(new TransformStream()));",
];

it("ends no other isolate: a tool whose thread is ended inside a pipe", async () => {
  const neighbour = await host.open(moduleOf(toolText("return input")));
  for (let round = 0; round < sized(6, 500); round++) {
    for (const way of ways) {
      const isolate = await host.open(moduleOf(toolText(`context.log("begun"); for (;;) { ${way} }`, stream)));
      const { promise, resolve } = Promise.withResolvers<void>();
      const outcome = isolate.call(callWith(), { ...quietPort, log: () => resolve() });
      // A way that is shut fails at once.
      await Promise.race([promise, outcome]);
      isolate.terminate("deadline");
      await outcome;
    }
  }
  expect(await neighbour.call(callWith(1), quietPort)).toMatchObject({ kind: "returned", output: { text: "1" } });
  neighbour.terminate("the test is over");
});
