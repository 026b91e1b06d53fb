import { fileURLToPath } from "node:url";
import { createKernel, defineTool } from "@keyhole/kernel";
import { exposeInspector } from "@keyhole/worker-host/node";
import { build } from "esbuild";
import type { Page } from "playwright";
import { describe, expect, it } from "vitest";
import { serve } from "./playground/site.ts";
import { agreeToEdge, callOf, openPolicy } from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";

const visiting = new Visiting();
const policy = { version: "1", posture: "standard" };

/** A program with a kernel, in a page: it opens the playground, and calls its tool. */
const program = `
import { createKernel, defineTool } from "@keyhole/kernel";
import { exposeInspector } from "./inspector.ts";
const policy = ${JSON.stringify(policy)};
const kernel = await createKernel({ policy });
kernel.registerTrusted(defineTool({ name: "greet", version: "1.0.0", description: "Greets.", input: { type: "object" }, output: { kind: "json" }, execute: () => 1 }));
const { link } = exposeInspector(kernel, { origin: ORIGIN, policy: () => policy, mayChangeMode: true });
document.querySelector("#watch").onclick = () => open(link);
document.querySelector("#call").onclick = () => kernel.call("greet", {}, { caller: "the app" });
document.title = "ready";
`;

async function bundled(origin: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: program,
      resolveDir: fileURLToPath(new URL("../../packages/worker-host/src/browser", import.meta.url)),
    },
    bundle: true,
    write: false,
    format: "esm",
    conditions: ["keyhole-source"],
    define: { ORIGIN: JSON.stringify(origin) },
  });
  return outputFiles[0]!.text;
}

/** What the program did stands in the log, and leads to its events; nothing can be called. */
async function seesCall(page: Page, tool: string): Promise<void> {
  const row = page.getByRole("region", { name: "Log of calls" }).getByRole("row", { name: new RegExp(tool) });
  await row.first().click();
  await callOf(page).getByText("Completed", { exact: true }).waitFor();
  await page.getByText("This kernel is watched").waitFor();
  expect(await page.getByRole("button", { name: "Run", exact: true }).count()).toBe(0);
}

describe("the page that watches a kernel", () => {
  it("of a Node program has its calls and its policy, and changes nothing", async () => {
    await visiting.open();
    const kernel = await createKernel({ policy });
    kernel.registerTrusted(
      defineTool({
        name: "node_greet",
        version: "1.0.0",
        description: "Greets.",
        input: { type: "object" },
        output: { kind: "json" },
        execute: () => 1,
      }),
    );
    const inspector = await exposeInspector(kernel, { origins: [visiting.site.origin], policy: () => policy });
    try {
      visiting.visitor = await visiting.visits.visit(inspector.link);
      const { page } = visiting.visitor;
      expect(page.url()).not.toContain(inspector.token);
      await agreeToEdge(page);
      await page.getByText("Watching", { exact: true }).waitFor();
      await kernel.call("node_greet", {}, { caller: "the program" });
      await seesCall(page, "node_greet");
      expect(await page.getByRole("button", { name: /LOCKDOWN/ }).count()).toBe(0);
      await openPolicy(page);
      await page.getByText("This policy can only be read here").waitFor();
    } finally {
      await inspector.close();
    }
  });

  it("of the page that opened it has its calls over a port, and locks it down where the page lets it", async () => {
    const own = await visiting.open();
    const script = await bundled(visiting.site.origin);
    const html = `<!doctype html><button id="watch">Watch</button><button id="call">Call</button><script type="module" src="/app.js"></script>`;
    const app = await serve((request, response) =>
      request.url === "/app.js"
        ? response.writeHead(200, { "content-type": "text/javascript" }).end(script)
        : response.writeHead(200, { "content-type": "text/html" }).end(html),
    );
    const page = await own.context().newPage();
    try {
      await page.goto(app.origin);
      await expect.poll(() => page.title()).toBe("ready");
      const opening = page.waitForEvent("popup");
      await page.getByRole("button", { name: "Watch" }).click();
      const playground = await opening;
      await playground.getByText(`Watch the kernel of ${new URL(app.origin).host}?`).waitFor();
      await playground.mouse.move(1, 1);
      await playground.getByRole("button", { name: "Watch it" }).click();
      await playground.getByText("Watching", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Call" }).click();
      await seesCall(playground, "greet");
      await playground.keyboard.press("Shift+Escape");
      await playground.getByText("Every opening is closed.").waitFor();
      await page.getByRole("button", { name: "Call" }).click();
      await playground
        .getByRole("region", { name: "Log of calls" })
        .getByRole("row", { name: /greet/ })
        .nth(1)
        .waitFor();
    } finally {
      await page.close();
      await app.close();
    }
  });
});
