import type { CapabilityReply } from "@keyhole/kernel";
import { secretKeeper } from "@keyhole/kernel/secrets";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { describe, expect, it } from "vitest";

const value = "canary-7f3a-9c1e";
const stand = (token: string): string => `keyhole-secret.${token}.key.`;
const token = "ab".repeat(16);
const keeper = secretKeeper({ get: () => value });
const open = (mark = token) => keeper.open({ token: mark, refusal: () => undefined });

describe("a secret that a server gives back", () => {
  it.each(["utf-16le", "utf-16be"])("in %s is taken out", async (encoding) => {
    const secrets = open();
    await secrets.reveal(stand(token), "a.example");
    const body = Buffer.from(`key=${value}`, "utf16le");
    if (encoding === "utf-16be") body.swap16();
    const reply = secrets.clean({ ok: true, value: null, body: new Uint8Array(body) });
    const shown = Buffer.from((reply as { body: Uint8Array }).body)
      .toString("latin1")
      .replaceAll("\0", "");
    expect(shown).not.toContain(value);
  });

  it("to a later call is taken out", async () => {
    await open().reveal(stand(token), "a.example");
    const reply = open("cd".repeat(16)).clean({ ok: true, value: `it was ${value}` });
    expect(JSON.stringify(reply)).not.toContain(value);
  });

  it("to another call that is under way is taken out", async () => {
    const other = open("cd".repeat(16));
    await open().reveal(stand(token), "a.example");
    expect(other.redact(value)).not.toContain(value);
  });
});

it("a secret in the message of a fetch that failed is taken out before the message is cut", async () => {
  for (let length = 100; length < 200; length++) {
    const secrets = open();
    const broker = netBroker({
      fetch: async (url) => {
        throw new Error(`cannot fetch ${url}`);
      },
    });
    const session = {
      secrets,
      signal: new AbortController().signal,
      refusal: () => undefined,
      spend: () => undefined,
      limit: () => Infinity,
    };
    const url = `https://a.example/${"a".repeat(length)}?k=${stand(token)}`;
    const reply: CapabilityReply = await broker.serve(
      { kind: "net.read", operation: "fetch", arguments: { url } },
      session,
    );
    expect(JSON.stringify(secrets.clean(reply))).not.toContain(value.slice(0, 10));
  }
});
