import { posix } from "node:path";
import type { ArgumentCondition, JsonValue, PolicyRule } from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decisionBy, inputOf, loaded } from "../policy/support.ts";
import { sized } from "../support/size.ts";
import { behindPlainTexts } from "./behind-plain-paths.ts";

const decisionOn = (
  effect: "deny" | "allow",
  condition: Readonly<Record<string, JsonValue>>,
  value: string,
): string => {
  const when = { arguments: [{ at: "/at", ...condition } as ArgumentCondition] };
  const rule: PolicyRule = { id: "r", effect, when, reason: "So." };
  return decisionBy(loaded({ posture: "standard", rules: [rule] }), inputOf({ tier: 3, input: { at: value } }))
    .decision;
};

describe("a fragment, which no request has", () => {
  const places = [
    "https://h.example/admin",
    "https://h.example/x/../admin",
    "HTTPS://u@h.example/%61dmin",
    "notes://h/admin",
  ];
  const paths = ["/admin", "/x/../admin", "./admin"];
  const fragments = ["#", "#x", "#/..", "#/public.json", "#?", "#\n", "#%2e%2e/"];
  const pairs = [...places, ...paths].flatMap((place) => fragments.map((fragment) => [place, fragment] as const));

  it.each(pairs)("%s%j: a deny meets it as without, and an allow reads no part of it", (place, fragment) => {
    const text = place + fragment;
    const plain = place.startsWith(".")
      ? "admin"
      : place.startsWith("/")
        ? "/admin"
        : new URL(place).href.replace("u@", "").replace("%61", "a");
    // A name without a slash is a text: `behindPlainTexts` has it.
    if (plain !== "admin") {
      for (const condition of [{ equals: plain }, { in: ["/else", plain] }, { startsWith: plain }])
        expect(decisionOn("deny", condition, text), JSON.stringify(condition)).toBe("deny");
      // A negation swaps the two.
      for (const condition of [{ differs: plain }, { notIn: ["/else", plain] }])
        expect(decisionOn("allow", condition, text), JSON.stringify(condition)).not.toBe("allow");
    }
    if (!text.includes("public")) return;
    expect(decisionOn("allow", { endsWith: "/public.json" }, text)).not.toBe("allow");
    expect(decisionOn("allow", { contains: "public" }, text)).not.toBe("allow");
  });

  it.each(["https://h.example/app#/settings", "/app#/settings"])("an allow that names it covers %s", (text) => {
    expect(decisionOn("allow", { startsWith: text }, text)).toBe("allow");
    expect(decisionOn("allow", { equals: text }, text)).toBe("allow");
  });

  it("is none in a text that is no place", () => {
    expect(decisionOn("deny", { equals: "issue " }, "issue #5")).not.toBe("deny");
    expect(decisionOn("allow", { endsWith: "#5" }, "owner/repo#5")).toBe("allow");
  });
});

describe.each(Object.entries(behindPlainTexts))("%s", (_, rows) => {
  it("stands behind a plain text: no deny meets it", () => {
    const decisions = rows.map(([condition, text]) => [condition, text, decisionOn("deny", condition, text)]);
    expect(decisions).toEqual(rows.map(([condition, text]) => [condition, text, "ask"]));
  });
});

describe("a NUL, where programs in C end a text", () => {
  const places = ["a.exe", "/a.exe", "x/../a.exe", "https://h.example/a.exe"];
  const tails = ["\0", "\0.txt", "\0/../b.txt", "\0\0.txt"];
  const pairs = places.flatMap((place) => tails.map((tail) => [place, tail] as const));
  it.each([...pairs, ["https://h.example/a.exe", "%00.txt"]] as const)(
    "%s%j: a deny meets it as without, and an allow reads nothing behind it",
    (place, tail) => {
      const text = place + tail;
      // An escape is letters to what asks for an end: `behindPlainTexts` has it.
      const end = text.includes("\0") ? [{ endsWith: ".exe" }] : [];
      for (const condition of [{ equals: place }, { in: ["/else", place] }, ...end])
        expect(decisionOn("deny", condition, text), JSON.stringify(condition)).toBe("deny");
      for (const condition of [{ differs: place }, { notIn: ["/else", place] }, { endsWith: ".txt" }])
        expect(decisionOn("allow", condition, text), JSON.stringify(condition)).not.toBe("allow");
      expect(decisionOn("allow", { startsWith: place }, text)).not.toBe("allow");
    },
  );
});

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
