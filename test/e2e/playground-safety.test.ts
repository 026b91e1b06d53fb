import type { BrowserContextOptions, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { typeElsewhere } from "./playground/elsewhere.ts";
import { connectTo, fakeEdge, fakeEvent, fakeQuestion, fakeResult, fakeTool } from "./playground/fake-edge.ts";
import { servePage, type Site } from "./playground/site.ts";
import {
  agreeToEdge,
  callOf,
  choose,
  endOf,
  newContext,
  noteComplaints,
  openPolicy,
  run,
  untilEvent,
  Visits,
} from "./playground/visitor.ts";
import { thorough } from "../support/size.ts";

let site: Site;
let visits: Visits;

beforeAll(async () => {
  [site, visits] = await Promise.all([servePage(), Visits.open()]);
});

afterAll(async () => {
  await visits?.close();
  await site?.close();
});

interface OwnVisitor {
  readonly page: Page;
  readonly complaints: string[];
  /** Fails when the browser complained. */
  leave(): Promise<void>;
}

/** A visitor with a tab of their own: what some tests do to a page outlives the test. */
async function visitApart(address: string, options: BrowserContextOptions = {}): Promise<OwnVisitor> {
  const context = await newContext(visits.browser, { viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  noteComplaints(page, (text) => complaints.push(text));
  await page.goto(address);
  await page.getByText("Ready", { exact: true }).waitFor({ state: "attached" });
  const leave = async (): Promise<void> => {
    await context.close();
    expect(complaints).toEqual([]);
  };
  return { page, complaints, leave };
}

/** Leaves no room in both storages of the page's origin. */
function fillStorage(page: Page): Promise<void> {
  return page.evaluate(() => {
    for (const storage of [localStorage, sessionStorage])
      for (let length = 1 << 22; length >= 1;) {
        try {
          storage.setItem("fill", (storage.getItem("fill") ?? "") + "x".repeat(length));
        } catch {
          length >>= 1;
        }
      }
  });
}

describe("an edge that invents its answers", () => {
  it("is found out: the result is not shown as completed", async () => {
    const edge = await fakeEdge({
      tools: [fakeTool("liar")],
      onCall(stream) {
        stream.send("result", fakeResult("liar", { data: "invented" }));
        stream.end();
      },
    });
    const visitor = await visits.visit(site.origin);
    const { page } = visitor;
    await connectTo(page, edge.origin);
    await run(page);
    expect(await endOf(page)).toBe("Broken answer");
    await callOf(page).getByText("The answer of the edge contradicts itself").waitFor();
    await callOf(page).getByText("The hash is not that of the result.").first().waitFor();
    expect(await callOf(page).getByText("Completed", { exact: true }).count()).toBe(0);
    expect(await callOf(page).getByText("invented", { exact: true }).isVisible()).toBe(false);
    await callOf(page).getByText("The answer as the edge sent it").click();
    await callOf(page).getByText("invented", { exact: true }).waitFor();
    visitor.leave();
    await edge.close();
  });
});

describe("approval requests that come together", () => {
  it("are allowed one by one: a double-click answers the first one only", async () => {
    const edge = await fakeEdge({
      tools: [fakeTool("put")],
      onCall(stream) {
        for (const id of ["one", "two", "three", "four"]) stream.send("approval", fakeQuestion(id, "put", { key: id }));
      },
    });
    const visitor = await visits.visit(site.origin);
    const { page } = visitor;
    await connectTo(page, edge.origin);
    await run(page);
    const dialog = page.getByRole("alertdialog");
    await dialog.getByText("Question 1 of 4").waitFor();
    await dialog.getByRole("button", { name: "Allow once" }).dblclick();
    await dialog.getByText("Question 2 of 4").waitFor();
    expect(await dialog.locator("button:focus").count()).toBe(0);
    // The button is there, under the pointer: without a movement of the pointer it grants nothing.
    const button = dialog.getByRole("button", { name: "Allow once" });
    await dialog.locator("button[data-look=primary]:not([aria-disabled=true])").waitFor();
    await page.mouse.down();
    await page.mouse.up();
    await dialog.getByText(/^The button appeared under the pointer/).waitFor();
    await expect.poll(() => edge.answers.map(({ path }) => path)).toEqual(["/v1/approvals/one"]);

    await page.mouse.move(10, 10);
    await button.click();
    await dialog.getByText("Question 3 of 4").waitFor();
    // The last one first: each question waits its own dead time. A alone allows nothing, and D denies.
    await dialog.getByRole("navigation", { name: "Questions that wait" }).getByRole("button").nth(1).click();
    await dialog.getByText("Question 4 of 4").waitFor();
    const ready = dialog.locator("button[data-look=primary]:not([aria-disabled=true])");
    await ready.waitFor();
    await typeElsewhere(page, ready);
    expect(edge.answers).toHaveLength(2);
    await page.keyboard.press("Tab");
    await page.keyboard.press("a");
    await dialog.getByText("Press Enter to allow it once.").waitFor();
    expect(await page.title()).toMatch(/^\(2\) /);
    await page.keyboard.press("Enter");
    await dialog.getByText("Question 4 of 4").waitFor();
    await ready.waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("d");
    await dialog.waitFor({ state: "detached" });
    await expect
      .poll(() => edge.answers.map(({ path, body }) => [path.slice("/v1/approvals/".length), body]))
      .toMatchObject([
        ["one", { answer: "allow", scope: "once" }],
        ["two", { answer: "allow", scope: "once" }],
        ["four", { answer: "allow", scope: "once" }],
        ["three", { answer: "deny" }],
      ]);
    expect(await page.title()).not.toMatch(/^\(/);
    visitor.leave();
    await edge.close();
  });
});

describe("a link to an edge", () => {
  it("changes nothing before the person agrees, and leaves no token in the address bar", async () => {
    const edge = await fakeEdge({ tools: [fakeTool("plain")], onCall: () => {} });
    const visitor = await visits.visit(`${site.origin}/#edge=${edge.origin}&token=secret`);
    const { page } = visitor;
    const host = new URL(edge.origin).host;
    expect(page.url()).toBe(`${site.origin}/`);
    await page.getByText(`Use the edge at ${edge.origin}?`).waitFor();
    await page.getByRole("button", { name: "Ignore the link" }).click();
    await page.getByRole("radio", { name: "Edge" }).click();
    await page.getByText("No edge is set up in this tab.").waitFor();
    expect(edge.requests).toEqual([]);

    // A second link, in the open page.
    await page.evaluate((hash) => void (location.hash = hash), `edge=${edge.origin}&token=secret`);
    await agreeToEdge(page);
    await page.getByRole("option", { name: /^plain/ }).waitFor();
    await page.getByRole("banner").getByText(host, { exact: true }).waitFor();
    expect(page.url()).toBe(`${site.origin}/`);

    await page.evaluate((hash) => void (location.hash = hash), "edge=https://edge.example.com&token=x");
    await page.getByText("Use the edge at https://edge.example.com?").waitFor();
    expect(await page.getByText("The link replaces its token").count()).toBe(0);
    await page.getByRole("banner").getByText(host, { exact: true }).waitFor();
    visitor.leave();
    await edge.close();
  });

  if (thorough) {
    it("is kept for the tab when the storage is full, and the page says so", async () => {
      const edge = await fakeEdge({ tools: [fakeTool("plain")], onCall: () => {} });
      const visitor = await visitApart(site.origin);
      const { page } = visitor;
      await fillStorage(page);
      await page.evaluate((hash) => void (location.hash = hash), `edge=${edge.origin}&token=secret`);
      await agreeToEdge(page);
      await page.getByText("Not saved: address and token of the edge").waitFor();
      await page.getByRole("option", { name: /^plain/ }).waitFor();
      expect(page.url()).toBe(`${site.origin}/`);
      await visitor.leave();
      await edge.close();
    });
  }
});

if (thorough) {
  describe("the page at an edge that sends odd data", () => {
    it("shows the odd event and the odd proof as they are, and stays", async () => {
      const edge = await fakeEdge({
        tools: [fakeTool("odd")],
        onCall(stream) {
          stream.send("audit", fakeEvent(1, "capability.checked", {}));
          stream.send("audit", fakeEvent(2, "approval.resolved", { answer: { a: 1 }, reason: { b: 2 } }));
          stream.send("audit", fakeEvent(3, "tool.hummed", {}));
          stream.send("result", fakeResult("odd", { proof: { decision: "allow" } }));
          stream.end();
        },
      });
      const visitor = await visitApart(site.origin);
      const { page } = visitor;
      await connectTo(page, edge.origin);
      await run(page);
      await untilEvent(page, "tool.hummed");
      expect(await callOf(page).getByText("This page does not know the form of this event.").count()).toBe(3);
      await callOf(page).getByRole("tab", { name: "Proof" }).click();
      await callOf(page).getByText("This page does not know the form of the proof").waitFor();
      await visitor.leave();
      await edge.close();
    });

    it("keeps the list of tools and the other tools when one tool cannot be shown", async () => {
      const input = { type: "object", properties: { a: { $ref: "#/%zz" } } };
      const edge = await fakeEdge({ tools: [fakeTool("odd", { input }), fakeTool("plain")], onCall: () => {} });
      const visitor = await visitApart(site.origin);
      const { page } = visitor;
      await connectTo(page, edge.origin);
      await page.getByText("The tool cannot be shown").waitFor();
      await choose(page, "plain");
      await page.getByRole("button", { name: "Run", exact: true }).waitFor();
      // The page reports what failed to the console, once for each part.
      visitor.complaints.length = 0;
      await visitor.leave();
      await edge.close();
    });

    it("says what to do when the whole page fails", async () => {
      const visitor = await visitApart(site.origin);
      const { page } = visitor;
      await page.addInitScript(() => {
        crypto.randomUUID = () => {
          throw new Error("no randomness");
        };
      });
      await page.reload();
      await page.getByRole("heading", { name: "The playground has stopped" }).waitFor();
      await page.getByText("no randomness").waitFor();
      await page.getByRole("button", { name: "Reload the page" }).waitFor();
      visitor.complaints.length = 0;
      await visitor.leave();
    });
  });

  describe("the page with a full storage", () => {
    it("keeps a change of the colours, and says that the change is not saved", async () => {
      const visitor = await visitApart(site.origin, { colorScheme: "light" });
      const { page } = visitor;
      await fillStorage(page);
      await page.getByRole("button", { name: /Change to light/ }).click();
      await page.getByRole("button", { name: /Change to dark/ }).click();
      await page.getByText("Not saved: the colours").waitFor();
      expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe("dark");
      await visitor.leave();
    });

    it("says that an applied policy is in force, and that it is not saved", async () => {
      const visitor = await visitApart(site.origin);
      const { page } = visitor;
      await fillStorage(page);
      await openPolicy(page);
      await page.getByRole("radio", { name: "Openings" }).click();
      await page.getByRole("radio", { name: "Strict" }).click();
      await page.getByText("In force, but not saved: a reload brings the last saved policy back").waitFor();
      await visitor.leave();
    });
  });

  describe("the page without storage", () => {
    it("starts, and says that a choice is not saved", async () => {
      const visitor = await visitApart(site.origin);
      const { page } = visitor;
      await page.addInitScript(() => {
        for (const name of ["localStorage", "sessionStorage"])
          Object.defineProperty(globalThis, name, {
            get() {
              throw new DOMException("refused", "SecurityError");
            },
          });
      });
      await page.reload();
      await page.getByText("Ready", { exact: true }).waitFor();
      await page.getByRole("button", { name: /Change to light/ }).click();
      await page.getByText("Not saved: the colours").waitFor();
      await visitor.leave();
    });
  });
}
