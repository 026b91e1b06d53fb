import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mark, searching, valueOf } from "../support/open-secrets.ts";
import { encodings, escapes, rowsIn, streamed, unfound } from "../support/secret-encodings.ts";
import { sized } from "../support/size.ts";

/** Has what encodings treat differently: quotes, slashes, a percent sign, `=`, `_`, a space, letters beyond ASCII and beyond Latin-1, two lines. */
const values = ['c4n"ary/+%&é s3cret', "-----BEGIN KEY\nAbC_d-e=\\f<g>'€😀", "sk_live_4eC39HqLyjWDarjtT1zdp7dc"];

/** The answer as a stream that is cut at some places, as a body, and as a text. */
async function searched(value: string, answer: Uint8Array, cuts: readonly number[] = []): Promise<readonly Buffer[]> {
  const secrets = await searching(value);
  const reply = await secrets.clean({ ok: true, value: Buffer.from(answer).toString("latin1"), body: answer });
  if (!reply.ok) throw new Error(reply.error.message);
  return [
    streamed(await valueOf(secrets.redactor()), answer, cuts),
    Buffer.from(reply.body!),
    Buffer.from(String(reply.value), "latin1"),
  ];
}

describe("an answer of a server", () => {
  it.each(encodings)("loses a secret in $name", async ({ name, forms }) => {
    const all = values.flatMap((value) => forms(value).map((form) => ({ value, form: Buffer.from(form) })));
    expect(all.length, name).toBeGreaterThan(0);
    for (const { value, form } of all) {
      const answer = Buffer.concat([Buffer.from('{"echo":"'), form, Buffer.from('"}')]);
      for (const heard of await searched(value, answer, [answer.length >> 1])) {
        expect(rowsIn(heard, value), form.toString()).toEqual([]);
        expect(heard.toString(), form.toString()).toContain(mark);
      }
    }
  });

  it.each(unfound)("keeps a secret that is written $name", async ({ forms }) => {
    const [value = ""] = values;
    for (const form of forms(value))
      for (const heard of await searched(value, Buffer.from(form))) expect(heard).toEqual(Buffer.from(form));
  });
});

const secret = fc
  .oneof(
    fc.string({ minLength: 8, maxLength: 40 }),
    fc.string({ unit: "grapheme", minLength: 8, maxLength: 20 }),
    fc.string({ unit: fc.constantFrom(...'%&\\=+-_/u0041;#x\n "aé€'), minLength: 8, maxLength: 24 }),
    fc.base64String({ minLength: 16, maxLength: 88 }),
    fc.constantFrom("aaaaaaaa", "%41%41%41", "........", "$&$&$&$&", "\\\\\\\\\\\\\\\\", "((((((((", "-----BEGIN\nKEY"),
  )
  .filter((value) => value.length >= 8 && value.isWellFormed())
  // The mark that takes the place of a value is part of the answer.
  .filter((value) => rowsIn(mark, value).length === 0);

/** No escape begins or goes on between them and a value. */
const beside = fc.constantFrom("", '{"echo":"', " ", "\n", "<p>", ": ", "(", ",", "~");
/** Up to more than a stream holds back. */
const filling = fc.nat(5_000).map((length) => "~".repeat(length));

it("no answer keeps a secret in any form of the documentation, wherever the answer was cut", async () => {
  await fc.assert(
    fc.asyncProperty(
      secret,
      fc.constantFrom(...encodings),
      fc.nat(),
      fc.tuple(filling, beside, beside, filling),
      fc.array(fc.nat(), { maxLength: 6 }),
      async (value, { forms }, choice, [first, before, behind, last], cuts) => {
        const all = forms(value);
        fc.pre(all.length > 0);
        const form = Buffer.from(all[choice % all.length]!);
        const answer = Buffer.concat([Buffer.from(first + before), form, Buffer.from(behind + last)]);
        const places = cuts.map((cut) => cut % (answer.length + 1));
        for (const heard of await searched(value, answer, places)) expect(rowsIn(heard, value)).toEqual([]);
      },
    ),
    { numRuns: sized(200, 10_000) },
  );
});

it("an answer without a secret stays as it is, byte by byte", async () => {
  const escaped = fc.tuple(fc.constantFrom(...Object.values(escapes)), fc.string({ unit: "grapheme", maxLength: 200 }));
  const answers = fc.oneof(
    fc.uint8Array({ maxLength: 2_000 }),
    escaped.map(([escape, text]) => Buffer.from(escape(text))),
  );
  await fc.assert(
    fc.asyncProperty(answers, fc.nat(2_000), async (answer, cut) => {
      for (const heard of await searched("not-in-there-at-all", answer, [cut]))
        expect(heard).toEqual(Buffer.from(answer));
    }),
    { numRuns: sized(100, 2_000) },
  );
});
