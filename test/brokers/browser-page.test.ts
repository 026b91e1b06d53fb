import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { browserBroker } from "@keyhole/worker-host/node/browser";
import { openSession } from "./session.ts";
import { type PageWorld, pageWorld } from "./page-world.ts";

let world: PageWorld;
beforeAll(async () => {
  world = await pageWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  world.routes.clear();
  world.addresses.clear();
  for (const list of [world.arrived, world.dialed, world.strays]) list.length = 0;
});

const url = "https://shop.example.com/";

describe("a page", () => {
  it("gives its title, its text and what selectors find, after its scripts ran", async () => {
    world.page(
      "shop.example.com",
      `<title>Shop</title><ul><li data-id="1">Tea<li data-id="2">Milk</ul><p id="now"></p><script src="/app.js"></script>`,
    );
    world.routes.set("shop.example.com/app.js", (_, response) =>
      response
        .writeHead(200, { "content-type": "text/javascript" })
        .end(`document.querySelector("#now").textContent = "open"`),
    );
    const { reply, value } = await world.open({
      url,
      textLength: 1_000,
      extract: [{ selector: "li" }, { selector: "li", attribute: "data-id" }, { selector: "li[" }],
      screenshot: "window",
    });
    expect(reply, JSON.stringify(reply)).toMatchObject({ ok: true });
    expect(value).toMatchObject({ url, status: 200, title: "Shop", isLoaded: true, refused: [] });
    expect(value["text"]).toContain("open");
    expect(value["extracted"]).toEqual([
      { count: 2, values: ["Tea", "Milk"] },
      { count: 2, values: ["1", "2"] },
      { count: 0, values: [], isInvalid: true },
    ]);
    const png = reply.ok ? reply.body : undefined;
    expect([...(png?.subarray(0, 4) ?? [])]).toEqual([0x89, 0x50, 0x4e, 0x47]);
    expect(world.arrived).toEqual(expect.arrayContaining(["GET shop.example.com/", "GET shop.example.com/app.js"]));
  });
});

describe("a browser", () => {
  it("runs in Chromium's sandbox by default, or opens no page", async () => {
    const confined = await pageWorld("required");
    confined.page("shop.example.com", "<title>Shop</title>");
    const { reply } = await confined.open({ url });
    confined.close();
    expect(reply).toMatchObject(reply.ok ? { value: { title: "Shop" } } : { error: { code: "UNAVAILABLE" } });
  });

  it("is named as missing, with what to install, where the machine has none", async () => {
    const options = { executable: "/nowhere/chromium" };
    const grant = { kind: "browser.page", hosts: ["shop.example.com"] } as const;
    const request = { kind: "browser.page", operation: "open", arguments: { url } };
    expect(await browserBroker(options).serve(request, openSession({ grants: [grant] }))).toMatchObject({
      ok: false,
      error: { code: "UNAVAILABLE", operatorHint: expect.stringContaining("apt-get install chromium") as string },
    });
  });
});
