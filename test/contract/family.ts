import { blake3Hash, policy as policyOf } from "@keyhole/kernel";
import { Families, type Family, type OfKind } from "@keyhole/kernel/families";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LoadedCapability, OwnNeed } from "../../packages/kernel/src/capability/family.ts";
import { attenuate, covers, grantOf } from "../../packages/kernel/src/capability/grant.ts";
import { sized } from "../support/size.ts";

type Data = OfKind & Readonly<Record<string, unknown>>;

/** What the contract is told of a family. */
export interface FamilySubject {
  readonly family: Family;
  readonly capabilities: fc.Arbitrary<OfKind>;
  readonly needs: fc.Arbitrary<OfKind>;
  /** Capabilities whose patterns mean nothing, and that are refused. */
  readonly wrong: readonly Data[];
  /** Of each condition: some patterns, and a value that an example of a rule has. */
  readonly conditions: Readonly<Record<string, { readonly patterns: fc.Arbitrary<string[]>; readonly value: string }>>;
  /** A need with a text that no target may repeat. */
  readonly secret?: { readonly need: Data; readonly text: string };
}

const rounds = { numRuns: sized(200, 5_000) };

/** What every family must do. It alone says what its kind means, so the rest of the kernel relies on these. */
export function describeFamily(subject: FamilySubject): void {
  describe(`the family ${subject.family.kind}`, () => {
    describeCapabilities(subject);
    describeCover(subject);
    describeNeeds(subject);
    describeConditions(subject);
  });
}

function describeCapabilities({ family, capabilities, wrong }: FamilySubject): void {
  const { kind } = family;
  const families = new Families([family]);
  const loaded = (json: OfKind): LoadedCapability => families.known([json])[0] ?? expect.unreachable(kind);

  it("loads what its schema accepts, and describes it in one line", () => {
    fc.assert(
      fc.property(capabilities, (json) => {
        expect(families.read([json])).toHaveLength(1);
        expect(loaded(json).describe()).toMatch(new RegExp(`^${kind.replace(".", "\\.")}(?: [^\n\r]+)?$`));
      }),
      rounds,
    );
  });

  it("refuses a member that it does not have, and patterns that mean nothing", () => {
    const unknown: Data = { kind, unknown: 1 };
    for (const json of [unknown, ...wrong]) expect(families.read([json]), JSON.stringify(json)).toBeTypeOf("string");
  });
}

function describeCover({ family, capabilities, needs }: FamilySubject): void {
  const families = new Families([family]);
  const loaded = (json: OfKind): LoadedCapability => families.known([json])[0] ?? expect.unreachable(family.kind);

  it("reads a wish at least as generously as authority", () => {
    fc.assert(
      fc.property(capabilities, needs, (json, asked) => {
        const need = family.need(asked);
        if (loaded(json).covers(need, "authority")) expect(loaded(json).covers(need, "wish")).toBe(true);
      }),
      rounds,
    );
  });

  it("covers no need that it has not read itself", () => {
    fc.assert(
      fc.property(capabilities, needs, (json, asked) => {
        const forged: OwnNeed = {
          ...family.need(asked),
          target: "",
          destination: undefined,
          family,
          narrowest: () => undefined,
        };
        expect(loaded(json).covers(forged, "wish")).toBe(false);
      }),
      rounds,
    );
  });

  it("never covers more with one more layer", () => {
    const layer = fc.array(capabilities, { maxLength: 3 });
    fc.assert(
      fc.property(
        layer,
        layer,
        fc.array(layer, { minLength: 1, maxLength: 3 }),
        needs,
        (declared, first, more, asked) => {
          const need = family.need(asked);
          let grant = grantOf(families.known(declared), [families.known(first)], blake3Hash);
          for (const each of more) {
            const narrower = attenuate(grant, families.known(each), blake3Hash);
            if (covers(narrower, need)) expect(covers(grant, need)).toBe(true);
            grant = narrower;
          }
        },
      ),
      rounds,
    );
  });
}

function describeNeeds({ family, capabilities, needs, secret }: FamilySubject): void {
  const families = new Families([family]);

  it("suggests the narrowest capability, which covers the need and is one that a policy takes", () => {
    fc.assert(
      fc.property(needs, (asked) => {
        const need = family.need(asked);
        const narrowest = need.narrowest();
        if (!narrowest) return;
        expect(narrowest.covers(need, "authority")).toBe(true);
        const grants = [{ tool: "subject", capability: narrowest.json }];
        const policy = policyOf({ version: "1", posture: "strict", grants }, { families });
        expect(policy).toMatchObject({ ok: true });
      }),
      rounds,
    );
  });

  it("makes needs of its own of the targets that arguments name, or says why it cannot", () => {
    const { targetArguments } = family;
    if (!targetArguments) return;
    const { required, optional = [] } = targetArguments;
    const part = fc.oneof(fc.string({ unit: "binary" }), fc.webUrl(), fc.constantFrom("a/b", "main", "GET", "", ".."));
    const target = fc.record(Object.fromEntries([...required, ...optional].map((name) => [name, part])), {
      requiredKeys: [...required],
    });
    fc.assert(
      fc.property(capabilities, target, (json, given) => {
        const found = families.known([json])[0]?.needsTo(given);
        if (typeof found === "string") expect(found).toMatch(/^[^\n\r]+$/);
        else for (const need of found ?? []) expect(need).toEqual(family.need(need.json));
      }),
      rounds,
    );
  });

  it("names the target of a need in one line, without secrets", () => {
    fc.assert(
      fc.property(needs, (asked) => {
        expect(family.need(asked).target).not.toMatch(/[\n\r]/);
      }),
      rounds,
    );
    if (secret) expect(family.need(secret.need).target).not.toContain(secret.text);
  });

  it("refuses a need whose members have another form", () => {
    fc.assert(
      fc.property(needs, (asked) => {
        for (const name of Object.keys(asked).filter((each) => each !== "kind"))
          expect(() => family.need({ ...asked, [name]: { other: "form" } }), name).toThrow(TypeError);
      }),
      rounds,
    );
  });
}

function describeConditions({ family, needs, conditions }: FamilySubject): void {
  it("is told some patterns of each of its conditions", () =>
    expect(Object.keys(conditions).toSorted()).toEqual([...family.conditions.keys()].toSorted()));

  it.each([...family.conditions])("a deny of %s touches all that an allowed list covers", (name, { touches, list }) => {
    const { patterns } = conditions[name] ?? expect.unreachable(name);
    fc.assert(
      fc.property(patterns, needs, (given, asked) => {
        const need = family.need(asked);
        if (!list || list.refused({ allowed: given })(need) !== undefined) return;
        expect(touches(given)(need)).toBe(true);
        expect(list.refused({ allowed: given, forbidden: given })(need)).toBeTypeOf("string");
      }),
      rounds,
    );
  });

  it.each([...family.conditions])("an example with %s meets a rule with it", (name, { touches, check }) => {
    const { value } = conditions[name] ?? expect.unreachable(name);
    expect(check(value)).toBeUndefined();
    const need = family.sample?.({ [name]: value }) ?? expect.unreachable("a family with conditions has a sample");
    expect(touches([value])(need)).toBe(true);
  });
}
