import type { ArgumentCondition, Capability, CommandPattern, JsonValue, PolicyRule } from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchCommand } from "../../packages/kernel/src/capability/matching/commands.ts";
import { foldLetters, foldText } from "../../packages/kernel/src/support/fold.ts";
import { decisionBy, inputOf, loaded } from "../policy/support.ts";
import { covers, grantOf } from "../support/grants.ts";
import { sized } from "../support/size.ts";

/** Every character that has a case, a compatibility form or a mark. */
const special: readonly string[] = (() => {
  const found: string[] = [];
  for (let point = 0; point < 0x110000; point++) {
    if (point >= 0xd800 && point < 0xe000) continue;
    const letter = String.fromCodePoint(point);
    if (letter.toUpperCase() !== letter || letter.toLowerCase() !== letter || letter.normalize("NFKC") !== letter)
      found.push(letter);
  }
  return found;
})();

const byNumber = (a: number, b: number): number => a - b;

describe.each([
  ["letters", foldLetters],
  ["texts", foldText],
])("the fold of %s", (_, fold) => {
  it("gives one text for a character, its upper case and its lower case", () => {
    const apart = special.filter(
      (letter) => fold(letter) !== fold(letter.toUpperCase()) || fold(letter) !== fold(letter.toLowerCase()),
    );
    expect(apart).toEqual([]);
  });

  it("changes nothing of what it gave", () => {
    expect(special.filter((letter) => fold(fold(letter)) !== fold(letter))).toEqual([]);
  });

  it("does both for texts", () => {
    const letter = fc.oneof(fc.constantFrom(...special), fc.constantFrom(..."iIıİjßẞςΣ\u0307\u0327\u0301a1 "));
    fc.assert(
      fc.property(fc.array(letter, { maxLength: 6 }), (letters) => {
        // What nobody sees divides marks that belong together: such a text has an order of its own.
        const text = letters
          .join("")
          .replaceAll(/\p{DI}/gu, "")
          .normalize("NFKC");
        expect(fold(text.toUpperCase())).toBe(fold(text));
        expect(fold(text.toLowerCase())).toBe(fold(text));
        expect(fold(fold(text))).toBe(fold(text));
      }),
      { numRuns: sized(2_000, 200_000) },
    );
  });
});

it("the fold of texts gives each decimal digit the digit of ASCII", () => {
  const rows = new Map<number, string>();
  for (let point = 0; point < 0x110000; point++) {
    const letter = point >= 0xd800 && point < 0xe000 ? "" : String.fromCodePoint(point);
    if (/^\p{Nd}$/u.test(letter)) rows.set(point, foldText(letter));
  }
  const points = [...rows.keys()].toSorted(byNumber);
  // Of Unicode: digits stand in rows of ten, in their order.
  points.forEach((point, at) => expect(rows.get(point), point.toString(16)).toBe(String(at % 10)));
});

describe("a deny of an argument", () => {
  const decision = (condition: ArgumentCondition, value: JsonValue): string => {
    const rule: PolicyRule = { id: "r", effect: "deny", when: { arguments: [condition] }, reason: "No." };
    return decisionBy(loaded({ posture: "standard", rules: [rule] }), inputOf({ tier: 0, input: { at: value } }))
      .decision;
  };

  it.each<[JsonValue, JsonValue]>([
    ["straße 1", "STRAẞE 1"],
    ["İstanbul", "istanbul"],
    ["istanbul", "İSTANBUL"],
    ["ISTANBUL", "ıstanbul"],
    ["\u0390", "\u0390".toUpperCase()],
    ["\u1fd3", "\u0390"],
    [100, "١٠٠"],
    ["100", "१००"],
    [100, "\u{1d7cf}\u{1d7ce}\u{1d7ce}"],
    ["12345678901234567890", "012345678901234567890"],
    ["12345678901234567890", "+12345678901234567890"],
    ["12345678901234567890", "12345678901234567890.0"],
    ["12345678901234567890", "1234567890123456789e1"],
    ["12345678901234567890", "1.234567890123456789e19"],
    ["12345678901234567890", "0xab54a98ceb1f0ad2"],
    ["-12345678901234567890", "-012345678901234567890.00"],
    ["12345678901234567890", 12_345_678_901_234_567_890],
    ["12345678901234567168", 12_345_678_901_234_567_890],
    [["12345678901234567890"], ["012345678901234567890"]],
    [{ to: "12345678901234567890" }, { to: "+12345678901234567890" }],
    ["a-b", "a\u2212b"],
    ["a/b", "a\u2215b"],
  ])("of %j meets %j", (denied, spelled) => {
    expect(decision({ at: "/at", equals: denied }, spelled)).toBe("deny");
    expect(decision({ at: "/at", in: ["other", denied] }, spelled)).toBe("deny");
    if (typeof denied === "string") expect(decision({ at: "/at", contains: denied }, [spelled])).toBe("deny");
  });

  it.each([
    ["12345678901234567890", "12345678901234567891"],
    ["12345678901234567890", "1234567890123456789"],
    ["12345678901234567890", "-12345678901234567890"],
    ["1e999999999999999999", "1e999999999999999998"],
    ["0", "0.1"],
  ])("of %j spares %j", (denied, other) => {
    expect(decision({ at: "/at", equals: denied }, other)).not.toBe("deny");
  });

  it.each([
    ["notes://diary/", "no\ttes://diary/1"],
    ["notes://diary/", "notes:/\n/diary/1"],
    ["notes://diary/", "notes://dia\r\nry/1"],
    ["notes://diary/", " \u0001notes://diary/1"],
    ["notes://diary/", "notes://diary:/1"],
    ["notes://diary/", "notes://me@diary/1"],
    ["notes://diary/", "notes://diary/a/../1"],
    ["notes://diary/", "notes://%64iary/1"],
    ["notes://a/diary/", "notes://a/b/%2e./diary/1"],
    ["file:///home/me/.ssh/", "file:///home/me/%2essh/id"],
    ["file:///home/me/.ssh/", "file:///home/me/x%252f..%252f.ssh/id"],
    ["file:///home/me/.ssh/", "file:\\\\\\home\\me\\.ssh\\id"],
    ["https://a.example/admin", "https://a.example:443/admin/x"],
    ["https://A.example:443/admin", "https://a.example/admin/x"],
    ["https://a.example/admin", "https:a.example./x/../%61dmin"],
    ["https://a.example/admin", "https://user:pass@a.example/admin"],
    ["/etc/passwd", "/etc/pas\tswd"],
    ["/etc/", "/tmp/../etc/passwd"],
    ["/etc/", "//etc/./passwd"],
    ["/etc/", "/../../etc/passwd"],
    ["C:\\Users\\me\\", "c:/Windows/../users/me/x"],
  ])("of what begins with %j meets %j, as readers of URLs and paths read it", (denied, spelled) => {
    expect(decision({ at: "/at", startsWith: denied }, spelled)).toBe("deny");
  });

  it.each([
    ["https://a.example", "https://A.example:443/"],
    ["notes://diary/1", "notes://diary:/%31"],
    ["https://a.example/b", "https://a.example/c/../b"],
  ])("of the URL %j meets %j", (denied, spelled) => {
    expect(decision({ at: "/at", equals: denied }, spelled)).toBe("deny");
    expect(decision({ at: "/at", in: [denied] }, spelled)).toBe("deny");
    expect(decision({ at: "/at", contains: denied }, [spelled])).toBe("deny");
  });

  it.each([
    ["notes://diary/", "notes://diaries/1"],
    ["notes://diary/", "notes://other/1?next=notes%3A%2F%2Fdiaries%2F"],
    ["https://a.example/admin", "https://a.example/x%2fadmin"],
    ["b", "Note: a%61c"],
  ])("of what begins with %j spares %j", (denied, other) => {
    expect(decision({ at: "/at", startsWith: denied }, other)).not.toBe("deny");
    expect(decision({ at: "/at", equals: denied }, other)).not.toBe("deny");
  });

  it("of a number meets each of its texts, and no other number", () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{0,40}$/);
    fc.assert(
      fc.property(digits, digits, fc.nat(3), fc.nat(3), fc.boolean(), (number, other, zeros, after, plus) => {
        const spelled = `${plus ? "+" : ""}${"0".repeat(zeros)}${number}${after > 0 ? `.${"0".repeat(after)}` : ""}`;
        expect(decision({ at: "/at", equals: number }, spelled)).toBe("deny");
        if (number !== other) expect(decision({ at: "/at", equals: number }, other)).not.toBe("deny");
      }),
      { numRuns: sized(100, 5_000) },
    );
  });

  it.each(["rm\u0085-rf", "rm\u001f-rf", "rm\u001c -rf", "rm\u2800-rf", "RM\u2028\u2212RF"])(
    "of a part meets %j",
    (text) => expect(decision({ at: "/at", contains: "rm -rf" }, `x ${text} y`)).toBe("deny"),
  );

  it.each([
    ["0.0.0.0", "http:0"],
    ["10.0.0.5", "http:10.0.0.5"],
    ["10.0.0.5", "https:10.0.0.5/a"],
    ["10.0.0.5", "http://[::ffff:10.0.0.5]/"],
    ["10.0.0.5", "http://[::ffff:a00:5]:8080/"],
    ["10.0.0.5", "[::ffff:10.0.0.5]"],
    ["10.0.0.5", "http://[::10.0.0.5]/"],
    ["10.0.0.5", "http://[64:ff9b::10.0.0.5]/"],
    ["10.0.0.5", "http://[2002:a00:5::1]/"],
    ["example.com", "about://example.com/"],
    ["example.com", "file://example.com/etc/passwd"],
    ["example.com", "postgres://example.com/db?host=example.net"],
  ])("of the host %s meets %s, and an allow of it does not", (host, url) => {
    expect(decision({ at: "/at", hostIn: [host] }, url)).toBe("deny");
    const rule: PolicyRule = { id: "r", effect: "allow", when: { arguments: [{ at: "/at", hostIn: [host] }] }, reason: "Yes." }; // prettier-ignore
    const allowed = decisionBy(loaded({ rules: [rule] }), inputOf({ tier: 2, input: { at: url } })).decision;
    expect(allowed).toBe("ask");
  });
});

it.each([
  ["geheim/straße/**", "geheim/STRAẞE/a"],
  ["İSTANBUL/**", "istanbul/a"],
  ["\u0390/**", `${"\u0390".toUpperCase().normalize("NFC")}/a`],
])("the exception %s of a grant meets %s", (except, path) => {
  const files: Capability = { kind: "fs.write", paths: ["**"] };
  const grant = grantOf([files], [[{ ...files, except: [except] }]]);
  expect(covers(grant, { kind: "fs.write", path })).toBe(false);
  expect(covers(grant, { kind: "fs.write", path: "geheim/a" })).toBe(true);
});

describe("an allow of an argument", () => {
  const decision = (condition: ArgumentCondition, value: JsonValue): string => {
    const rule: PolicyRule = { id: "r", effect: "allow", when: { arguments: [condition] }, reason: "Yes." };
    return decisionBy(loaded({ posture: "standard", rules: [rule] }), inputOf({ tier: 3, input: { at: value } }))
      .decision;
  };

  it.each([
    ["file:///home/me/notes/", "file:///home/me/notes/../.ssh/id"],
    ["file:///home/me/notes/", "file:///home/me/notes/%2e%2e/.ssh/id"],
    ["file:///home/me/notes/", "file:///home/me/notes/..%252f.ssh/id"],
    ["https://a.example/docs", "https://a.example/docs/..\\\\admin"],
    ["https://a.example", "https://a.example@b.example/"],
    ["/home/me/notes/", "/home/me/notes/../.ssh/id"],
    ["/home/me/notes/", "/home/me/notes/a/../../.ssh/id"],
    ["C:\\Users\\me\\", "C:\\Users\\me\\..\\you"],
    ["/home/me/notes/", "/home/me/notes/./a//b.txt"],
    ["notes", "notes/../.ssh"],
  ])("of what begins with %j spares %j, which a reader takes elsewhere", (allowed, spelled) => {
    expect(decision({ at: "/at", startsWith: allowed }, spelled)).not.toBe("allow");
  });

  it.each<[ArgumentCondition, string]>([
    [{ at: "/at", startsWith: "file:///home/me/notes/" }, "file:///home/me/notes/a b.txt"],
    [{ at: "/at", startsWith: "https://A.example/docs" }, "https://A.example/docs/x%20y?q=%2F"],
    [{ at: "/at", startsWith: "https://a.example:443/" }, "https://a.example:443/x"],
    [{ at: "/at", endsWith: ".example" }, "https://a.example"],
    [{ at: "/at", startsWith: "/home/me/notes/" }, "/home/me/notes/a b.txt"],
    [{ at: "/at", contains: "https://a.example" }, "Look at https://a.example/b."],
    [{ at: "/at", startsWith: "git log" }, "git log ../other // and more"],
    [{ at: "/at", endsWith: "World\r\n" }, "Hello\nWorld\r\n"],
    [{ at: "/at", contains: "two\nlines" }, "text: two\nlines of 100 %"],
    [{ at: "/at", contains: "a  b" }, "x a  b\ty"],
  ])("of %j meets %j", (condition, text) => {
    expect(decision(condition, text)).toBe("allow");
  });
});

describe("an argument of a command", () => {
  it.each([
    ["--data=", "--data=\uff20/etc/passwd"],
    ["--data=", "--data=\u200b@/etc/passwd"],
    ["src/", "src/.. /x"],
    ["src/", "src/.. "],
    ["src/", "src/.. ./x"],
    ["src/", "src/ ../x"],
    ["src/", "src/\u2025\u00a0/x"],
    ["", "a\u29f5..\u20a9b"],
    ["./", "./..."],
  ])("with the prefix %j is not %j", (prefix, argument) => {
    const pattern: CommandPattern = { command: "c", args: [{ prefix }] };
    expect(matchCommand(pattern, "c", [argument])).toBe(false);
  });
  it.each([
    ["--data=", "--data=a@b"],
    ["src/", "src/a..b"],
    ["src/", "src/.. a"],
  ])("with the prefix %j is %j", (prefix, argument) => {
    expect(matchCommand({ command: "c", args: [{ prefix }] }, "c", [argument])).toBe(true);
  });
});
