import { hashBytes } from "@keyhole/kernel";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestEdge, type TestEdge } from "./edge/service.ts";
import { lyingEdge } from "./playground/lying-edge.ts";
import { serve, servePage, type Site } from "./playground/site.ts";
import { giveFile, picture, save } from "./playground/files.ts";
import {
  agreeToEdge,
  callOf,
  choose,
  echo,
  endOf,
  eventsOf,
  field,
  hashOf,
  openPolicy,
  resultOf,
  run,
  untilEvent,
  type Visitor,
  Visits,
} from "./playground/visitor.ts";
import { thorough } from "../support/size.ts";

let site: Site;
let web: Site;
let edge: TestEdge;
let visits: Visits;
let visitor: Visitor;

beforeAll(async () => {
  web = await serve((_, answer) => answer.writeHead(200, { "content-type": "text/plain" }).end("a page of the web"));
  [site, visits] = await Promise.all([servePage(), Visits.open()]);
  const [hosts, ports] = [[new URL(web.origin).hostname], [Number(new URL(web.origin).port)]];
  edge = await startTestEdge(
    {
      version: "1",
      posture: "standard",
      grants: [{ tool: "http_fetch", capability: { kind: "net.read", hosts, ports } }],
      rules: [
        {
          id: "count",
          effect: "ask",
          when: { tool: ["drink"], arguments: [{ at: "/deed", equals: "count" }] },
          reason: "Counting is asked about.",
        },
      ],
    },
    [site.origin],
  );
});

afterAll(async () => {
  await Promise.all([visits?.close(), edge?.stop()]);
  await Promise.all([site?.close(), web.close()]);
});

beforeEach(async () => {
  const settings = new URLSearchParams({ edge: edge.edge.url, token: "e2e-token" });
  visitor = await visits.again(`${site.origin}/#${settings}`);
  // A page that a test left has agreed already.
  if (await visitor.page.getByRole("button", { name: "Use this edge" }).isVisible()) await agreeToEdge(visitor.page);
  await visitor.page.getByRole("radio", { name: "Edge" }).click();
  await visitor.page.getByRole("option", { name: /^asking/ }).waitFor();
  await visitor.page.getByText("Ready", { exact: true }).waitFor();
});

afterEach(() => visitor.leave());

describe("the page at an edge", () => {
  it("takes address and token out of the address bar", async () => {
    expect(visitor.page.url()).toBe(`${site.origin}/`);
  });

  it("shows result, proof and events, with the hash that the browser gives", async () => {
    const { page } = visitor;
    const hashes: string[] = [];
    for (const place of ["Edge", "Browser"]) {
      await page.getByRole("radio", { name: place }).click();
      await page.getByText("Ready", { exact: true }).waitFor();
      expect(await echo(page, "the same everywhere")).toBe("Completed");
      expect(await eventsOf(page)).toEqual([
        "call.invoked",
        "capability.checked",
        "policy.decided",
        "tool.started",
        "tool.completed",
      ]);
      hashes.push(await hashOf(page));
      const badge = callOf(page).getByText("Intact, but unvouched", { exact: true });
      expect(await badge.count()).toBe(place === "Edge" ? 1 : 0);
      await callOf(page).getByRole("tab", { name: "Proof" }).click();
      await callOf(page).getByRole("button", { name: "Verify in this page" }).click();
      await callOf(page).getByText("unvouched: the hash matches, and the log has the same proof.").waitFor();
    }
    expect(hashes[0]).toMatch(/^blake3:[0-9a-f]{64}$/);
    expect(hashes[1]).toBe(hashes[0]);
  });

  if (thorough) {
    it("fetches what the edge's policy grants, without CORS in the way, and nothing else", async () => {
      const { page } = visitor;
      await choose(page, "http_fetch");
      await field(page, "url").fill(`${web.origin}/page`);
      await run(page);
      expect(await endOf(page)).toBe("Completed");
      expect(await eventsOf(page)).toContain("capability.used");

      await field(page, "url").fill("https://example.com/");
      await run(page);
      expect(await endOf(page)).toBe("Refused");
      await callOf(page)
        .getByText(/example\.com/)
        .first()
        .waitFor();
      expect((await eventsOf(page)).at(-1)).toBe("tool.blocked");
    });
  }

  it("asks the person at the page, and takes both answers", async () => {
    const { page } = visitor;
    await choose(page, "asking");
    await field(page, "amount").fill("42");
    await run(page);
    const dialog = page.getByRole("alertdialog");
    await dialog.getByRole("region", { name: "Exact arguments" }).getByText("42").waitFor();
    await dialog.getByRole("button", { name: "Allow once" }).click();
    expect(await endOf(page)).toBe("Completed");
    expect(await resultOf(page)).toBe("42");

    await run(page);
    await dialog.getByRole("textbox", { name: /^Reason for denying/ }).fill("too much");
    await dialog.getByRole("button", { name: "Deny" }).click();
    expect(await endOf(page)).toBe("Refused");
    await callOf(page).getByText("too much").first().waitFor();
  });

  it("lists what waits for all callers, and answers it", async () => {
    const { page } = visitor;
    const asked = edge.send("/v1/tools/asking/calls", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input: { amount: 7_003 } }),
    });
    await page.getByRole("link", { name: "Decide" }).click();
    const screen = page.getByRole("main", { name: "Decide" });
    await screen.getByRole("region", { name: "Exact arguments" }).getByText("7003").waitFor();
    await screen.getByRole("button", { name: "Allow once" }).click();
    expect((await asked).status).toBe(200);
    await screen.getByText("Nothing waits").waitFor();
    await page.getByRole("link", { name: "Call", exact: true }).click();
  });

  if (thorough) {
    it("stops a tool that spins, and the next call works", async () => {
      const { page } = visitor;
      await choose(page, "deed");
      await chooseDeed("spin");
      await run(page);
      await untilEvent(page, "tool.started");
      await page.getByRole("button", { name: "Cancel" }).click();
      expect(await endOf(page)).toBe("Cancelled");

      expect(await echo(page, "still here")).toBe("Completed");
    });

    it("learns from the log how a cancelled call ended", async () => {
      const { page } = visitor;
      await choose(page, "deed");
      await chooseDeed("hang");
      await run(page);
      await untilEvent(page, "tool.started");
      await page.getByRole("button", { name: "Cancel" }).click();
      expect(await endOf(page)).toBe("Cancelled");
      expect((await eventsOf(page)).at(-1)).toBe("tool.failed");
    });

    it("shows the edge's policy, and does not offer to change it", async () => {
      const { page } = visitor;
      visits.spend();
      await openPolicy(page);
      await page.getByText("This policy can only be read here").waitFor();
      await page.getByRole("region", { name: "Policy" }).getByText('"standard"').waitFor();
      expect(await page.getByRole("button", { name: /^Apply/ }).count()).toBe(0);
    });
  }

  async function chooseDeed(name: string): Promise<void> {
    await visitor.page.getByRole("combobox", { name: /^deed/ }).selectOption(name);
  }
});

describe("a tool at an edge that gives a stream", () => {
  /** Runs `pour` for so many pieces of 100,000 bytes. */
  async function pour(deed: string, pieces: number): Promise<void> {
    const { page } = visitor;
    await choose(page, "pour");
    await field(page, "deed").fill(deed);
    await field(page, "pieces").fill(String(pieces));
    await field(page, "length").fill("100000");
    await run(page);
  }

  /** Runs `drink` on a file. */
  async function drink(deed: string): Promise<void> {
    const { page } = visitor;
    await choose(page, "drink");
    await field(page, "deed").fill(deed);
    await giveFile(page);
    await run(page);
  }

  it("gives a file to save, and shows what happens meanwhile", async () => {
    const { page } = visitor;
    await pour("report and pour", 40);
    expect(await endOf(page)).toBe("Completed");
    const expected = Buffer.concat(Array.from({ length: 40 }, (_, i) => Buffer.alloc(100_000, i)));
    await callOf(page).getByText("A stream of 3.8 MiB, application/octet-stream").waitFor();
    expect(await hashOf(page)).toBe(hashBytes(expected));
    expect((await save(page, "pour.bin")).equals(expected)).toBe(true);
    expect((await eventsOf(page)).at(-1)).toBe("tool.completed");
    await callOf(page).getByRole("tab", { name: "Logs 40" }).waitFor();
  });

  if (thorough) {
    it("shows how much has come", async () => {
      const { page } = visitor;
      visits.spend();
      await pour("pour and hang", 3);
      await callOf(page).getByText("293.0 KiB received").waitFor();
    });

    it("takes a file and gives one at the same time", async () => {
      const { page } = visitor;
      await drink("echo");
      expect(await endOf(page)).toBe("Completed");
      expect((await save(page, "drink.bin")).equals(picture)).toBe(true);
    });
  }

  it("is not kept where its bytes are not those that the result names", async () => {
    const { page } = visitor;
    visits.spend();
    const { tools } = (await (await edge.send("/v1/tools")).json()) as { readonly tools: readonly object[] };
    const liar = await lyingEdge(tools);
    try {
      await page.getByRole("button", { name: "Edge settings" }).click();
      await page.getByLabel("Address").fill(liar.origin);
      await page.getByRole("button", { name: "Connect" }).click();
      await page.getByText("Ready", { exact: true }).waitFor();
      await choose(page, "pour");
      await field(page, "deed").fill("pour");
      await run(page);
      expect(await endOf(page)).toBe("No answer");
      await callOf(page).getByText("The edge sent other bytes than its result names.").waitFor();
      expect(await callOf(page).getByRole("button", { name: /^Save/ }).count()).toBe(0);
    } finally {
      await liar.close();
    }
  });

  if (thorough) {
    it("asks before it takes a file, which the browser has sent by then", async () => {
      const { page } = visitor;
      await drink("count");
      const dialog = page.getByRole("alertdialog");
      await dialog.getByText("Bytes come with this call that cannot be shown here.").waitFor();
      await dialog.getByRole("button", { name: "Allow once" }).click();
      expect(await endOf(page)).toBe("Completed");
      expect((await save(page, "drink.bin")).toString()).toBe("3000000");
    });
  }
});

if (thorough) {
  describe("the page without its edge", () => {
    it("says that the token is not accepted, and takes another", async () => {
      const { page, complaints } = visitor;
      visits.spend();
      await page.getByRole("button", { name: "Edge settings" }).click();
      await page.getByLabel("Token").fill("wrong");
      await page.getByRole("button", { name: "Connect" }).click();
      await page.getByText("The edge does not accept this token.").waitFor();
      await page.getByRole("button", { name: "Enter address and token" }).click();
      await page.getByLabel("Token").fill("e2e-token");
      await page.getByRole("button", { name: "Connect" }).click();
      await page.getByText("Ready", { exact: true }).waitFor();
      // The browser itself notes a refused request.
      expect(complaints.splice(0).every((text) => text.includes("401"))).toBe(true);
    });
  });
}
