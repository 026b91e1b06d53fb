import { pagePolicy } from "@keyhole/worker-host/csp";
import { server } from "vitest/browser";
import { afterEach, describe, expect, it } from "vitest";
import { sized } from "../support/size.ts";

const pages: HTMLIFrameElement[] = [];
afterEach(() => {
  for (const page of pages.splice(0)) page.remove();
});

/** Opens a page of this origin under a Content-Security-Policy of its own; it opens a host there, and says how that went. */
function openUnder(policy: string, isolation: "worker" | "interpreter" = "worker"): Promise<unknown> {
  return saidUnder(policy, `/test-pages/policy-page.js?isolation=${isolation}`);
}

/** What a script says in a page under such a policy. */
function saidUnder(policy: string, script: string): Promise<unknown> {
  const page = document.createElement("iframe");
  // In a page that is made from text, Firefox takes 'self' for an origin without a name.
  const own = policy.replaceAll("'self'", location.origin);
  page.srcdoc = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${own}"><script type="module" src="${script}"></script>`;
  return saidIn(page);
}

/** What a script says in a page of which such a policy only reports. */
function saidReported(policy: string, script: string): Promise<unknown> {
  const page = document.createElement("iframe");
  page.src = `/test-pages/report-only.html?${new URLSearchParams({ policy, script })}`;
  return saidIn(page);
}

/** What a script says in a worker, whose file has such a policy. */
function saidByWorker(policy: string, script: string): Promise<unknown> {
  const worker = new Worker(`${script}&${new URLSearchParams({ policy })}`, { type: "module" });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
  }).finally(() => worker.terminate());
}

function saidIn(page: HTMLIFrameElement): Promise<unknown> {
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

const withoutWasm = "script-src 'self' 'nonce-n0nce' blob:; worker-src blob:";
/** WebKitGTK compiles WebAssembly under any policy. */
const compilesRegardless = server.browser === "webkit";

describe("a page's Content-Security-Policy", () => {
  it.each(["worker", "interpreter"])("stops nothing where it only reports: isolation by %s", async (isolation) => {
    const script = `/test-pages/policy-page.js?isolation=${isolation}`;
    expect(await saidReported("default-src 'self'", script)).toEqual({ opened: expect.any(String) });
  });

  it("may be as strict as this, in a page without cross-origin isolation", async () => {
    expect(crossOriginIsolated).toBe(false);
    const policy =
      "default-src 'none'; script-src 'self' 'nonce-n0nce' blob: 'wasm-unsafe-eval'; worker-src blob:; connect-src 'self' ws:; frame-src 'none'";
    expect(await openUnder(policy)).toEqual({ opened: "browser" });
  });

  it("may allow the frame's script by its digest, where no nonce can be made, and ask for Trusted Types", async () => {
    const policy = pagePolicy({ trustedTypes: ["vitest"] });
    const allowed = policy
      .replace("connect-src 'self'", "connect-src 'self' ws:")
      .replace(/frame-ancestors [^;]*; /, "");
    expect(allowed).toContain("require-trusted-types-for 'script'");
    expect(await openUnder(allowed)).toEqual({ opened: "browser" });
    // Engines without Trusted Types do not ask.
    if (!("trustedTypes" in globalThis)) return;
    expect(await openUnder(allowed.replace(" keyhole", ""))).toMatchObject({
      code: "UNSUPPORTED_HOST",
      operatorHint: "Add trusted-types keyhole to the page's Content-Security-Policy.",
    });
  });

  it.each<[string, string]>([
    ["script-src 'nonce-", "script-src 'self' blob: 'wasm-unsafe-eval'; worker-src blob:"],
    ...sized(
      [],
      [
        ["script-src 'nonce-", "script-src 'self' 'nonce-other' blob: 'wasm-unsafe-eval'; worker-src blob:"] as [
          string,
          string,
        ],
      ],
    ),
    ...sized(
      [],
      [
        ["worker-src blob:", "script-src 'self' 'nonce-n0nce' blob: 'wasm-unsafe-eval'; worker-src 'self'"] as [
          string,
          string,
        ],
      ],
    ),
    ["worker-src blob:", "script-src 'self' 'nonce-n0nce' blob: 'wasm-unsafe-eval'; worker-src 'none'"],
    ["script-src blob:", "script-src 'self' 'nonce-n0nce' 'wasm-unsafe-eval'; worker-src blob:"],
    ...(compilesRegardless ? [] : [["script-src 'wasm-unsafe-eval'", withoutWasm] as [string, string]]),
  ])("is named when it lacks %s", async (directive, policy) => {
    expect(await openUnder(policy)).toEqual({
      code: "UNSUPPORTED_HOST",
      message: expect.stringContaining(directive),
      operatorHint: expect.stringContaining(directive),
      left: 0,
    });
  });

  it("is not missed where the engine does not ask for it", async () => {
    expect("opened" in ((await openUnder(withoutWasm)) as object)).toBe(compilesRegardless);
  });
});

describe("a page's Content-Security-Policy, for tools in the interpreter", () => {
  it("may let no blob be a script", async () => {
    const policy =
      "default-src 'none'; script-src 'self' 'nonce-n0nce' 'wasm-unsafe-eval'; worker-src blob:; connect-src 'self' ws:; frame-src 'none'";
    expect(await openUnder(policy, "interpreter")).toEqual({ opened: "browser" });
  });

  it.each<[string, string]>([
    ["worker-src blob:", "script-src 'self' 'nonce-n0nce' 'wasm-unsafe-eval'; worker-src 'none'"],
    ["connect-src 'self'", "script-src 'self' 'nonce-n0nce' 'wasm-unsafe-eval'; worker-src blob:; connect-src 'none'"],
    ...(compilesRegardless
      ? []
      : [["script-src 'wasm-unsafe-eval'", "script-src 'self' 'nonce-n0nce'; worker-src blob:"] as [string, string]]),
  ])("is named when it lacks %s", async (directive, policy) => {
    expect(await openUnder(policy, "interpreter")).toMatchObject({
      code: "UNSUPPORTED_HOST",
      operatorHint: expect.stringContaining(directive),
      left: 0,
    });
  });
});

describe("a page's Content-Security-Policy, for the network of tools", () => {
  const { hostname } = location;
  const asked = (policy: string, port: number): Promise<unknown> =>
    saidUnder(
      `script-src 'self'; ${policy}`,
      `/test-pages/net-page.js?url=${encodeURIComponent(`http://${hostname}:${port}/`)}`,
    );

  it("is named when it lacks connect-src for a host", async () => {
    expect(await asked("connect-src 'self'", 8769)).toEqual({
      ok: false,
      error: {
        code: "UNAVAILABLE",
        message: `The Content-Security-Policy of this page does not let it ask ${hostname}:8769.`,
        hint: "Request another host.",
        operatorHint: expect.stringContaining(`connect-src http://${hostname}:8769`),
      },
    });
  });

  it("is named when it is the fallback that lacks it", async () => {
    expect(await asked("default-src 'self'", 8769)).toMatchObject({
      error: { operatorHint: expect.stringContaining(`connect-src http://${hostname}:8769`) },
    });
  });

  it("is not blamed for a host that does not answer", async () => {
    expect(await asked(`connect-src 'self' ws: http://${hostname}:8769`, 8769)).toMatchObject({
      ok: false,
      error: { code: "UNAVAILABLE", message: expect.stringContaining("(CORS)") },
    });
  });

  const script = `/test-pages/net-page.js?secret&url=${encodeURIComponent(`http://${hostname}:8769/v1`)}`;
  it.each<[string, typeof saidUnder]>([
    ["blocks", saidUnder],
    ["only reports", saidReported],
    // WebKitGTK tells workers of no violation.
    ...(server.browser === "webkit"
      ? []
      : [["only reports what a worker does", saidByWorker] as [string, typeof saidUnder]]),
  ])("reports no secret in a query where it %s", async (_, said) => {
    const { reply, reported } = (await said("script-src 'self'; connect-src 'self'", script)) as Said;
    expect(reported.map((each) => new URL(each).href)).toContain(`http://${hostname}:8769/v1`);
    expect(reported.filter((each) => each.includes("SECRETVALUE"))).toEqual([]);
    expect(reply).toMatchObject({
      error: {
        code: "CAPABILITY_DENIED",
        message: expect.stringContaining("this query has a secret"),
        operatorHint: expect.stringContaining(`connect-src http://${hostname}:8769`),
      },
    });
  });

  it("leaves a request that it only reports to fail by its own cause", async () => {
    const reply = await saidReported("connect-src 'self'", script.replace("?secret&", "?"));
    expect(reply).toMatchObject({ error: { code: "UNAVAILABLE", message: expect.stringContaining("(CORS)") } });
  });

  it("lets a secret into a query where nothing reports it", async () => {
    const { reply, reported } = (await saidReported("connect-src *", script)) as Said;
    expect(reported).toEqual([]);
    expect(reply).toMatchObject({ error: { code: "UNAVAILABLE", message: expect.stringContaining("(CORS)") } });
  });
});

interface Said {
  readonly reply: unknown;
  readonly reported: readonly string[];
}
