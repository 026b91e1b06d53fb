import type { ApprovalRequest } from "@keyhole/kernel";
import { type ApprovalPages, approvalPages, type ApprovalPagesOptions } from "@keyhole/mcp";
import { describe, expect, it } from "vitest";
import { bob, demanding } from "../policy/passkeys.ts";
import { open } from "../policy/paying.ts";
import { clientDataOf, origin, rpId } from "../support/authenticator.ts";

/** A call that waits at pages for a passkey of bob's. */
async function asked(options: Partial<ApprovalPagesOptions> = { passkeys: { rpId } }) {
  const told = Promise.withResolvers<{ request: ApprovalRequest; page: string }>();
  const notify = (request: ApprovalRequest, page: string): void => told.resolve({ request, page });
  const pages = approvalPages({ origin, keys: [], notify, ...options });
  const bench = await open(pages.approver, demanding(bob));
  const result = bench.call({ amount: 5 });
  return { ...bench, ...(await told.promise), pages, result };
}

const send = (pages: ApprovalPages, page: string, fields: Readonly<Record<string, string>>) =>
  pages.fetch(new Request(page, { method: "POST", headers: { origin }, body: new URLSearchParams(fields) }));

describe("the page of a question that needs a passkey", () => {
  it("runs one script, by its digest, and nothing else", async () => {
    const { pages, page, result } = await asked();
    const { headers } = await pages.fetch(new Request(page));
    const rules = headers.get("content-security-policy")?.split("; ") ?? [];
    expect(rules).toContain("default-src 'none'");
    expect(rules).toContain("frame-ancestors 'none'");
    const scripts = rules.filter((rule) => rule.startsWith("script-src"));
    expect(scripts).toEqual([expect.stringMatching(/^script-src 'sha256-[A-Za-z0-9+/]{43}='$/)]);
    await send(pages, page, { answer: "deny" });
    await result;
  });

  it("takes a yes that the passkey signed, in the name of its owner", async () => {
    const { pages, page, request, result, runs } = await asked();
    const assertion = await bob.sign({ clientData: await clientDataOf(request) });
    const { status } = await send(pages, page, { answer: "allow", passkey: JSON.stringify(assertion) });
    expect([status, (await result).proof?.approval?.approver, runs()]).toEqual([200, "bob", 1]);
    expect((await send(pages, page, { answer: "allow", passkey: JSON.stringify(assertion) })).status).toBe(404);
  });

  it.each<[string, string]>([
    ["no assertion", ""],
    ["what is no JSON", "{"],
    ["a list", "[]"],
    [
      "an assertion without a signature",
      JSON.stringify({ credentialId: "a", authenticatorData: "b", clientDataJSON: "c" }),
    ],
    [
      "members that are no texts",
      JSON.stringify({ credentialId: {}, authenticatorData: 1, clientDataJSON: [], signature: true }),
    ],
  ])("leaves the question open for a yes with %s", async (_, passkey) => {
    const { pages, page, result, runs } = await asked();
    expect((await send(pages, page, { answer: "allow", passkey, key: "x" })).status).toBe(400);
    expect((await send(pages, page, { answer: "deny" })).status).toBe(200);
    expect([(await result).ok, runs()]).toEqual([false, 0]);
  });

  it("says no without a passkey, and on a passkey that the policy does not name", async () => {
    for (const fields of [{ answer: "deny" }, { answer: "allow", passkey: JSON.stringify(unknown) }]) {
      const { pages, page, result } = await asked();
      expect((await send(pages, page, fields)).status).toBe(200);
      expect(await result).toMatchObject({ ok: false, error: { code: "APPROVAL_DENIED" } });
    }
  });

  it("is not shown by pages that take none, and no key of it counts", async () => {
    const { pages, page, result, runs } = await asked({ keys: [{ approver: "bob", digest: "blake3:0" }] });
    expect((await pages.fetch(new Request(page))).status).toBe(409);
    expect((await pages.fetch(new Request(`${origin}/approvals/passkey`))).status).toBe(404);
    await send(pages, page, { answer: "deny" });
    expect([(await result).ok, runs()]).toEqual([false, 0]);
  });
});

const unknown = {
  credentialId: "AAAAAAAAAAAAAAAAAAAAAA",
  authenticatorData: "AA",
  clientDataJSON: "AA",
  signature: "AA",
};

describe("pages that take passkeys", () => {
  it.each<[string, string, boolean]>([
    ["https://approvals.example.com", "approvals.example.com", true],
    ["https://approvals.example.com", "example.com", true],
    ["http://localhost:4321", "localhost", true],
    ["https://approvals.example.com", "approvals.example.com.evil.example", false],
    ["https://evilexample.com", "example.com", false],
    ["http://127.0.0.1:4321", "127.0.0.1", false],
    ["http://[::1]:4321", "[::1]", false],
  ])("at %s for %s is possible: %s", (at, domain, isPossible) => {
    const make = (): unknown => approvalPages({ origin: at, keys: [], passkeys: { rpId: domain } });
    if (isPossible) expect(make()).toBeDefined();
    else expect(make).toThrow(TypeError);
  });
});
