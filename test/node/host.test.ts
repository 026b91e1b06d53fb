import { createKernel, type Kernel } from "@keyhole/kernel";
import { nodeHost } from "@keyhole/worker-host/node";
import { builtinTools, calculator, echo } from "@keyhole/worker-host/tools";
import { afterEach, describe, expect, it } from "vitest";
import { describeIsolateHost } from "../contract/isolate.ts";
import { describeTenCalls, packages } from "../contract/ten-calls.ts";
import subject from "../contract/tools/subject.ts?tool";
import { openPolicy } from "../support/kernel.ts";

describeIsolateHost("node", async () => nodeHost({ trusted: [subject.hash] }), { preempts: true });
describeTenCalls("node", packages, async () => nodeHost({ trusted: packages.map(({ hash }) => hash) }));

let kernel: Kernel | undefined;
afterEach(() => kernel?.close());

describe("what is not trusted", () => {
  it("is refused, with the way out", async () => {
    kernel = await createKernel({ host: nodeHost({ trusted: [calculator.hash] }), policy: openPolicy });
    kernel.register(echo);
    expect(await kernel.call("echo", { message: "a" })).toMatchObject({
      ok: false,
      error: { code: "UNSUPPORTED_HOST", hint: expect.stringContaining(echo.hash) as string },
    });
  });

  it("is everything that is not named", async () => {
    kernel = await createKernel({ host: nodeHost(), policy: openPolicy });
    for (const pkg of builtinTools) kernel.register(pkg);
    expect(await kernel.call("calculator", { expression: "1+1" })).toMatchObject({
      ok: false,
      error: { code: "UNSUPPORTED_HOST" },
    });
  });
});
