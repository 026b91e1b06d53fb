import type { CapabilityReply } from "@keyhole/kernel";
import { environmentSecrets } from "@keyhole/worker-host/node";
import { describe, expect, it } from "vitest";
import { echoed, type EchoServer, openEcho, policyWith, url } from "../support/echo-server.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { openSecrets, stands } from "../support/open-secrets.ts";

const value = "canary-7f3a-9c1e";
const echoing = (): EchoServer => ({ stored: value, answer: echoed });
const broken = "The store of secrets failed or did not answer in time.";

/** A store that fails until it is told otherwise. */
function failing() {
  const state = { isDown: true };
  const get = (): string => {
    if (state.isDown) throw new Error(`cannot read ${value}`);
    return value;
  };
  return { state, get };
}

describe("the store of secrets", () => {
  it("is asked once per call for what is granted where the call went, and nothing of it is on record as a use", async () => {
    const { kernel, asked, hear } = await openEcho(echoing(), { get: () => value });
    await hear("reader");
    expect(asked).toEqual(["key"]);
    const uses = (await kernel.audit.read()).flatMap(({ type, payload }) =>
      type === "capability.used" ? payload.kind : [],
    );
    expect(uses).toEqual(["net.read"]);
  });

  it("is asked once by a call that uses the secret and has two answers searched for it", async () => {
    const server: EchoServer = { stored: "", answer: echoed };
    const { asked, hear } = await openEcho(server, { get: () => value });
    await hear("poster");
    expect(asked).toEqual(["key"]);
  });

  it.each([
    ["of a host where no secret is granted", { url: "https://www.example.net/" }],
    ["that was not asked for", { url: "https://other.example.com/" }],
  ])("is not asked for an answer %s", async (_, input) => {
    const { asked, hear } = await openEcho(echoing(), { get: () => value });
    await hear("reader", input);
    expect(asked).toEqual([]);
  });

  it("that fails withholds the answer, and is asked again for the next one", async () => {
    const { state, get } = failing();
    const { hear, shown, kernel } = await openEcho(echoing(), { get });
    expect(await hear("reader")).toBe(`UNAVAILABLE: ${broken}`);
    expect(await shown()).not.toContain(value);
    const last = (await kernel.audit.read()).findLast(({ type }) => type === "capability.used");
    expect(last?.payload).toMatchObject({ kind: "net.read", outcome: "failed" });
    state.isDown = false;
    expect(await hear("reader")).toContain("It is *keyhole-secret*.");
  });

  it("that fails withholds a redirect before it is followed", async () => {
    const urls: string[] = [];
    const answer: EchoServer["answer"] = (secret, to) => {
      urls.push(to);
      return new Response(null, { status: 302, headers: { location: `https://www.example.net/${secret}` } });
    };
    const { hear } = await openEcho({ stored: value, answer }, failing());
    expect(await hear("reader")).toBe(`UNAVAILABLE: ${broken}`);
    expect(urls).toEqual([url]);
  });

  it("that does not answer withholds the answer after 5 s, and not before", async () => {
    const clock = new FakeClock();
    const pending = Promise.withResolvers<string>();
    const { hear } = await openEcho(echoing(), { get: () => pending.promise }, { clock });
    let heard: string | undefined;
    const hearing = hear("reader").then((text) => (heard = text));
    await clock.advance(4_999);
    expect(heard).toBeUndefined();
    await clock.advance(1);
    expect(await hearing).toBe(`UNAVAILABLE: ${broken}`);
  });

  it.each([
    ["undefined", undefined],
    ["null", null],
    ["too short", "1234567"],
    ["no string", 12_345_678],
  ])("that has no usable value (%s) withholds nothing: no kernel ever sent it", async (_, none) => {
    const { hear } = await openEcho(echoing(), { get: () => none as never });
    expect(await hear("reader")).toContain("It is canary");
  });
});

describe("a grant of secrets by a pattern", () => {
  const policy = policyWith("app_*", "key");

  it("is refused before anything is sent where the store cannot list names", async () => {
    const urls: string[] = [];
    const answer: EchoServer["answer"] = (_, to) => new Response(String(urls.push(to)));
    const { hear, asked } = await openEcho({ stored: value, answer }, { get: () => value }, { policy });
    const message = "The policy grants secrets by a pattern, and the store of secrets cannot list names.";
    expect(await hear("reader")).toBe(`CAPABILITY_DENIED: ${message}`);
    expect([urls, asked]).toEqual([[], []]);
  });

  it("finds every secret that the store lists under its prefix", async () => {
    const prefixes: string[] = [];
    const store = {
      get: (name: string) => (name === "app_b" ? value : `another-value-of-${name}`),
      list: async (prefix: string) => (prefixes.push(prefix), ["app_a", "app_b"]),
    };
    const { hear, asked } = await openEcho(echoing(), store, { policy });
    expect(await hear("reader")).toContain("It is *keyhole-secret*.");
    expect(prefixes).toEqual(["app_"]);
    expect(asked.toSorted()).toEqual(["app_a", "app_b", "key"]);
  });

  it.each([
    ["fails", () => Promise.reject(new Error(value))],
    ["gives no list", () => "app_a" as never],
  ])("withholds the answer where the list %s", async (_, list) => {
    const { hear, shown } = await openEcho(echoing(), { get: () => value, list }, { policy });
    expect(await hear("reader")).toBe(`UNAVAILABLE: ${broken}`);
    expect(await shown()).not.toContain(value);
  });

  it.each([
    [255, "It is *keyhole-secret*."],
    [256, "CAPABILITY_DENIED: The policy grants more than 256 secrets at the hosts of this call."],
  ])("of %i names, and one more by name", async (count, heard) => {
    const list = () => Array.from({ length: count }, (_, index) => `app_${index}`);
    const store = { get: (name: string) => (name === "key" ? value : `another-value-of-${name}`), list };
    const { hear } = await openEcho(echoing(), store, { policy });
    expect(await hear("reader")).toContain(heard);
  });

  it.each(["KEYHOLE_SECRET_APP_TOKEN", "Keyhole_Secret_App_Token"])(
    "is listed by the environment as %s",
    async (name) => {
      const variables: Record<string, string> = {
        [name]: value,
        KEYHOLE_SECRET_OTHER: "x",
        APP_TOKEN: "y",
        keyhole_secret_app_x: "",
      };
      // As on Windows, where a variable has one value in any case.
      const env = new Proxy(variables, {
        get: (all, key) =>
          Object.entries(all).find(
            ([each]) => each.toUpperCase() === String(key) && each !== "keyhole_secret_app_x",
          )?.[1],
      });
      const store = environmentSecrets({ env });
      const names = [...((await store.list?.("app-")) ?? [])];
      expect(names.map((name) => store.get(name))).toEqual([value]);
      const { hear } = await openEcho(echoing(), store, { policy });
      expect(await hear("reader")).toContain("It is *keyhole-secret*.");
    },
  );
});

describe("a call that had revealed a secret before it was suspended", () => {
  const reply: CapabilityReply = { ok: true, value: `It is ${value}.` };

  it("has its answers searched for it, and gets its placeholder back", async () => {
    const secrets = openSecrets({ get: () => value }, { revealed: ["key"] });
    expect(await secrets.clean(reply)).toEqual({ ok: true, value: `It is ${stands}.` });
    expect(secrets.takeUses()).toEqual([]);
  });

  it("has its answers withheld where the store fails", async () => {
    const { state, get } = failing();
    const secrets = openSecrets({ get }, { revealed: ["key"] });
    expect(await secrets.clean(reply)).toMatchObject({ ok: false, error: { code: "UNAVAILABLE", message: broken } });
    expect(await secrets.redact(value)).toMatchObject({ ok: false });
    expect(await secrets.redactor()).toMatchObject({ ok: false });
    state.isDown = false;
    expect(await secrets.clean(reply)).toEqual({ ok: true, value: `It is ${stands}.` });
  });
});
