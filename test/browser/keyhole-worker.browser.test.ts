import type { Approver } from "@keyhole/kernel";
import { keyholeWorker, startKernelAt } from "@keyhole/worker-host/browser";
import { expect, it, vi } from "vitest";

it("keyholeWorker gives a kernel whose tools run in isolates of this page, and asks this page's approver", async () => {
  const worker = new Worker("/test-pages/kernel.worker.js", { type: "module" });
  const approver = vi.fn<Approver>(async () => ({ answer: "allow", scope: "once", approver: "page" }));
  const kernel = await keyholeWorker(worker, { approver });
  const result = await kernel.call("subject", { deed: "echo", value: 7 }, { caller: "asked" });
  expect(result).toMatchObject({ ok: true, tool: expect.stringMatching(/^subject@/) as string });
  expect(approver).toHaveBeenCalledOnce();
  expect(document.querySelectorAll('iframe[title="isolate"]').length).toBeGreaterThan(0);
  await kernel.close();
  worker.terminate();
});

it("keyholeWorker says why no kernel started, and terminates the worker", async () => {
  const worker = new Worker("/test-pages/boot.worker.js", { type: "module", name: "takes a wrong policy" });
  const terminated = vi.spyOn(worker, "terminate");
  await expect(keyholeWorker(worker)).rejects.toMatchObject({ code: "KERNEL_UNAVAILABLE", reason: "boot-failed" });
  expect(terminated).toHaveBeenCalledOnce();
});

it("startKernelAt says it too where the browser refuses the worker at once, as WebKit does under a policy", async () => {
  function refused(): never {
    throw new DOMException("The operation is insecure.", "SecurityError");
  }
  vi.stubGlobal("Worker", refused);
  const starting = startKernelAt("/kernel.js", { policy: {}, tools: [] });
  vi.unstubAllGlobals();
  await expect(starting).rejects.toMatchObject({ code: "KERNEL_UNAVAILABLE", reason: "not-loaded" });
});
