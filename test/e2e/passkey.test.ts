import type { PolicyDocument } from "@keyhole/kernel";
import { verifyProof } from "@keyhole/kernel/policy";
import { type ApprovalServer, serveApprovals } from "@keyhole/mcp/node";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { open } from "../policy/paying.ts";
import { addFingerprintReader } from "./playground/fingerprint-reader.ts";
import { launch } from "./playground/visitor.ts";

let browser: Browser;
let desk: ApprovalServer;
const waiting: ((url: string) => void)[] = [];

/** The address of the next question. */
const nextQuestion = () => new Promise<string>((resolve) => waiting.push(resolve));

beforeAll(async () => {
  browser = await launch();
  const notify = (_: unknown, url: string): void => waiting.shift()?.(url);
  desk = await serveApprovals({ keys: [], passkeys: { rpId: "localhost" }, host: "localhost", notify });
});
afterAll(async () => {
  await desk.close();
  await browser.close();
});

/** A page whose device has a fingerprint reader, on which the finger lies, or does not. */
async function pageOf(finger: boolean): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await addFingerprintReader(page, finger);
  return page;
}

async function register(page: Page): Promise<PolicyDocument["passkeys"]> {
  await page.goto(`${desk.origin}/approvals/passkey`);
  await page.getByLabel("Your name as an approver").fill("bob");
  await page.getByRole("button", { name: "Make a passkey" }).click();
  const status = page.getByRole("status");
  await expect.poll(() => status.textContent(), { timeout: 60_000 }).toContain("publicKey");
  return JSON.parse((await status.textContent()) ?? "") as PolicyDocument["passkeys"];
}

const demanding = (passkeys: PolicyDocument["passkeys"]) => ({
  version: "1",
  posture: "standard",
  approver: "passkey",
  passkeys,
});

describe("a passkey at the approvals page", () => {
  it("is made, allows one call, and stands in a proof that verifies by the policy alone", async () => {
    const page = await pageOf(true);
    const policy = demanding(await register(page));
    const { call, runs, manifest, events } = await open(desk.approver, policy);
    const address = nextQuestion();
    const result = call({ amount: 5 });
    await page.goto(await address);
    await page.getByRole("button", { name: "Allow this call once, with a passkey" }).click();
    const { ok, proof } = await result;
    expect([ok, runs(), proof?.approval?.approver]).toEqual([true, 1, "bob"]);
    await expect.poll(() => page.getByRole("heading", { level: 1 }).textContent(), { timeout: 60_000 }).toBe("Sent");
    const evidence = { events: await events(), policy, tool: { manifest }, input: { amount: 5 } };
    const { steps } = await verifyProof(proof, evidence);
    expect(steps.find(({ name }) => name === "re-evaluation")).toMatchObject({ outcome: "passed" });
    await page.context().close();
  });

  it("gives nothing to an agent that clicks and sends all that it can", async () => {
    const owner = await pageOf(true);
    const policy = demanding(await register(owner));
    await owner.context().close();
    const { call, runs } = await open(desk.approver, policy);
    for (const attack of attacks) {
      const address = nextQuestion();
      const result = call({ amount: 5 });
      const agent = await pageOf(false);
      await agent.goto(await address);
      await attack(agent);
      expect(await result).toMatchObject({ ok: false, error: { code: "APPROVAL_DENIED" } });
      await agent.context().close();
    }
    expect(runs()).toBe(0);
  });
});

/** An assertion of a key that the agent has: all that is right about it is the question. */
const ownAssertion = async (page: Page): Promise<void> => {
  await page.evaluate(async () => {
    const form = document.querySelector("form")!;
    const text = (bytes: ArrayBuffer) =>
      btoa(String.fromCharCode(...new Uint8Array(bytes)))
        .replaceAll("+", "-")
        .replaceAll("/", "_")
        .replace(/=+$/, "");
    const data = {
      type: "webauthn.get",
      challenge: form.dataset["challenge"],
      origin: location.origin,
      crossOrigin: false,
    };
    const clientData = new TextEncoder().encode(JSON.stringify(data));
    const rpHash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(form.dataset["rp"]));
    const authenticator = new Uint8Array([...new Uint8Array(rpHash), 5, 0, 0, 0, 1]);
    const pair = await crypto.subtle.generateKey({ name: "Ed25519" }, true, ["sign"]);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", clientData));
    const signature = await crypto.subtle.sign("Ed25519", pair.privateKey, new Uint8Array([...authenticator, ...hash]));
    const assertion = {
      credentialId: form.dataset["ids"],
      authenticatorData: text(authenticator.buffer),
      clientDataJSON: text(clientData.buffer),
      signature: text(signature),
    };
    form.querySelector<HTMLInputElement>("[name=passkey]")!.value = JSON.stringify(assertion);
    form.requestSubmit(form.querySelector("[value=allow]"));
  });
};

const attacks: readonly ((page: Page) => Promise<void>)[] = [
  ownAssertion,
  // Every button, again and again: the browser asks a person who is not there, and the last button says no.
  async (page) => {
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByRole("button", { name: "Deny" }).click();
  },
  async (page) => {
    await page.evaluate(async () => {
      await fetch(location.href, { method: "POST", body: new URLSearchParams({ answer: "allow", key: "x" }) }).catch(
        () => undefined,
      );
      const passkey = JSON.stringify({
        credentialId: "A".repeat(22),
        authenticatorData: "AA",
        clientDataJSON: "AA",
        signature: "AA",
      });
      const form = document.querySelector("form")!;
      form.querySelector<HTMLInputElement>("[name=passkey]")!.value = passkey;
      form.requestSubmit(form.querySelector("[value=allow]"));
    });
  },
];
