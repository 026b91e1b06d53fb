import type { BrokerReply } from "@keyhole/kernel";
import { secretKeeper } from "@keyhole/kernel/secrets";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { describe, expect, it } from "vitest";
import { openSession } from "../brokers/session.ts";
import { anyCall, openSecrets, stands, valueOf } from "../support/open-secrets.ts";
import { streamed } from "../support/secret-encodings.ts";

const { token } = anyCall;

async function opened(value: string) {
  const secrets = openSecrets({ get: () => value });
  expect(await secrets.reveal(stands, "example.com")).toEqual({ ok: true, value });
  return secrets;
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("a value in a server's answer", () => {
  it("that comes byte by byte is gone, and nothing is held back for longer than it could be one", async () => {
    const value = "s3cr3t-value";
    const redactor = await valueOf((await opened(value)).redactor());
    const answer = utf8(`${"-".repeat(1_000)}${encodeURIComponent(value)}${"-".repeat(2_000)}`);
    const pieces = Array.from(answer, (byte) => redactor.push(Uint8Array.of(byte)));
    const before = Buffer.concat(pieces).length;
    expect(answer.length - before).toBeLessThanOrEqual(100 * value.length);
    const text = Buffer.concat([...pieces, redactor.end()]).toString();
    expect(text).toBe(`${"-".repeat(1_000)}${stands}${"-".repeat(2_000)}`);
  });

  it("is found in time that grows with the answer, not with its square", async () => {
    for (const value of ["a".repeat(64), "%25".repeat(40), "\\".repeat(64), "aab".repeat(200)]) {
      const redactor = await valueOf((await opened(value)).redactor());
      const answer = utf8(value.slice(0, -1).repeat(Math.ceil(150_000 / value.length)));
      for (let at = 0; at < answer.length; at += 65_536) redactor.push(answer.subarray(at, at + 65_536));
      redactor.end();
    }
  });

  it("that is part of another value does not leave the rest of it", async () => {
    const inner = "0123456789";
    const outer = `${inner}-and-more`;
    const secrets = openSecrets({ get: (name) => (name === "inner" ? inner : outer) });
    await secrets.reveal(`keyhole-secret.${token}.inner. keyhole-secret.${token}.outer.`, "example.com");
    expect(await valueOf(secrets.redact(`x${outer}x`))).toBe(`xkeyhole-secret.${token}.outer.x`);
  });
});

describe("a placeholder", () => {
  const open = (value: unknown) => openSecrets({ get: () => value as string });

  it.each([
    undefined,
    null,
    12_345_678,
    "",
    "1234567",
    "x".repeat(4_097),
    "ends in \ud800 alone",
    { toString: () => "12345678" },
  ])("for the value %j is not filled", async (value) => {
    expect(await open(value).reveal(stands, "example.com")).toMatchObject({
      ok: false,
      error: { code: "NOT_FOUND" },
    });
  });

  it("is filled as it is: no pattern of a replacement, no placeholder in a value", async () => {
    for (const value of ["$1$&$`$'$$", `keyhole-secret.${token}.other.`])
      expect(await open(value).reveal(`<${stands}>`, "example.com")).toEqual({ ok: true, value: `<${value}>` });
  });

  it.each([
    "keyhole-secret.",
    `keyhole-secret.${token}`,
    `keyhole-secret.${token}.`,
    `keyhole-secret.${token}..`,
    `KEYHOLE-SECRET.${token}.key.`,
    `keyhole-secret.${token.toUpperCase()}.key.`,
    `keyhole-secret.${token}.${"k".repeat(65)}.`,
    `keyhole-secret.${token}.ké.`,
    `keyhole-secret.${token}.k\u0000.`,
  ])("%j is none, and stays as it is", async (text) => {
    expect(await open("12345678").reveal(text, "example.com")).toEqual({ ok: true, value: text });
  });

  it("asks the store for nothing when one of several may not go to the host", async () => {
    const asked: string[] = [];
    const secrets = openSecrets(
      { get: (name) => (asked.push(name), "12345678") },
      { refusal: (name) => (name === "b" ? { code: "CAPABILITY_DENIED", message: "", hint: "" } : undefined) },
    );
    const text = `keyhole-secret.${token}.a. keyhole-secret.${token}.b.`;
    expect(await secrets.reveal(text, "example.com")).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED" },
    });
    expect(asked).toEqual([]);
  });
});

describe("a secret in the answer of a server", () => {
  const value = "canary-7f3a-9c1e";
  const keeper = secretKeeper({ get: () => value });
  const open = (mark = token) => keeper.open({ ...anyCall, token: mark });

  it("is removed wherever the search of a large body is cut", async () => {
    const secrets = await opened(value);
    for (let before = 65_536 - 100 * value.length - 3; before < 65_536 + 3; before += 97) {
      const body = Buffer.concat([Buffer.alloc(before, "-"), Buffer.from(value), Buffer.alloc(70_000, "-")]);
      const reply = await secrets.clean({ ok: true, value: null, body });
      expect(reply.ok && Buffer.from(reply.body!).includes(value)).toBe(false);
      expect(reply.ok && reply.body).toHaveLength(body.length - value.length + stands.length);
    }
  });

  it("is removed where it ends a stream, and where the stream has nothing else", async () => {
    const redactor = await valueOf((await opened(value)).redactor());
    expect(streamed(redactor, utf8(value), [1, 5]).toString()).toBe(stands);
  });

  it("is removed from a number", async () => {
    const secrets = await opened("8123456790");
    expect(await secrets.clean({ ok: true, value: { rows: [8123456790, 8123456791] } })).toEqual({
      ok: true,
      value: { rows: [stands, 8123456791] },
    });
  });

  it("is removed from the answer to a later call", async () => {
    await open().reveal(stands, "a.example");
    const reply = await open("cd".repeat(16)).clean({ ok: true, value: `it was ${value}` });
    expect(JSON.stringify(reply)).not.toContain(value);
  });

  it("is removed from the answer to another running call", async () => {
    const other = open("cd".repeat(16));
    await open().reveal(stands, "a.example");
    expect(await valueOf(other.redact(value))).not.toContain(value);
  });

  it("is removed from the message of a failed fetch before the message is cut", async () => {
    for (let length = 100; length < 200; length++) {
      const secrets = open();
      const broker = netBroker({
        fetch: async (url) => {
          throw new Error(`cannot fetch ${url}`);
        },
      });
      const session = { ...openSession({ secrets }), refusal: () => undefined };
      const url = `https://a.example/${"a".repeat(length)}?k=${stands}`;
      const reply: BrokerReply = await broker.serve(
        { kind: "net.read", operation: "fetch", arguments: { url } },
        session,
      );
      expect(JSON.stringify(await secrets.clean(reply))).not.toContain(value.slice(0, 10));
    }
  });
});
