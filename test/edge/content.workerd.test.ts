import { runInDurableObject } from "cloudflare:test";
import { type Env, kernelObject } from "@keyhole/edge";
import { type AuditEvent, type CallSuccess, hashBytes } from "@keyhole/kernel";
import { echo } from "@keyhole/worker-host/tools";
import { beforeAll, describe, expect, it } from "vitest";
import { identityHeader } from "../../packages/edge/src/app/gateway.ts";
import { bindings } from "./bindings.ts";
import { openService, type Service, tokens } from "./service.ts";

let service: Service;
beforeAll(async () => {
  service = await openService();
});

describe("an output by reference", () => {
  it("is under its digest", async () => {
    const answered = await service.call("bytes", { input: { count: 2_000_000 }, references: true });
    const { data, reference } = await answered.json<CallSuccess>();
    expect([data, reference?.byteLength]).toEqual([null, 2_000_000]);
    const response = await service.send(`/v1/content/${reference?.digest}`);
    expect(hashBytes(new Uint8Array(await response.arrayBuffer()))).toBe(reference?.digest);
    // Anybody's bytes: no browser may take them for a page.
    const names = ["content-type", "x-content-type-options", "content-security-policy", "cache-control"];
    expect(names.map((name) => response.headers.get(name))).toEqual([
      "application/octet-stream",
      "nosniff",
      "default-src 'none'; frame-ancestors 'none'",
      "no-store",
    ]);
  });

  it("is in the answer where it is small, or nobody asked for a reference", async () => {
    for (const [count, references] of [
      [100, true],
      [2_000_000, undefined],
    ] as const) {
      const answered = await service.call("bytes", { input: { count }, references });
      expect(await answered.json()).toMatchObject({ encoding: "base64", data: expect.any(String) });
    }
  });
});

it.each(["none", `blake3:${"0".repeat(63)}`, `md5:${"0".repeat(64)}`, "%2e%2e%2faudit", `BLAKE3:${"0".repeat(64)}`])(
  "%s is no content",
  async (digest) => {
    expect((await service.send(`/v1/content/${digest}`)).status).toBe(404);
  },
);

it("what the policy keeps outlives the kernel object", async () => {
  const env = { ...bindings, KEYHOLE_TOKENS: "{}" } as unknown as Env;
  const policy = { version: "1", posture: "standard", tools: { echo: { keep: { input: ["/message"] } } } } as const;
  const KernelObject = kernelObject({ tools: [echo], policy });
  await runInDurableObject(bindings.KERNEL.getByName("keeps"), async (_, context) => {
    const identity = encodeURIComponent(JSON.stringify({ ...tokens.all, tenant: "keeps" }));
    const ask = (path: string, init: RequestInit = {}) =>
      new KernelObject(context, env).fetch(
        new Request(`https://edge.example${path}`, {
          ...init,
          headers: { [identityHeader]: identity, "content-type": "application/json" },
        }),
      );
    const called = await ask("/v1/tools/echo/calls", {
      method: "POST",
      body: JSON.stringify({ input: { message: "a secret of ada" } }),
    });
    expect(called.status).toBe(200);
    const { events } = await (await ask("/v1/audit")).json<{ events: readonly AuditEvent[] }>();
    const [digest] = events.flatMap((event) =>
      event.type === "data.kept" ? Object.values(event.payload.commitments) : [],
    );
    expect(JSON.stringify(events)).not.toContain("a secret of ada");
    const opening = await ask(`/v1/content/${digest}`);
    expect(JSON.parse(new TextDecoder().decode(await opening.arrayBuffer()))).toMatchObject({
      path: "/input/message",
      value: "a secret of ada",
    });
  });
});
