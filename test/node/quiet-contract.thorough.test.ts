import { nodeHost } from "@keyhole/worker-host/node";
import { afterEach, describe } from "vitest";
import { describeIsolateHost } from "../contract/isolate.ts";
import { countsThreads, untilQuiet } from "./thread-ticks.ts";

describe.skipIf(!countsThreads)("the threads of isolates, seen by the system behind each test of the contract", () => {
  afterEach(untilQuiet, 60_000);

  describeIsolateHost("node", async () => nodeHost(), { preempts: true });
});
