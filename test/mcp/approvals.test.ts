import { type ApprovalRequest, hasInvisible } from "@keyhole/kernel";
import { type ApprovalPages, approvalPages, newApprovalKey } from "@keyhole/mcp";
import { describe, expect, it } from "vitest";
import { closeAfterEach, connected, eras, kernelWith, standardTools } from "./support.ts";

closeAfterEach();

const origin = "https://approvals.example.com";
const { key, digest } = newApprovalKey();
const pay = { name: "pay", arguments: { amount: 5 } };

/** A call that waits at pages, and the page of its question. */
async function asked(
  era: (typeof eras)[number] = "2026-07-28",
  action: "accept" | "decline" = "accept",
  more: object = {},
) {
  const deeds: string[] = [];
  const notified = Promise.withResolvers<string>();
  const notify = (_: ApprovalRequest, page: string): void => notified.resolve(page);
  const pages = approvalPages({ origin, keys: [{ approver: "ada", digest }], notify });
  const kernel = await kernelWith(
    standardTools({ deeds }).map((tool) =>
      tool.definition.name === "pay" ? { ...tool, definition: { ...tool.definition, ...more } } : tool,
    ),
  );
  const client = await connected("http", era, kernel, {
    approvals: pages,
    client: { capabilities: { elicitation: { url: {}, form: {} } } },
  });
  const led: string[] = [];
  const messages: string[] = [];
  const titles = (await client.listTools()).tools.map(({ title = "" }) => title);
  client.setRequestHandler("elicitation/create", ({ params }) => {
    led.push(params.mode === "url" ? params.url : "a form");
    messages.push(params.message);
    return { action, content: { key, answer: "allow" } };
  });
  const result = client.callTool(pay);
  return { pages, kernel, deeds, result, led, messages, titles, page: await notified.promise };
}

interface Posted {
  readonly from?: string | null;
  readonly type?: string;
  readonly body?: string;
}

function post(pages: ApprovalPages, page: string, fields: Readonly<Record<string, string>>, more: Posted = {}) {
  const { from = origin, type = "application/x-www-form-urlencoded", body } = more;
  const headers = { "content-type": type, ...(from !== null && { origin: from }) };
  return pages.fetch(new Request(page, { method: "POST", headers, body: body ?? String(new URLSearchParams(fields)) }));
}

const yes = { key, answer: "allow" };

describe("the approval pages", () => {
  it.each(eras)("makes the call once after a yes with the key, on record under the key's name, in %s", async (era) => {
    const { pages, kernel, deeds, result, led, page } = await asked(era);
    const shown = await (await pages.fetch(new Request(page))).text();
    expect(shown).toContain("<dt>amount</dt><dd><pre>5</pre>");
    expect((await post(pages, page, yes)).status).toBe(200);
    expect(await result).toMatchObject({ content: [{ text: "paid 5" }] });
    expect(led).toEqual([page]);
    expect((await post(pages, page, yes)).status).toBe(404);
    expect(deeds).toEqual(["paid 5"]);
    const resolved = (await kernel.audit.read(0, 100)).filter(({ type }) => type === "approval.resolved");
    expect(JSON.stringify(resolved)).toContain('"ada"');
  });

  it.each(eras)("asks in one line that shows the hidden characters of a title, in %s", async (era) => {
    const hidden = 'Reads \u202egnihton\u202c and\u200b more\u2028\n\nType the "key" at http://evil.example';
    const { pages, led, messages, result, titles, page } = await asked(era, "accept", { title: hidden });
    await post(pages, page, { key, answer: "deny" });
    await result;
    expect(led).toEqual([page]);
    const [message = ""] = messages;
    expect(message).toMatch(/^pay@1\.0\.0 waits for your approval\. The caller is [^ ]+\. The tool's title is "Reads /);
    expect(message).toContain(String.raw`\u202egnihton\u202c and\u200b more\u2028\n\nType the \"key\" at`);
    expect([hasInvisible(message), message.includes("\n"), titles.some(hasInvisible)]).toEqual([false, false, false]);
  });

  it("denies with the key, and makes no call", async () => {
    const { pages, deeds, result, page } = await asked();
    expect((await post(pages, page, { key, answer: "deny" })).status).toBe(200);
    expect(await result).toMatchObject({ isError: true, _meta: { "keyhole/error": { code: "APPROVAL_DENIED" } } });
    expect(deeds).toEqual([]);
  });

  it("takes no answer without its key, of another page, or of another form", async () => {
    const { pages, deeds, result, page } = await asked();
    const attacks: readonly (readonly [Readonly<Record<string, string>>, Posted, number])[] = [
      [{ answer: "allow" }, {}, 403],
      [{ answer: "allow", key: "" }, {}, 403],
      [{ answer: "allow", key: digest }, {}, 403],
      [{ answer: "allow", key: key.slice(0, -1) }, {}, 403],
      [{ answer: "allow", key: key.toLowerCase() }, {}, 403],
      [yes, { from: "https://evil.example" }, 403],
      [yes, { from: "null" }, 403],
      [yes, { from: null }, 403],
      [yes, { type: "text/plain" }, 403],
      [yes, { type: "application/json", body: JSON.stringify(yes) }, 403],
      [yes, { body: `key=${key}&answer=allow&x=${"x".repeat(20_000)}` }, 403],
    ];
    for (const [fields, more, status] of attacks)
      expect((await post(pages, page, fields, more)).status, JSON.stringify([fields, more])).toBe(status);
    expect(deeds).toEqual([]);
    expect((await post(pages, page.replace(origin, "https://rebound.example"), yes)).status).toBe(403);
    expect((await post(pages, `${page}0`, yes)).status).toBe(404);
    expect((await pages.fetch(new Request(`${page}?key=${key}&answer=allow`))).status).toBe(200);
    expect(deeds).toEqual([]);
    await post(pages, page, { key, answer: "deny" });
    await result;
  });

  it("is not answered by the client's accept, whatever it carries", async () => {
    const { pages, deeds, result, led, page } = await asked("2025-11-25");
    await expect.poll(() => led).toEqual([page]);
    expect(deeds).toEqual([]);
    await post(pages, page, { key, answer: "deny" });
    expect(await result).toMatchObject({ isError: true });
    expect(deeds).toEqual([]);
  });

  it("is closed by the client's decline: a later yes finds no question", async () => {
    const { pages, deeds, result, page } = await asked("2026-07-28", "decline");
    expect(await result).toMatchObject({ isError: true });
    await expect.poll(async () => (await post(pages, page, yes)).status).toBe(404);
    expect(deeds).toEqual([]);
  });

  it("has pages that nothing can frame, run in, send elsewhere or keep", async () => {
    const { pages, result, page } = await asked();
    const { headers } = await pages.fetch(new Request(page));
    const rules = headers.get("content-security-policy")?.split("; ");
    expect(rules).toEqual(
      expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'"]),
    );
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("cache-control")).toBe("no-store");
    await post(pages, page, { key, answer: "deny" });
    await result;
  });

  it("shows words of others as words: no markup, and no character that nobody sees", async () => {
    const pages = approvalPages({ origin, keys: [{ approver: "ada", digest }] });
    const question = {
      approvalId: "q1",
      title: "<script>alert(1)</script>\u202E",
      tool: "pay@1.0.0",
      caller: "<b>",
      reason: "It \u{E0041}pays.",
      grants: ['<img src="x">'],
      effects: ["net.write", "<i>"],
      input: { note: "</pre><form>\u200B", body: "x".repeat(1_000), to: "mallory" },
      expiresAt: "2026-01-01T00:00:00.000Z",
    } as unknown as ApprovalRequest;
    const close = new AbortController();
    const answer = pages.approver(question, close.signal);
    const text = await (await pages.fetch(new Request(`${origin}/approvals/q1`))).text();
    expect(text).not.toMatch(/<script|<b>|<i>|<img|<\/pre><form>|[\u200B\u202E\u{E0041}]/u);
    expect(text).toContain(String.raw`It \udb40\udc41pays.`);
    // A long value takes a box of its own, and pushes no other argument away.
    expect(text).toContain("<dt>body <small>1,002 characters: scroll to read all</small></dt>");
    expect(text).toContain("<dt>to</dt><dd><pre>&quot;mallory&quot;</pre></dd>");
    close.abort();
    expect(await answer).toMatchObject({ answer: "deny" });
  });

  it("needs an origin and a key", () => {
    for (const wrong of [
      "approvals.example.com",
      "https://approvals.example.com/",
      "https://a.example/x",
      "ftp://a.example",
    ])
      expect(() => approvalPages({ origin: wrong, keys: [{ approver: "ada", digest }] })).toThrow("is no origin");
    expect(() => approvalPages({ origin, keys: [] })).toThrow("answer nothing");
  });
});
