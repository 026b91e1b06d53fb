import { edgeHost, IsolateRack } from "@keyhole/edge";
import { it } from "vitest";
import { bindings } from "../edge/bindings.ts";
import { chaos } from "./chaos/chaos.ts";

// In one process nothing stops a loop: test/e2e/edge.test.ts has the sandbox and its watchdog.
it("rounds of chaos without loops end well in dynamic Workers", { timeout: 120_000 }, async () => {
  const host = edgeHost({ loader: new IsolateRack(bindings.LOADER), preempts: false });
  await chaos(host, { seed: 20_261_121, rounds: 25, lanes: 2 });
});
