import { edgeHost, IsolateRegistry } from "@keyhole/edge";
import { createKernel } from "@keyhole/kernel";
import { calculator } from "@keyhole/worker-host/tools";
import { expect, it } from "vitest";
import { bindings } from "./bindings.ts";

it("the Workers of 64 sessions that call in turn stay open, although ten can be in use at a time", async () => {
  const host = edgeHost({ loader: new IsolateRegistry(bindings.LOADER) });
  let opened = 0;
  const open: typeof host.open = (...args) => {
    opened++;
    return host.open(...args);
  };
  const policy = { version: "1", posture: "standard" };
  const kernel = await createKernel({ host: { ...host, open }, cache: false, policy });
  expect(kernel.register(calculator)).toMatchObject({ ok: true });
  for (let round = 0; round < 3; round++)
    for (let n = 0; n < 64; n++) {
      const result = await kernel.call("calculator", { expression: "1+2" }, { sessionId: `${n}` });
      expect(result).toMatchObject({ ok: true });
    }
  expect(opened).toBe(64);
  await kernel.close();
});
