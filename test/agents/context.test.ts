import {
  definitionBytes,
  fitDefinition,
  KeptResults,
  type KeptSource,
  leastAnswerBytes,
} from "@keyhole/kernel/context";
import { compileSchema } from "@keyhole/kernel/schema";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sized } from "../support/size.ts";

const hash = `blake3:${"0".repeat(64)}`;
const byteLength = (text: string): number => new TextEncoder().encode(text).length;
const text = fc.string({ unit: "grapheme", maxLength: 3_000, size: "max" });
const limit = fc.integer({ min: leastAnswerBytes, max: 2_000 });

const noSource: KeptSource = { bytes: 0 };

interface Part {
  readonly next: number | null;
  readonly offset: number;
  readonly text?: string;
  readonly base64?: string;
  readonly found?: false;
}

/** All parts that a model gets when it reads on until the end. */
function readAll(kept: KeptResults<KeptSource>, from: number, limitBytes: number): Part[] {
  const parts: Part[] = [];
  for (let offset: number | null = from; offset !== null; offset = parts.at(-1)!.next) {
    const answer: string = kept.read({ hash, offset }, limitBytes) ?? "null";
    expect(byteLength(answer)).toBeLessThanOrEqual(limitBytes);
    parts.push(JSON.parse(answer) as Part);
    if (parts.at(-1)!.next === offset) throw new Error("The reading does not go on.");
  }
  return parts;
}

describe("an output within a budget", () => {
  it("is whole, or is whole once its parts are read", () => {
    fc.assert(
      fc.property(text, limit, (data, limitBytes) => {
        const kept = new KeptResults<KeptSource>();
        const answer = kept.textOf({ data, hash }, limitBytes, noSource);
        expect(byteLength(answer)).toBeLessThanOrEqual(limitBytes);
        if (byteLength(data) <= limitBytes) {
          expect(answer).toBe(data);
          return;
        }
        const { beginning, next } = JSON.parse(answer) as { beginning: string; next: number };
        const rest = readAll(kept, next, limitBytes).map((part) => part.text);
        expect(beginning + rest.join("")).toBe(data);
      }),
      { numRuns: sized(30, 1_000) },
    );
  });

  it("is whole as bytes, once its parts are read", () => {
    const data = Uint8Array.from({ length: 5_000 }, (_, index) => index % 251);
    const kept = new KeptResults<KeptSource>();
    expect(JSON.parse(kept.textOf({ data, hash }, 700, noSource))).toEqual({
      mediaType: "application/octet-stream",
      byteLength: 5_000,
      hash,
      more: "read_result",
      next: 0,
    });
    const bytes = readAll(kept, 0, 700).flatMap(({ base64 = "" }) =>
      [...atob(base64)].map((char) => char.charCodeAt(0)),
    );
    expect(bytes).toEqual([...data]);
  });

  it("is read from where a text stands", () => {
    const kept = new KeptResults<KeptSource>();
    kept.textOf({ data: `${"é".repeat(1_000)}NEEDLE${"x".repeat(1_000)}NEEDLE!`, hash }, 512, noSource);
    const read = (offset: number, find: string) => JSON.parse(kept.read({ hash, offset, find }, 512)!) as Part;
    expect(read(0, "NEEDLE")).toMatchObject({ offset: 2_000, text: expect.stringMatching(/^NEEDLEx/) });
    expect(read(2_001, "NEEDLE")).toMatchObject({ offset: 3_006, text: "NEEDLE!", next: null });
    expect(read(3_007, "NEEDLE")).toMatchObject({ found: false });
  });

  it.each([0, 1, 1_999, 5_000, Number.MAX_SAFE_INTEGER])(
    "cuts no character where it is read from byte %i",
    (offset) => {
      const kept = new KeptResults<KeptSource>();
      kept.textOf({ data: "é".repeat(1_000), hash }, 512, noSource);
      const part = JSON.parse(kept.read({ hash, offset }, 512)!) as Part;
      expect(part.text).toMatch(/^é*$/);
      expect(part.offset).toBe(Math.min(2_000, offset + (offset % 2)));
    },
  );
});

type Named = KeptSource & { readonly name: string };
const named = (name: string, bytes = 0): Named => ({ name, bytes });

describe("outputs that are kept", () => {
  const outputOf = (name: string, bytes: number) => ({ data: "x".repeat(bytes), hash: name });

  it("are at most as many as the limit, the oldest gone first", () => {
    const kept = new KeptResults<Named>({ bytes: 10_000, results: 2 });
    for (const name of ["a", "b", "a", "c"]) kept.textOf(outputOf(name, 600), 512, named(name));
    expect(["a", "b", "c"].map((name) => kept.sourceOf(name)?.name)).toEqual(["a", undefined, "c"]);
  });

  it("have at most as many bytes as the limit", () => {
    const kept = new KeptResults<Named>({ bytes: 2_000, results: 100 });
    for (const name of ["a", "b"]) kept.textOf(outputOf(name, 1_000), 512, named(name));
    expect(kept.sourceOf("a")?.name).toBe("a");
    kept.textOf(outputOf("c", 1_001), 512, named("c"));
    expect(["a", "b", "c"].map((name) => kept.sourceOf(name)?.name)).toEqual([undefined, undefined, "c"]);
  });

  it("count with what is kept beside them", () => {
    const kept = new KeptResults<Named>({ bytes: 2_000, results: 100 });
    kept.textOf(outputOf("a", 600), 512, named("a", 700));
    kept.textOf(outputOf("b", 600), 512, named("b", 700));
    expect(["a", "b"].map((name) => kept.sourceOf(name)?.name)).toEqual([undefined, "b"]);
    expect(kept.textOf(outputOf("c", 600), 512, named("c", 1_401))).not.toContain("read_result");
  });

  it("are not promised where they are larger than all that is kept", () => {
    const kept = new KeptResults<KeptSource>({ bytes: 2_000, results: 100 });
    const answer = JSON.parse(kept.textOf(outputOf("a", 2_001), 512, noSource)) as object;
    expect(answer).toMatchObject({ truncated: true, byteLength: 2_001 });
    expect(answer).not.toHaveProperty("more");
    expect(kept.read({ hash: "a", offset: 0 }, 512)).toBeUndefined();
  });

  it("are cut where they have 50 MB", () => {
    const answer = new KeptResults<KeptSource>().textOf({ data: "y".repeat(50_000_000), hash }, 4_096, noSource);
    expect(byteLength(answer)).toBeLessThanOrEqual(4_096);
    expect(JSON.parse(answer)).toMatchObject({ byteLength: 50_000_000, truncated: true });
  });
});

const schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  title: "A title",
  description: "The arguments. They are many.",
  properties: {
    title: { type: "string", description: "A member that has the name of an annotation. It stays." },
    kind: { enum: ["a", "b"], default: "a", examples: ["a"] },
    rule: { const: { description: "A value, and no text." } },
    list: { type: "array", items: { type: "string", description: "One of them. Any.", maxLength: 9 } },
    either: {
      anyOf: [
        { type: "null", title: "None" },
        { type: "integer", $comment: "More." },
      ],
    },
  },
  required: ["title"],
  additionalProperties: false,
};
const definition = {
  name: "subject",
  description: "Does one thing. It does it well, and says so at length.",
  inputSchema: schema,
};

describe("a definition within a budget", () => {
  const whole = definitionBytes(definition);

  it("is as it was where it fits", () => {
    expect(fitDefinition(definition, whole)).toEqual({ ok: true, value: definition });
  });

  it("loses annotations first, and no member that has the name of one", () => {
    const fitted = fitDefinition(definition, whole - 1);
    if (!fitted.ok) throw new Error("It does not fit.");
    const shown = JSON.stringify(fitted.value);
    expect(shown).not.toMatch(/A title|examples|\$comment|\$schema|None/);
    expect(fitted.value.inputSchema["properties"]).toHaveProperty("title");
    expect(shown).toContain("A value, and no text.");
    expect(shown).toContain("They are many.");
  });

  it("keeps each limit, and accepts the same inputs", () => {
    const inputs = [
      { title: "x" },
      { title: "x", rule: { description: "A value, and no text." } },
      { title: "x", rule: {} },
      { title: "x", list: ["1234567890"] },
      { title: "x", either: 1 },
      { title: "x", either: "1" },
      { title: "x", more: 1 },
      {},
    ];
    const answers = (each: object): boolean[] => {
      const compiled = compileSchema(each);
      if (!compiled.ok) throw new Error("The schema was refused.");
      return inputs.map((value) => compiled.validator.check(value));
    };
    const fitting = [];
    for (let limitBytes = whole; limitBytes > 0; limitBytes -= 7) {
      const fitted = fitDefinition(definition, limitBytes);
      if (!fitted.ok) {
        expect(fitted.leastBytes).toBeGreaterThan(limitBytes);
        continue;
      }
      expect(definitionBytes(fitted.value)).toBeLessThanOrEqual(limitBytes);
      fitting.push(fitted.value.inputSchema);
    }
    expect(fitting.length).toBeGreaterThan(10);
    for (const each of new Map(fitting.map((one) => [JSON.stringify(one), one])).values())
      expect(answers(each)).toEqual(answers(schema));
  });

  it("is refused where the schema alone is too long", () => {
    const { leastBytes } = fitDefinition(definition, 10) as { leastBytes: number };
    expect(fitDefinition(definition, leastBytes).ok).toBe(true);
    expect(fitDefinition(definition, leastBytes - 1).ok).toBe(false);
  });
});
