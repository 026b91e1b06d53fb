import { createKernel, type Isolate } from "@keyhole/kernel";
import { expect, it } from "vitest";
import { echo } from "../support/kernel.ts";
import { settled } from "../support/turns.ts";
import { hostOpening, moduleHost, packed } from "../support/module-host.ts";
import { registerAny } from "../support/registered.ts";

// No call is there whose end would write the event: a process that ends meanwhile would forget that the tool went on.

it("that a tool went on between calls is durable although no call follows", async () => {
  const modules = moduleHost(echo);
  const watched = Promise.withResolvers<() => void>();
  const host = hostOpening("watching", async (...given) => {
    const isolate = await modules.open(...given);
    return { ...isolate, alive: true, watch: (onWentOn) => watched.resolve(onWentOn) } satisfies Isolate;
  });
  const kernel = await createKernel({ host, policy: { version: "1", posture: "standard" } });
  registerAny(kernel, packed(echo));
  await kernel.call("echo", { message: "hello" });
  const wentOn = await watched.promise;
  wentOn();
  await settled();
  const [last] = (await kernel.audit.read()).slice(-1);
  expect(last).toMatchObject({ type: "tool.quarantined", payload: { tool: "echo@1.0.0", cause: "went-on" } });
  await kernel.close();
});
