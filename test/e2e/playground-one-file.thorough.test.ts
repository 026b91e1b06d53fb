import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildOneFile } from "../../scripts/serve/one-file.mjs";
import { startSource } from "../../packages/playground/src/authoring/start-source.ts";
import { serve, type Site } from "./playground/site.ts";
import { callOf, choose, echo, endOf, field, resultOf, run, untilEvent, Visits } from "./playground/visitor.ts";

/** What an isolate must not reach; the names are those of the page's realm. */
const prober = startSource
  .replace('determinism: "pure"', 'determinism: "nondeterministic"')
  .replace("execute({ text }, { log }) {", "execute({ text }, { log }) { return probe();").concat(`
function probe() {
  const names = ["document", "window", "indexedDB", "caches", "localStorage", "fetch", "XMLHttpRequest", "WebSocket", "importScripts", "Worker"];
  return { text: names.filter((name) => typeof globalThis[name] !== "undefined").join(), origin: String(globalThis.origin) };
}`);

let site: Site;
let visits: Visits;
let html: string;

beforeAll(async () => {
  html = await buildOneFile();
  // Any static host: one file, and no header of ours.
  site = await serve((request, response) =>
    request.url === "/some/folder/page.html"
      ? response.writeHead(200, { "content-type": "text/html" }).end(html)
      : response.writeHead(404).end(),
  );
  visits = await Visits.apart();
}, 300_000);

afterAll(async () => {
  await visits.close();
  await site.close();
});

describe("the playground as one file", () => {
  it("runs, stops and builds tools, isolated, without a second request", async () => {
    const { page, leave } = await visits.visit(`${site.origin}/some/folder/page.html`);
    const before = site.requests.length;
    await page.context().setOffline(true);
    expect(await echo(page, "from one file")).toBe("Completed");
    await choose(page, "sql_query");
    await page.getByRole("button", { name: "Fill in an example" }).click();
    await run(page);
    expect(await endOf(page)).toBe("Completed");
    await choose(page, "spin");
    await run(page);
    await untilEvent(page, "tool.started");
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await endOf(page)).toBe("Cancelled");

    await page.getByRole("link", { name: "Build" }).click();
    const editor = page.getByRole("textbox", { name: "Source of the tool (TypeScript)" });
    await editor.focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(prober);
    await page.getByRole("complementary", { name: "Manifest" }).getByText("nondeterministic").waitFor();
    await field(page, "text").fill("x");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await callOf(page).getByText("Completed", { exact: true }).waitFor();
    expect(await resultOf(page)).toMatch(/"origin": "(?:null|undefined)"[\s\S]*"text": ""/);
    for (const screen of ["Timeline", "Policy", "Replay"]) {
      await page.getByRole("link", { name: screen, exact: true }).click();
      await page.getByRole("main", { name: screen }).waitFor();
    }
    expect(site.requests.slice(before)).toEqual([]);
    leave();
  });
});
