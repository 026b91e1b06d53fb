import { edgeHost, IsolateRegistry } from "@keyhole/edge";
import { it } from "vitest";
import { bindings } from "../edge/bindings.ts";
import { sized } from "../support/size.ts";
import { chaos } from "./chaos/chaos.ts";

// In one process nothing stops a loop: test/e2e/edge.test.ts has the sandbox and its watchdog.
it("every fault but loops ends as it may in dynamic Workers", async () => {
  const host = edgeHost({ loader: new IsolateRegistry(bindings.LOADER), preempts: false });
  await chaos(host, { seed: 20_261_121, rounds: sized(undefined, 25), lanes: 2 });
});
