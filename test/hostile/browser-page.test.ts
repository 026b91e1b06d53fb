import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type PageWorld, pageWorld } from "../brokers/page-world.ts";
import { sized, thorough } from "../support/size.ts";
import { vectors } from "./pages/vectors.ts";

let world: PageWorld;
beforeAll(async () => {
  world = await pageWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  world.routes.clear();
  world.addresses.clear();
  world.addresses.set("rebound.example.com", () => ["127.0.0.1"]);
  for (const list of [world.arrived, world.dialed, world.strays]) list.length = 0;
});

const url = "http://shop.example.com/";
const own = ["GET shop.example.com/", "GET shop.example.com/favicon.ico", "GET shop.example.com/blocked"];

/** Origins that the grant `*.example.com` does not reach, the last one by its address. */
function targets({ canaries: { tcp, udp } }: PageWorld): readonly string[] {
  return [
    `http://127.0.0.1:${tcp}`,
    `http://127.0.0.1:${udp}`,
    `http://rebound.example.com`,
    `https://other.example.net`,
    `http://localhost:${tcp}`,
    `http://[::1]:${tcp}`,
    `http://[::ffff:127.0.0.1]:${tcp}`,
    `http://0.0.0.0:${tcp}`,
    `http://2130706433:${tcp}`,
    "http://169.254.169.254",
  ];
}

/** Nothing came anywhere but where the grant leads, seen where it would have arrived. */
function expectNothingAstray(): void {
  expect(world.strays).toEqual([]);
  expect(world.arrived.filter((each) => !own.includes(each))).toEqual([]);
  expect(world.dialed.filter(({ host }) => host !== "shop.example.com")).toEqual([]);
}

describe("a page that asks beside its grant", () => {
  it("reaches nothing, by any way", async () => {
    // A download of another origin leads the whole page there.
    const ways = Object.entries(vectors).filter(([name]) => name !== "download");
    const all = targets(world)
      .slice(0, 4)
      .flatMap((to) => ways.map(([name, snippet]) => `<div class="${name}">${snippet(to)}</div>`));
    world.page("shop.example.com", `<title>t</title>${all.join("\n")}<p id="end">end</p>`);
    const { value, reply } = await world.open({ url, waitMs: 30_000 }, { networkRequests: 1_000 });
    expect(reply).toMatchObject({ ok: true, value: { title: "t" } });
    expect(value["refusals"]).toBeGreaterThan(0);
    expectNothingAstray();
  });

  const alone = Object.keys(vectors).flatMap((name) => [0, 1, 2, 4, 5, 6, 7, 8, 9].map((at) => [name, at] as const));
  it.each(sized([], alone))("reaches nothing by %s alone, to target %s", async (name, at) => {
    const to = targets(world)[at] ?? expect.unreachable("there is no such target");
    world.page("shop.example.com", `<title>t</title>${vectors[name]?.(to)}`);
    const { reply } = await world.open({ url, waitMs: 2_000 });
    expect(reply).toMatchObject(
      name === "download" ? { error: { code: "CAPABILITY_DENIED" } } : { value: { title: "t" } },
    );
    expectNothingAstray();
  });
});

describe("a page that leads elsewhere", () => {
  const leads: readonly (readonly [string, { redirect?: boolean; html?: (to: string) => string }])[] = [
    ["its script", { html: (to) => `<script>location = "${to}/"</script>` }],
    ["a redirect of its server", { redirect: true }],
    ["its refresh", { html: (to) => `<meta http-equiv="refresh" content="0;url=${to}/">` }],
  ];

  it.each(sized(leads.slice(0, 1), leads))("is refused with the place, by %s", async (_, { redirect, html }) => {
    const to = `http://127.0.0.1:${world.canaries.tcp}`;
    if (redirect)
      world.routes.set("shop.example.com/", (__, response) => response.writeHead(302, { location: `${to}/` }).end());
    else world.page("shop.example.com", html?.(to) ?? "");
    const { reply } = await world.open({ url, waitMs: 20_000 });
    expect(reply).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    expectNothingAstray();
  });

  if (thorough) {
    it("is refused where its name resolves to a private address, also the second time only", async () => {
      let asked = 0;
      world.addresses.set("shop.example.com", () => (asked++ === 0 ? ["93.184.215.14"] : ["127.0.0.1"]));
      world.page("shop.example.com", `<title>t</title><img src="http://shop.example.com/again">`);
      expect((await world.open({ url })).value).toMatchObject({ title: "t" });
      expect(new Set(world.dialed.map(({ address }) => address))).toEqual(new Set(["93.184.215.14"]));
      const { reply } = await world.open({ url });
      expect(reply).toMatchObject({
        ok: false,
        error: { code: "CAPABILITY_DENIED", message: expect.stringContaining("loopback") as string },
      });
    });
  }

  it.each([
    "file:///etc/passwd",
    "chrome://version/",
    "view-source:http://shop.example.com/",
    "data:text/html,x",
    "about:blank",
  ])("is not opened at %s", async (address) => {
    expect((await world.open({ url: address })).reply).toMatchObject({ ok: false });
    expect(world.arrived).toEqual([]);
  });
});

describe("a page that takes more than it may", () => {
  const endless = (head: string) => (chunk: string) =>
    world.routes.set("shop.example.com/", (_, response) => {
      response.writeHead(200, { "content-type": "text/html" }).write(head);
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
        response.once("drain", more);
      };
      if (chunk !== "") more();
    });

  if (thorough) {
    it("is read as it is when its load does not end", async () => {
      endless("<title>slow</title><p>here")("");
      const { value } = await world.open({ url, waitMs: 1_000, textLength: 100 });
      expect(value).toMatchObject({ title: "slow", isLoaded: false, text: "here" });
    });
  }

  it("ends with its bytes, however large its body is", async () => {
    endless("<p>")("x".repeat(65_536));
    const { reply, session } = await world.open({ url, waitMs: 20_000 }, { networkBytes: 2 << 20 });
    expect(reply).toMatchObject({ ok: false, error: { code: "BOUNDS_EXCEEDED" } });
    expect(session.used.networkBytes).toBeLessThanOrEqual(2 << 20);
  });

  if (thorough) {
    it("ends with its documents", async () => {
      world.routes.set("shop.example.com/", (_, response) => response.writeHead(302, { location: "/?again" }).end());
      const { reply } = await world.open({ url, waitMs: 20_000 }, { limit: 3 });
      expect(reply).toMatchObject({ ok: false, error: { code: "BOUNDS_EXCEEDED" } });
      expect(world.arrived.filter((each) => each === "GET shop.example.com/")).toHaveLength(3);
    });
  }

  it("ends with its call, and leaves no process, when it loops and asks without end", async () => {
    world.page(
      "shop.example.com",
      `<title>t</title><script>for (;;) { try { alert("x".repeat(1e6)) } catch {} console.log("x".repeat(1e6)) }</script>`,
    );
    const end = new AbortController();
    world.routes.set("shop.example.com/stop", () => end.abort());
    const visiting = world.open({ url, waitMs: 60_000 }, { signal: end.signal });
    await expect.poll(() => world.arrived.length, { timeout: 60_000 }).toBeGreaterThan(0);
    end.abort();
    expect((await visiting).reply).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(browsers()).toEqual([]);
  });

  if (thorough) {
    it("is cut to the bounds of an answer: a title, a selector of a million nodes, a text", async () => {
      world.page(
        "shop.example.com",
        `<form><input name="innerText"></form><img name="querySelectorAll"><img name="title"><script>
          document.title = "t".repeat(1e7);
          Array.prototype.map = JSON.stringify = () => { throw 1; };
          document.querySelectorAll = () => { throw 1; };
          const all = document.createElement("div"); all.innerHTML = "<b>x</b>".repeat(1e5); document.documentElement.append(all);
        </script>`,
      );
      const { value } = await world.open({
        url,
        waitMs: 10_000,
        textLength: 1_000,
        extract: [{ selector: "b" }, { selector: ":nope(x" }],
      });
      expect(value).toMatchObject({ extracted: [{ count: 100_000 }, { isInvalid: true }] });
      expect(String(value["title"]).length).toBeLessThanOrEqual(500);
      expect(String(value["text"]).length).toBeLessThanOrEqual(1_000);
    });
  }
});

/** Processes that the broker started and that live. */
function browsers(): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return line.includes("keyhole-browser-") ? [line.slice(0, 100)] : [];
      } catch {
        return [];
      }
    });
}
