import { createKernel } from "@keyhole/kernel";
import { connectKernel, exposeKernel } from "@keyhole/worker-host/browser";
import { afterEach, describe } from "vitest";
import { registerAny } from "../support/registered.ts";
import { clientTools, kernelClientContract } from "./kernel-client.ts";

const ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

describe("a client of a kernel behind a message port", () => {
  kernelClientContract(async () => {
    const kernel = await createKernel({ policy: { version: "1", posture: "standard" } });
    for (const tool of clientTools) registerAny(kernel, tool);
    const { port1, port2 } = new MessageChannel();
    ports.push(port1, port2);
    exposeKernel(kernel, port1);
    return connectKernel(port2);
  });
});
