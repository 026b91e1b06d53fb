import { type DeclaredCapability, visible } from "@keyhole/kernel";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { capabilityText, effectText } from "../../packages/playground/src/app/capability-words.ts";

/** Reorders what follows, joins words, hides a letter, and speaks to a model alone. */
const foreign = fc.string({
  unit: fc.constantFrom("a", ".", "\u202e", "\u2066", "\u200b", "\u00ad", "\ufeff", "\u{e0041}", "\u0007"),
  minLength: 1,
});

it("the words for what an edge sends have no hidden character, whichever member it is in", () =>
  fc.assert(
    fc.property(foreign, foreign, (kind, text) => {
      const declared = { kind, [text]: text, hosts: [text], paths: [text] } as DeclaredCapability;
      const known = { kind: "net.read", hosts: [text], paths: [text] } as DeclaredCapability;
      const words = [
        effectText(kind),
        capabilityText(declared),
        capabilityText(known),
        capabilityText({ ...known, optional: true }),
      ];
      for (const word of words) expect(word).toBe(visible(word));
    }),
  ));
