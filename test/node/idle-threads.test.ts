import { createKernel } from "@keyhole/kernel";
import { nodeHost, type NodeHostOptions } from "@keyhole/worker-host/node";
import { calculator } from "@keyhole/worker-host/tools";
import { expect, it } from "vitest";

/** How many isolates the host opened for so many sessions that call in turn, three times. */
async function openedFor(sessions: number, options: NodeHostOptions): Promise<number> {
  const host = nodeHost(options);
  let opened = 0;
  const open: typeof host.open = (...args) => {
    opened++;
    return host.open(...args);
  };
  const policy = { version: "1", posture: "standard" };
  const kernel = await createKernel({ host: { ...host, open }, cache: false, policy });
  expect(kernel.register(calculator)).toMatchObject({ ok: true });
  for (let round = 0; round < 3; round++)
    for (let n = 0; n < sessions; n++) {
      const result = await kernel.call("calculator", { expression: "1+2" }, { sessionId: `${n}` });
      expect(result).toMatchObject({ ok: true });
    }
  await kernel.close();
  return opened;
}

it.each([
  ["interpreters", {}],
  ["threads of trusted packages", { trusted: [calculator.hash] }],
])("%s of sessions that call in turn stay open", async (_, options) => {
  expect(await openedFor(24, options)).toBe(24);
});

it("a thread counts 8 MiB, an interpreter more by the memory of its tool", async () => {
  const idleBytes = 8 * 2 ** 20;
  expect(await openedFor(1, { trusted: [calculator.hash], idleBytes })).toBe(1);
  expect(await openedFor(1, { trusted: [calculator.hash], idleBytes: idleBytes - 1 })).toBe(3);
  expect(await openedFor(1, { idleBytes })).toBe(3);
});
