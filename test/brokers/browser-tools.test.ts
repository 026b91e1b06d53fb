import { createKernel } from "@keyhole/kernel";
import { nodeHost } from "@keyhole/worker-host/node";
import { browser, browserScreenshot, withBrowser } from "@keyhole/worker-host/node/browser";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type PageWorld, pageWorld } from "./page-world.ts";

let world: PageWorld;
beforeAll(async () => {
  world = await pageWorld();
  world.page("shop.example.com", "<title>Shop</title><h1>Tea</h1>");
});
afterAll(() => world.close());

const capability = { kind: "browser.page", hosts: ["shop.example.com"] } as const;
const policy = {
  version: "1",
  posture: "standard",
  grants: [
    { tool: "browser", capability },
    { tool: "browser_screenshot", capability },
  ],
} as const;
const url = "http://shop.example.com/";

it("a kernel reads a page and takes its picture, and refuses a page beside the grant", async () => {
  const kernel = await createKernel({ host: withBrowser(nodeHost(), world.options), policy });
  expect(kernel.register(browser)).toMatchObject({ ok: true });
  expect(kernel.register(browserScreenshot)).toMatchObject({ ok: true });
  expect(await kernel.call("browser", { url, extract: [{ selector: "h1" }] })).toMatchObject({
    ok: true,
    data: { title: "Shop", text: "Tea", extracted: [{ count: 1, values: ["Tea"] }] },
  });
  const picture = await kernel.call("browser_screenshot", { url });
  expect(picture).toMatchObject({ ok: true });
  expect(picture.ok && picture.data instanceof Uint8Array && [...picture.data.subarray(1, 4)]).toEqual([
    0x50, 0x4e, 0x47,
  ]);
  expect(await kernel.call("browser", { url: "http://other.example.net/" })).toMatchObject({
    ok: false,
    error: { code: "CAPABILITY_DENIED" },
  });
  await kernel.close();
});

it("a tool for pages ends with UNSUPPORTED_HOST, and what to install, where there is no browser", async () => {
  const host = withBrowser(nodeHost(), { executable: "/nowhere/chromium" });
  const kernel = await createKernel({ host, policy });
  kernel.register(browser);
  expect(await kernel.call("browser", { url })).toMatchObject({
    ok: false,
    error: { code: "UNSUPPORTED_HOST", operatorHint: expect.stringContaining("apt-get install chromium") as string },
  });
  await kernel.close();
});
