import { posix } from "node:path";
import type { PolicyRule } from "@keyhole/kernel";
import fc from "fast-check";
import { expect, it } from "vitest";
import { decisionBy, inputOf, loaded } from "../policy/support.ts";
import { sized } from "../support/size.ts";

it("a place in any spelling: a deny meets what a parser leads into it, and an allow nothing that it leads elsewhere", () => {
  const decision = (effect: "deny" | "allow", startsWith: string, value: string): string => {
    const rule: PolicyRule = { id: "r", effect, when: { arguments: [{ at: "/at", startsWith }] }, reason: "So." };
    return decisionBy(loaded({ posture: "standard", rules: [rule] }), inputOf({ tier: 3, input: { at: value } }))
      .decision;
  };
  const bases = ["notes://h/", "file:///", "https://h.example/", "/"] as const;
  const written = {
    "notes://h/": ["notes://h/", "notes://h", "no\ttes://h:/"],
    "file:///": ["file:///", "file:/", "FILE://"],
    "https://h.example/": ["https://h.example/", "https:h.example:443/", "https://u@h.example./"],
    "/": ["/", "//", "/a/../"],
  } satisfies Record<(typeof bases)[number], readonly string[]>;
  const segment = fc.constantFrom("a", "..", ".", "diary", "%2e%2e", "%64iary", "", "DIARY", "..%2f", "\t", "..\\");
  const spelling = fc
    .constantFrom(...bases)
    .chain((base) =>
      fc.tuple(fc.constant(base), fc.constantFrom(...written[base]), fc.array(segment, { minLength: 1, maxLength: 5 })),
    );
  fc.assert(
    fc.property(spelling, ([base, start, segments]) => {
      const text = start + segments.join("/");
      fc.pre(base === "/" || URL.canParse(text));
      const url = base === "/" ? undefined : new URL(text);
      const led = url
        ? `${url.protocol}//${url.host.replace(/\.$/, "")}${url.pathname}`
        : posix.normalize(text.replaceAll("\t", ""));
      const place = `${base}diary`;
      if (led.startsWith(place)) expect(decision("deny", place, text)).toBe("deny");
      else expect(decision("allow", place, text)).not.toBe("allow");
    }),
    { numRuns: sized(500, 50_000) },
  );
});
