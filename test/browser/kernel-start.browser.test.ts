import { connectKernel, type ConnectOptions, type KernelClient } from "@keyhole/worker-host/browser";
import { afterEach, describe, expect, it, vi } from "vitest";
import { bodySource, sink } from "../support/streams.ts";

const workers: Worker[] = [];
const pages: HTMLIFrameElement[] = [];
afterEach(() => {
  for (const worker of workers.splice(0)) worker.terminate();
  for (const page of pages.splice(0)) page.remove();
});

function connectTo(worker: Worker, options?: ConnectOptions): KernelClient {
  workers.push(worker);
  return connectKernel(worker, options);
}

/** A worker that runs this text. */
function scripted(text: string): Worker {
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const worker = new Worker(url, { type: "module" });
  // An error that nothing prevents goes on to the page, where the test runner counts it.
  worker.addEventListener("error", (event) => event.preventDefault());
  return worker;
}

/** A worker whose kernel boots as the name says, see boot.worker.ts. */
function booting(name: string): Worker {
  return new Worker("/test-pages/boot.worker.js", { type: "module", name });
}

/** Every method of a client that asks its kernel. */
const uses = {
  ready: (kernel) => kernel.ready(),
  call: (kernel) => kernel.call("echo", {}),
  list: (kernel) => kernel.list(),
  health: (kernel) => kernel.health("echo"),
  "audit.read": (kernel) => kernel.audit.read(),
  mode: (kernel) => kernel.mode(),
  setMode: (kernel) => kernel.setMode("ALERT", "a drill"),
  policyHash: (kernel) => kernel.policyHash(),
  setPolicy: (kernel) => kernel.setPolicy({ version: "1" }),
  "approvals.list": (kernel) => kernel.approvals.list(),
  "approvals.revoke": (kernel) => kernel.approvals.revoke("none", "a drill"),
} satisfies Record<string, (kernel: KernelClient) => Promise<unknown>>;

/** What all methods of the client reject with; it has to be the same everywhere. */
async function failureOf(kernel: KernelClient): Promise<object> {
  const ends = await Promise.allSettled(Object.values(uses).map((use) => use(kernel)));
  const reasons = new Set(ends.map((end) => (end.status === "rejected" ? (end.reason as object) : end)));
  expect([...reasons]).toHaveLength(1);
  return [...reasons][0]!;
}

const unavailable = (reason: string, message: RegExp): object => ({
  name: "KernelUnavailable",
  code: "KERNEL_UNAVAILABLE",
  reason,
  message: expect.stringMatching(message),
});

describe("a client of a kernel's worker that does not start", () => {
  it("reports a file that is missing", async () => {
    const worker = new Worker(`${location.origin}/missing/kernel.worker.js`, { type: "module" });
    expect(await failureOf(connectTo(worker))).toMatchObject({
      ...unavailable("not-loaded", /^The browser did not run the file of the kernel's worker\. .*missing/),
      hint: expect.stringContaining("200"),
    });
  });

  it("reports an import that is missing", async () => {
    const worker = scripted(`import "${location.origin}/missing/part.js";`);
    expect(await failureOf(connectTo(worker))).toMatchObject(unavailable("not-loaded", /one of its imports/));
  });

  it("reports a script that throws at its top level, with the error", async () => {
    const kernel = connectTo(scripted('throw new Error("no settings");'));
    expect(await failureOf(kernel)).toMatchObject(
      unavailable("threw", /^The kernel's worker threw before it called exposeKernel: .*no settings \(blob:.*:1\)\.$/),
    );
  });

  it("reports a script that is not JavaScript", async () => {
    expect(await failureOf(connectTo(scripted("<!doctype html>")))).toMatchObject(
      unavailable("not-loaded", /is not JavaScript/),
    );
  });

  it("reports a script that never calls exposeKernel, at the start deadline", async () => {
    const kernel = connectTo(scripted(""), { startTimeoutMs: 50 });
    expect(await failureOf(kernel)).toMatchObject(
      unavailable("timed-out", /^The kernel's worker did not call exposeKernel within 50 ms\.$/),
    );
  });

  it("reports a script that never yields, at the start deadline", async () => {
    const kernel = connectTo(scripted("for (;;);"), { startTimeoutMs: 50 });
    expect(await failureOf(kernel)).toMatchObject(unavailable("timed-out", /exposeKernel within 50 ms/));
  });

  it("reports a boot that never ends, after 60 s by default", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const worker = booting("hangs");
      const kernel = connectTo(worker);
      // The client hears it first: its listener is the older one.
      await new Promise((resolve) => worker.addEventListener("message", resolve, { once: true }));
      const failure = failureOf(kernel);
      vi.advanceTimersByTime(60_000);
      expect(await failure).toMatchObject(
        unavailable("timed-out", /not ready within 60000 ms: the promise that the worker gave to exposeKernel/),
      );
    } finally {
      vi.useRealTimers();
    }
  });

  it("reports a boot that rejects, with the code and the hint of its error", async () => {
    expect(await failureOf(connectTo(booting("rejects")))).toMatchObject({
      ...unavailable("boot-failed", /^The worker could not create its kernel: UNSUPPORTED_HOST: No document\.$/),
      hint: "Pass a container.",
    });
  });

  it("reports a policy that createKernel refuses", async () => {
    const kernel = connectTo(booting("takes a wrong policy"));
    expect(await failureOf(kernel)).toMatchObject(unavailable("boot-failed", /INVALID_POLICY at \/version/));
  });

  it("rejects later calls at once with the same error", async () => {
    const kernel = connectTo(booting("rejects"));
    expect(await failureOf(kernel)).toBe(await failureOf(kernel));
  });

  it("releases the streams of a call", async () => {
    const kernel = connectTo(booting("rejects"));
    const { output, ends } = sink();
    const source = bodySource([new Uint8Array(1)]);
    await expect(kernel.call("pour", {}, { output, body: source.body })).rejects.toMatchObject({
      code: "KERNEL_UNAVAILABLE",
    });
    await expect.poll(() => ends).toHaveLength(1);
    await expect.poll(() => source.ends).toHaveLength(1);
  });

  it("can be closed, and its subscriptions can be stopped", async () => {
    const kernel = connectTo(booting("rejects"));
    kernel.audit.subscribe(() => {})();
    await kernel.close();
  });
});

describe("a client of a kernel's worker that starts", () => {
  it("is ready, also where it connects after the worker has reported it", async () => {
    const worker = booting("works");
    await connectTo(worker).ready();
    const late = connectTo(worker);
    await late.ready();
    expect(await late.mode()).toBe("NORMAL");
  });

  it("answers calls after its start deadline", async () => {
    const kernel = connectTo(booting("works"), { startTimeoutMs: Number.MAX_SAFE_INTEGER });
    expect(await kernel.call("nobody", {})).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
  });

  it("ends the pending calls when an answer cannot be deserialized, and serves later ones", async () => {
    const worker = booting("works");
    const kernel = connectTo(worker);
    await kernel.ready();
    const pending = kernel.mode();
    queueMicrotask(() => worker.dispatchEvent(new MessageEvent("messageerror")));
    await expect(pending).rejects.toMatchObject({ code: "KERNEL_UNAVAILABLE", reason: "unreadable" });
    expect(await kernel.mode()).toBe("NORMAL");
  });
});

describe("a page whose Content-Security-Policy blocks the kernel's worker", () => {
  /** What start-page.ts says in a page under this policy. */
  function connectedUnder(policy: string): Promise<unknown> {
    const page = document.createElement("iframe");
    const script = "/test-pages/start-page.js";
    page.srcdoc = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}"><script type="module" src="${script}"></script>`;
    pages.push(page);
    return new Promise((resolve) => {
      addEventListener("message", function listen({ source, data }) {
        if (source !== page.contentWindow) return;
        removeEventListener("message", listen);
        resolve(data);
      });
      document.body.append(page);
    });
  }

  it("is told the source that the policy lacks", async () => {
    expect(await connectedUnder("script-src 'self'; worker-src 'none'")).toMatchObject({
      code: "KERNEL_UNAVAILABLE",
      reason: "not-loaded",
      message: expect.stringContaining("Content-Security-Policy lacks worker-src "),
      hint: `Add worker-src ${location.origin} to the page's Content-Security-Policy.`,
    });
  });

  it("connects where the policy has that source", async () => {
    expect(await connectedUnder("script-src 'self'; worker-src 'self'")).toEqual({ ready: true });
  });
});
