import { createExecutionContext, runInDurableObject } from "cloudflare:test";
import { createGateway, createRoutes, type Env, gatewayWorker, kernelObject } from "@keyhole/edge";
import { ApprovalDesk } from "@keyhole/worker-host/approval-desk";
import { createKernel, type PolicyDocument } from "@keyhole/kernel";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { contentStore } from "@keyhole/worker-host/content";
import { echo } from "@keyhole/worker-host/tools";
import { beforeAll, describe, expect, it } from "vitest";
import { bindings } from "./bindings.ts";
import { sha256Hex, tokenTable } from "./service.ts";

const policy: PolicyDocument = { version: "1", posture: "standard" };

let env: Env;
beforeAll(async () => {
  env = { ...bindings, KEYHOLE_TOKENS: await tokenTable() };
});

/** What anybody hears at an address of the deployed Worker with these settings. */
async function asked(path: string, settings: object = {}): Promise<[number, unknown]> {
  const request = new Request(`https://edge.example${path}`) as Request<unknown, IncomingRequestCfProperties>;
  const response = await gatewayWorker.fetch!(request, { ...env, ...settings }, createExecutionContext());
  return [response.status, await response.json()];
}

const unavailable = (code: string, detail: unknown): [number, unknown] => [
  503,
  { status: "unavailable", causes: [{ code, detail }] },
];

const sandbox = (fetch: (address: string, init: RequestInit) => Promise<Response>): object => ({ SANDBOX: { fetch } });
const silent = (_: string, { signal }: RequestInit): Promise<Response> =>
  new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)));

describe("the deployed Worker", () => {
  it("is alive and ready where calls are served", async () => {
    expect(await asked("/livez")).toEqual([200, { status: "ok" }]);
    expect(await asked("/healthz")).toEqual([200, { status: "ok" }]);
  });

  it.each<[string, () => object, string, string]>([
    ["tokens that are not valid", () => ({ KEYHOLE_TOKENS: '{"secret":{}}' }), "MISCONFIGURED", "KEYHOLE_TOKENS is no"],
    ["no tokens", () => ({ KEYHOLE_TOKENS: "" }), "UNAUTHENTICATED", "KEYHOLE_TOKENS has no token"],
    [
      "a sandbox that fails",
      () => sandbox(() => Promise.reject(new Error("gone"))),
      "ISOLATE_LOST",
      "cannot be reached",
    ],
    ["a sandbox that is silent", () => sandbox(silent), "ISOLATE_LOST", "did not answer within 1000 ms"],
    [
      "a sandbox without its bindings",
      () => sandbox(async () => new Response(null, { status: 503 })),
      "ISOLATE_LOST",
      "answered 503",
    ],
    [
      "a kernel's object that fails",
      () => ({ KERNEL: { getByName: () => ({ fetch: () => Promise.reject(new Error("overloaded")) }) } }),
      "KERNEL_UNAVAILABLE",
      "The kernel's object failed.",
    ],
  ])("is alive and not ready with %s", async (_, settings, code, detail) => {
    expect(await asked("/healthz", settings())).toEqual(unavailable(code, expect.stringContaining(detail)));
    expect(await asked("/livez", settings())).toEqual([200, { status: "ok" }]);
  });

  it("reports all causes at once", async () => {
    const settings = {
      ...sandbox(() => Promise.reject(new Error("gone"))),
      KERNEL: { getByName: () => ({ fetch: () => Promise.reject(new Error("overloaded")) }) },
    };
    const [, body] = await asked("/healthz", settings);
    expect(body).toMatchObject({ causes: [{ code: "KERNEL_UNAVAILABLE" }, { code: "ISOLATE_LOST" }] });
  });
});

describe("the readiness of a kernel's object", () => {
  it.each<[string, object, Partial<Parameters<typeof kernelObject>[0]>, string]>([
    ["a policy that is not JSON", { KEYHOLE_POLICY: "{internal.example" }, {}, "KEYHOLE_POLICY is not JSON."],
    [
      "a policy that is none",
      { KEYHOLE_POLICY: '{"version":"1","posture":"internal.example"}' },
      {},
      "The policy is not valid. Every other request gets this reason.",
    ],
    ["no isolates", { LOADER: undefined }, {}, "The bindings SANDBOX and LOADER are missing"],
    [
      "a tool that was changed",
      {},
      { tools: [{ ...echo, code: "internal.example" }] },
      "The kernel cannot register a tool.",
    ],
    [
      "a setting that is not valid",
      {},
      {
        tools: () => {
          throw new TypeError("internal.example is no address.");
        },
      },
      "A setting of the service is not valid.",
    ],
  ])("names %s without its value", async (name, settings, options, detail) => {
    await runInDurableObject(bindings.KERNEL.getByName(`unready ${name}`), async (_, context) => {
      const Wrong = kernelObject({ tools: [echo], policy, ...options });
      const response = await new Wrong(context, { ...env, ...settings }).fetch(new Request("https://kernel/healthz"));
      const text = await response.text();
      expect([response.status, JSON.parse(text)]).toEqual(
        unavailable("MISCONFIGURED", expect.stringContaining(detail)),
      );
      expect(text).not.toContain("internal.example");
    });
  });

  it("is lost with its log, and with the first call that could not be recorded", async () => {
    let full = false;
    const kernel = await createKernel({
      policy,
      sink: {
        open: () => ({ last: undefined, cutBytes: 0, damage: null }),
        append() {
          if (full) throw new Error("the disk at /var/internal is full");
        },
        read: () => [],
      },
    });
    const routes = createRoutes({ kernel, desk: new ApprovalDesk(), policy, content: contentStore(memoryStore()) });
    const readiness = async (): Promise<[number, unknown]> => {
      const response = await routes.fetch(new Request("https://kernel/healthz"));
      return [response.status, await response.json()];
    };
    expect(await readiness()).toEqual([200, { status: "ok" }]);
    full = true;
    await expect(kernel.setMode("ALERT", "a drill")).rejects.toThrow("The audit log cannot be written.");
    expect(await readiness()).toEqual(unavailable("AUDIT_UNAVAILABLE", "The audit log cannot be written."));
  });
});

describe("the gateway", () => {
  /** Whose kernel stands for all, with tokens of these tenants. */
  async function probed(...tenants: string[]): Promise<string[]> {
    const seen: string[] = [];
    const entries = tenants.map(
      async (tenant) => [await sha256Hex(tenant), { subject: "s", scopes: [], tenant }] as const,
    );
    const tokens = JSON.stringify(Object.fromEntries(await Promise.all(entries)));
    const gateway = createGateway<object>(() => ({ tokens, origins: "" }), {
      forward: async () => new Response("reached"),
      causes: async (_, tenant) => (seen.push(tenant), []),
    });
    await gateway.fetch(new Request("https://edge.example/healthz"), {});
    return seen;
  }

  it("asks one kernel for a probe, the default tenant's where there is one", async () => {
    expect(await probed("acme", "default", "other")).toEqual(["default"]);
    expect(await probed("acme", "other")).toEqual(["acme"]);
  });
});
