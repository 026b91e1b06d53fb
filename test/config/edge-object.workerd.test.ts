import { runInDurableObject } from "cloudflare:test";
import { kernelObject } from "@keyhole/edge";
import { afterEach, expect, it, vi } from "vitest";
import { identityHeader } from "../../packages/edge/src/app/gateway.ts";
import { bindings } from "../edge/bindings.ts";
import { inJson } from "./documents.ts";

afterEach(() => vi.unstubAllGlobals());

const identity = encodeURIComponent(JSON.stringify({ subject: "a", scopes: ["tools:call"], tenant: "configured" }));

it("a kernel at the edge decides as its configuration says", async () => {
  const sent: string[] = [];
  vi.stubGlobal("fetch", async (url: string, { headers }: RequestInit): Promise<Response> => {
    sent.push(`${url} ${new Headers(headers).get("authorization")}`);
    return Response.json({ temp: 21 });
  });
  const Configured = kernelObject({
    config: JSON.parse(inJson) as unknown,
    tools: [],
    policy: { version: "1", posture: "strict" },
  });
  await runInDurableObject(bindings.KERNEL.getByName("configured"), async (_, context) => {
    const env = { ...bindings, KEYHOLE_TOKENS: "{}", KEYHOLE_TEST_WEATHER: "0123456789abcdef" };
    const object = new Configured(context, env);
    const call = async (tool: string, city: string): Promise<unknown> => {
      const headers = { [identityHeader]: identity, "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify({ input: { city } }) };
      return (await object.fetch(new Request(`https://kernel/v1/tools/${tool}/calls`, init))).json();
    };
    expect(await call("weather", "Bern")).toMatchObject({ ok: true, data: { celsius: 21 } });
    expect(await call("weather", "Atlantis")).toMatchObject({ code: "POLICY_DENIED" });
    expect(await call("report", "Oslo")).toMatchObject({ ok: true, data: { city: "Oslo", celsius: 21 } });
    expect(await call("report", "Atlantis")).toMatchObject({ code: "TOOL_ERROR" });
    await call("weather", "Rome");
    expect(await call("weather", "Kyiv")).toMatchObject({ code: "RATE_LIMITED" });
  });
  expect(sent).toEqual(
    ["Bern", "Oslo", "Rome"].map((city) => `https://api.example.com/v1/weather?city=${city} Bearer 0123456789abcdef`),
  );
});
