import type { CapabilityReply } from "@keyhole/kernel";
import { secretKeeper } from "@keyhole/kernel/secrets";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sized } from "../support/size.ts";

const token = "0123456789abcdef".repeat(2);
const stands = `keyhole-secret.${token}.key.`;

async function opened(value: string) {
  const secrets = secretKeeper({ get: () => value }).open({ token, refusal: () => undefined });
  expect(await secrets.reveal(stands, "example.com")).toEqual({ ok: true, value });
  return secrets;
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString();

/** Every way to write it that a server could choose for itself. */
const spellings: Readonly<Record<string, (value: string) => string>> = {
  plain: (value) => value,
  percent: encodeURIComponent,
  "every character percent": (value) =>
    Array.from(utf8(value), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
  form: (value) => new URLSearchParams({ x: value }).toString().slice(2),
  json: (value) => JSON.stringify(value).slice(1, -1),
  base64: (value) => Buffer.from(value).toString("base64"),
  "base64 behind one byte": (value) => Buffer.from(`:${value}`).toString("base64"),
  "base64 behind two bytes": (value) => Buffer.from(`u:${value}`).toString("base64"),
  base64url: (value) => Buffer.from(value).toString("base64url"),
  hex: (value) => Buffer.from(value).toString("hex"),
  HEX: (value) => Buffer.from(value).toString("hex").toUpperCase(),
};

const values = fc.oneof(
  fc.string({ minLength: 8, maxLength: 40 }),
  fc.string({ unit: "grapheme", minLength: 8, maxLength: 20 }),
  fc.constantFrom(
    "aaaaaaaa",
    "%41%41%41",
    "........",
    "$&$&$&$&",
    "\\\\\\\\\\\\\\\\",
    "a+b/c=d&e",
    "((((((((",
    "-----BEGIN\nKEY",
  ),
);

describe("a value in a server's answer", () => {
  it("is gone in every spelling, wherever the answer was cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        values,
        fc.constantFrom(...Object.keys(spellings)),
        fc.array(fc.nat(300), { maxLength: 6 }),
        async (value, name, cuts) => {
          fc.pre(value.isWellFormed());
          const secrets = await opened(value);
          const spelled = spellings[name]!(value);
          const answer = utf8(`{"echo":"${spelled}","again":"${spelled}"}`);
          const redactor = secrets.redactor();
          const places = [
            0,
            ...cuts.map((cut) => Math.min(cut, answer.length)).toSorted((a, b) => a - b),
            answer.length,
          ];
          const pieces = places.slice(1).map((to, at) => redactor.push(answer.subarray(places[at], to)));
          const streamed = textOf([...pieces, redactor.end()]);
          const whole = secrets.redact(Buffer.from(answer).toString("latin1"));
          // What is left of it are the ends that base64 shares with its neighbours.
          const core = name.startsWith("base64") ? spelled.slice(3, -4) : spelled;
          for (const text of [streamed, whole]) {
            expect(text).toContain(stands);
            if (!stands.includes(core)) expect(text).not.toContain(core);
          }
        },
      ),
      { numRuns: sized(125, 1_000) },
    );
  });

  it("leaves everything else byte by byte", async () => {
    const secrets = await opened("not-in-there-at-all");
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), fc.nat(2_000), async (bytes, cut) => {
        const redactor = secrets.redactor();
        const streamed = Buffer.concat([
          redactor.push(bytes.subarray(0, cut)),
          redactor.push(bytes.subarray(cut)),
          redactor.end(),
        ]);
        expect(streamed.equals(bytes)).toBe(true);
      }),
    );
  });

  it("that comes byte by byte is gone, and nothing is held back for longer than it could be one", async () => {
    const value = "s3cr3t-value";
    const secrets = await opened(value);
    const redactor = secrets.redactor();
    const answer = utf8(`${"-".repeat(1_000)}${encodeURIComponent(value)}${"-".repeat(1_000)}`);
    const pieces = Array.from(answer, (byte) => redactor.push(Uint8Array.of(byte)));
    const before = textOf(pieces).length;
    expect(answer.length - before).toBeLessThanOrEqual(10 * value.length + 64);
    const text = textOf([...pieces, redactor.end()]);
    expect(text).toBe(`${"-".repeat(1_000)}${stands}${"-".repeat(1_000)}`);
  });

  it("is found in time that grows with the answer, not with its square", async () => {
    for (const value of ["a".repeat(64), "%25".repeat(40), "\\".repeat(64), "aab".repeat(200)]) {
      const secrets = await opened(value);
      const answer = utf8(value.slice(0, -1).repeat(Math.ceil(500_000 / value.length)));
      const redactor = secrets.redactor();
      for (let at = 0; at < answer.length; at += 65_536) redactor.push(answer.subarray(at, at + 65_536));
      redactor.end();
    }
  });

  it("that is part of another value does not leave the rest of it", async () => {
    const inner = "0123456789";
    const outer = `${inner}-and-more`;
    const secrets = secretKeeper({ get: (name) => (name === "inner" ? inner : outer) }).open({
      token,
      refusal: () => undefined,
    });
    await secrets.reveal(`keyhole-secret.${token}.inner. keyhole-secret.${token}.outer.`, "example.com");
    expect(secrets.redact(`x${outer}x`)).toBe(`xkeyhole-secret.${token}.outer.x`);
  });
});

describe("a placeholder", () => {
  const open = (value: unknown) =>
    secretKeeper({ get: () => value as string }).open({ token, refusal: () => undefined });

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
    const secrets = secretKeeper({
      get: (name) => {
        asked.push(name);
        return "12345678";
      },
    }).open({
      token,
      refusal: (name) => (name === "b" ? { code: "CAPABILITY_DENIED", message: "", hint: "" } : undefined),
    });
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
  const open = (mark = token) => keeper.open({ token: mark, refusal: () => undefined });

  it.each(["utf-16le", "utf-16be"])("in %s is removed", async (encoding) => {
    const secrets = open();
    await secrets.reveal(stands, "a.example");
    const body = Buffer.from(`key=${value}`, "utf16le");
    if (encoding === "utf-16be") body.swap16();
    const reply = secrets.clean({ ok: true, value: null, body: new Uint8Array(body) });
    const shown = Buffer.from((reply as { body: Uint8Array }).body)
      .toString("latin1")
      .replaceAll("\0", "");
    expect(shown).not.toContain(value);
  });

  it("is removed from the answer to a later call", async () => {
    await open().reveal(stands, "a.example");
    const reply = open("cd".repeat(16)).clean({ ok: true, value: `it was ${value}` });
    expect(JSON.stringify(reply)).not.toContain(value);
  });

  it("is removed from the answer to another running call", async () => {
    const other = open("cd".repeat(16));
    await open().reveal(stands, "a.example");
    expect(other.redact(value)).not.toContain(value);
  });

  it("is removed from the message of a failed fetch before the message is cut", async () => {
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
      const url = `https://a.example/${"a".repeat(length)}?k=${stands}`;
      const reply: CapabilityReply = await broker.serve(
        { kind: "net.read", operation: "fetch", arguments: { url } },
        session,
      );
      expect(JSON.stringify(secrets.clean(reply))).not.toContain(value.slice(0, 10));
    }
  });
});
