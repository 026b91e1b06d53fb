import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sized } from "../support/size.ts";
import { type ArgumentPattern, matchCommand } from "../../packages/kernel/src/capability/matching/commands.ts";

// Programs expand what they are given: braces and ranges (curl), percent signs, escapes, wildcards, variables. A grant covers an argument only where no expansion leaves the granted place.

const grants = (pattern: ArgumentPattern, argument: string): boolean =>
  matchCommand({ command: "c", args: [pattern] }, "c", [argument]);

const place = "http://h/public/";

/** What some program expands to a step up. */
const stepsUp = [
  "../admin",
  "%2e%2e/admin",
  "%u002e%u002e/admin",
  "%u002E%2e%u2215admin",
  ".%2E/admin",
  "%252e%252e/admin",
  "%c0%ae%c0%ae/admin",
  "..%2fadmin",
  "..%5cadmin",
  "{..}/admin",
  "{..,x}/admin",
  "{x,..}/admin",
  "{..%2fadmin}",
  "{../admin}",
  "{.,x}{.,y}/admin",
  "x/.{.}/.{.}/admin",
  "x/{{.}.}/admin",
  "{a,b/..}/../admin",
  "[.-.][.-.]/admin",
  "[.][.]/admin",
  "[-a-.][--/]/admin",
  "[!a][!b]/admin",
  "..[/]admin",
  "a[\\/]../admin",
  "[{.].}/admin",
  "[.{]./admin",
  "{[,..}/admin",
  ".[.]/admin",
  ".?/admin",
  ".*/admin",
  "\\../admin",
  ".\\./admin",
  "\\x2e\\x2e/admin",
  "\\056\\056/admin",
  "\\u002e\\u002e/admin",
  '.""./admin',
  ".^./admin",
  ".$EMPTY./admin",
  ".${EMPTY}./admin",
  ".%EMPTY%./admin",
  "..",
  "..?x",
  "..#x",
  "..;a/admin",
  ".\n./admin",
  ".\t./admin",
  "\u2025/admin",
  "%e2%80%a5/admin",
];

/** The pattern of an option without a place covers `--url=http://anywhere/` too: it bounds no place, and its values are texts. */
const steps = ["../admin", "\\../admin", "..", "\u2025/admin", "{a,b/..}/../admin"];

describe("behind the prefix of a place, an argument that a program expands to a step up", () => {
  it.each(stepsUp)("%j is not covered", (tail) => {
    expect(grants({ prefix: place }, place + tail)).toBe(false);
    expect(grants({ prefix: "/srv/public/" }, `/srv/public/${tail}`)).toBe(false);
  });

  it.each(stepsUp)("%j is a text behind an option, unless it is a step itself", (tail) => {
    expect(grants({ prefix: "--url=" }, `--url=${tail}`)).toBe(!steps.includes(tail));
  });

  it.each(["$HOME/x", "${x}", "$(id)", "`id`", "%TEMP%/x"])("or to anything at all, %j, is not covered", (tail) => {
    expect(grants({ prefix: place }, place + tail)).toBe(false);
    expect(grants({ path: ["**"] }, tail.replaceAll("%", "$"))).toBe(false);
  });

  it.each(["a/{b,c}", "*", "a/**/c", "a?", "~", "~root/x", "a/$b", "[.][.]/a", "a/[.][.]/b", ".[.]/b"])(
    "a path %j that can stand for other paths is not covered",
    (path) => {
      expect(grants({ path: ["**", "*", "a/*/b"] }, path)).toBe(false);
    },
  );
});

describe("an ordinary argument", () => {
  it.each([
    "a",
    "a/b.c?d=1..5&f=.#g",
    "v1.2..v1.3",
    "a..b/c",
    "...",
    "a/.hidden/b",
    "caf%C3%A9",
    "100%25",
    "?filter=x eq 1",
    "a/.well-known/x",
    "~me/x",
    "a%20b",
  ])("%j is covered behind the prefix of a place", (tail) => {
    expect(grants({ prefix: place }, place + tail)).toBe(true);
  });
  it.each(["{a,b}.txt", "page[1-9].html", "a/[id]/b", "a%2525b", "a b:$c"])(
    "%j is not covered behind the prefix of a place: some program expands it",
    (tail) => {
      expect(grants({ prefix: place }, place + tail)).toBe(false);
    },
  );
  it.each([
    "fix: read [x] and {y}, 100 % sure...",
    '{"a":[1,{"b":"c"}],"d":"$e"}',
    "%h %s%n",
    "HEAD~2..HEAD",
    "costs $5",
    "`code` of $HOME",
    "what? why..",
    "a=b, c=d",
  ])("%j is a text", (text) => {
    expect(grants({ prefix: "" }, text)).toBe(true);
    expect(grants({ prefix: "--format=" }, `--format=${text}`)).toBe(true);
  });
  it.each(["src/[id]/page.ts", "src/(group)/x.ts", "src/_lib.ts", "a b/c-d.e", "été/ü"])("%j is a path", (path) => {
    expect(grants({ path: ["**"] }, path)).toBe(true);
  });
});

describe("a value that a program reads from a file", () => {
  it.each(["@/etc/passwd", "name=@/etc/passwd", "name=</etc/passwd", "=@x"])("%j fits no prefix", (text) => {
    expect(grants({ prefix: "" }, text)).toBe(false);
    expect(grants({ prefix: "--form=" }, `--form=${text}`)).toBe(false);
  });
  it.each(["me@example.com", "a=b@c", "x <y@z>", "a <= b"])("%j is a text", (text) => {
    expect(grants({ prefix: "" }, text)).toBe(true);
  });
});

/** Every text that some program makes of one, after at most three steps. */
function expansionsOf(text: string): ReadonlySet<string> {
  const all = new Set([text]);
  let newest = [text];
  for (let step = 0; step < 3; step++) {
    newest = newest.flatMap((each) => [
      ...braces(each),
      ...ranges(each),
      each.replace(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      each.replaceAll("\\", "/"),
      each.replace(/\\(.)/g, "$1"),
      each.replace(/\$[a-z]+/g, ""),
    ]);
    newest = [...new Set(newest)].filter((each) => !all.has(each)).slice(0, 200);
    for (const each of newest) all.add(each);
  }
  return all;
}

/** The first innermost group, by each of its members. */
function braces(text: string): readonly string[] {
  const [group, members] = /\{([^{}]*)\}/.exec(text) ?? [];
  return group === undefined ? [] : members!.split(",").map((member) => text.replace(group, () => member));
}

/** The first class, by each of its characters. */
function ranges(text: string): readonly string[] {
  const [group, members] = /\[([^[\]]+)\]/.exec(text) ?? [];
  if (group === undefined) return [];
  const signs = [".", "/", "x", "2"].filter((sign) =>
    new RegExp(`^[${members!.replace(/[\\^]/g, "\\$&")}]$`).test(sign),
  );
  return signs.map((sign) => text.replace(group, () => sign));
}

describe("whatever is in an argument", () => {
  const signs = fc.constantFrom(".", "..", "/", "{", "}", ",", "[", "]", "[.]", "%2e", "%2f", "\\", "$a", "x", "?");
  it("no expansion of a granted one has a step up", () =>
    fc.assert(
      fc.property(fc.array(signs, { maxLength: 9 }), (parts) => {
        const tail = parts.join("");
        fc.pre(grants({ prefix: place }, place + tail));
        for (const each of expansionsOf(tail))
          expect(each.split(/[?#]/)[0]!.split("/"), `${tail} as ${each}`).not.toContain("..");
      }),
      { numRuns: sized(2_000, 50_000) },
    ));

  it("the longest of them gets an answer", () => {
    for (const piece of ["{.,", "[.", "{{}}", "%2e", "%25", "\\x", "${", "{.}/", "..{", "$a", "}{,."]) {
      const argument = place + piece.repeat(Math.floor(32_000 / piece.length));
      expect(typeof grants({ prefix: place }, argument)).toBe("boolean");
    }
  });
});
