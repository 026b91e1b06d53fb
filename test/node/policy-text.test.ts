import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { policy } from "@keyhole/kernel";
import { parsePolicyText, readPolicyFile } from "@keyhole/worker-host/node";
import { assert, jsonValue, property, string } from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { stringify } from "yaml";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { ioOf } from "../support/command-files.ts";

const yaml = `# Who may pay
version: "1"
posture: standard
rules:
  - id: large
    effect: ask
    when: { arguments: [{ at: /amount, moreThan: 100 }] }
    reason: Large.
  - id: eve
    effect: denied
    when: { caller: [eve] }
    reason: Not Eve.
`;

describe("a policy in YAML", () => {
  it("is the same policy as in JSON", () => {
    const text = yaml.replace("denied", "deny");
    const read = parsePolicyText(text);
    if (!read.ok) throw new Error(read.message);
    const [fromYaml, fromJson] = [read.value.document, JSON.parse(JSON.stringify(read.value.document))].map((each) =>
      policy(each),
    );
    if (!fromYaml?.ok || !fromJson?.ok) throw new Error("not loaded");
    expect(fromYaml.value.hash).toBe(fromJson.value.hash);
    expect(fromYaml.value.rules.map(({ rule }) => rule.id)).toEqual(["large", "eve"]);
  });

  it("is refused at its line", async () => {
    const { exitCode, output } = await runCommand(["policy", "check", "p.yaml"], ioOf({ "p.yaml": yaml }));
    expect(output).toMatch(/^p\.yaml:10:13 /);
    expect(exitCode).toBe(1);
  });

  it.each<[string, string, number, number]>([
    ["a: &x 1", "An anchor is not part of a policy. Write the value out.", 1, 7],
    ["a: *x", "An alias is not part of a policy. Write the value out.", 1, 4],
    ["a: 1\nb: 2\na: 3", "Map keys must be unique.", 3, 1],
    ["a: !!js/function x", "Unresolved tag: tag:yaml.org,2002:js/function.", 1, 4],
    ["a: !!str x", "A tag is not part of a policy. Write the value out.", 1, 10],
    ["? [1]\n: x", "A key that is not a string is not part of a policy. Write the value out.", 1, 3],
    ["1: x", "A key that is not a string is not part of a policy. Write the value out.", 1, 1],
    ["a: 1\n---\nb: 2", "A policy is one document.", 2, 1],
    ["a: [", "Flow sequence in block collection must be sufficiently indented and end with a ].", 1, 5],
    ["\ta: 1", "Tabs are not allowed as indentation.", 1, 1],
    ["a: { b: 1, b: 2 }", "Map keys must be unique.", 1, 12],
  ])("%j is refused with its place", (text, message, line, column) => {
    expect(parsePolicyText(text)).toEqual({ ok: false, message, at: { line, column } });
  });

  it("takes words for words and cannot be grown by repetition", () => {
    const read = parsePolicyText("a: yes\nb: 2026-01-01\n__proto__: { x: 1 }\n<<: { c: 1 }");
    if (!read.ok) throw new Error(read.message);
    expect(JSON.stringify(read.value.document)).toBe('{"a":"yes","b":"2026-01-01","__proto__":{"x":1},"<<":{"c":1}}');
    const laughs = `a: &a [x]\n${Array.from({ length: 30 }, (_, i) => `b${i}: &b${i} [*a, *a]`).join("\n")}`;
    expect(parsePolicyText(laughs).ok).toBe(false);
  });

  it("says of any JSON value what JSON says, and never throws", () => {
    assert(
      property(jsonValue(), (value) => {
        const expected = JSON.parse(JSON.stringify(value)) as unknown;
        for (const text of [JSON.stringify(value), stringify(value, { aliasDuplicateObjects: false })]) {
          const read = parsePolicyText(text);
          // YAML knows -0, which no policy can tell from 0.
          if (read.ok) expect(JSON.parse(JSON.stringify(read.value.document))).toEqual(expected);
        }
      }),
    );
    assert(property(string({ unit: "binary" }), (text) => void parsePolicyText(text)));
  });
});

describe("a text that was made to take long", () => {
  const members = Array.from({ length: 500 }, (_, at) => `"k${at}": 1`);
  /** The reader of YAML can compare each key with all before it, by `some`. */
  it("looks at each key once", () => {
    const looked = vi.spyOn(Array.prototype, "some");
    try {
      expect(parsePolicyText(members.join("\n"))).toMatchObject({ ok: true });
      expect(parsePolicyText(`{ ${members.join(",\n")},\n}`)).toMatchObject({ ok: false, at: { line: 501 } });
      const lengths = looked.mock.contexts.map((each) => (each as readonly unknown[]).length);
      expect(Math.max(0, ...lengths)).toBeLessThan(100);
    } finally {
      looked.mockRestore();
    }
  });

  it.each(["[", "- ", "? "])("is refused where %j nests too deeply", (level) => {
    const read = parsePolicyText(level.repeat(6_000));
    expect(read).toMatchObject({ ok: false, message: "The policy nests too deeply." });
  });

  it("is refused where it is longer than a person writes, and as JSON at its fault", () => {
    const message = "A policy in YAML has at most 1048576 characters.";
    expect(parsePolicyText("a: b".padEnd(1_048_577))).toMatchObject({ ok: false, message });
    expect(parsePolicyText(`{\n${" ".repeat(1_048_576)}x`)).toMatchObject({ ok: false, at: { line: 2 } });
  });
});

it.each(['{ "version": 1 }', "version: 1\n"])("a byte order mark before %j is no part of it", (text) => {
  const read = parsePolicyText(`\ufeff${text}`);
  expect(read).toMatchObject({ ok: true, value: { document: { version: 1 } } });
  const plain = parsePolicyText(text);
  if (!read.ok || !plain.ok) throw new Error("it is not read");
  expect(read.value.locate("/version")).toEqual(plain.value.locate("/version"));
});

describe("a policy in JSON", () => {
  it.each<[string, number, number]>([
    ['{\n  "a": 1,\n  "a": 2\n}', 3, 3],
    ['{\n  "a": 1,\n}', 3, 1],
    ["{ 'a': 1 }", 1, 3],
    ['{ "a": 1 } # x', 1, 12],
  ])("%j is refused with its place", (text, line, column) => {
    expect(parsePolicyText(text)).toMatchObject({ ok: false, at: { line, column } });
  });
});

describe("readPolicyFile", () => {
  it("goes by the name of the file, and else by its beginning", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keyhole-"));
    try {
      const write = (name: string, text: string): string => {
        writeFileSync(join(folder, name), text);
        return join(folder, name);
      };
      expect(await readPolicyFile(write("p.yaml", "{ version: '1' }"))).toMatchObject({ ok: true });
      expect(await readPolicyFile(write("p.json", "{ version: '1' }"))).toMatchObject({ ok: false });
      await expect(readPolicyFile(join(folder, "absent"))).rejects.toMatchObject({ code: "ENOENT" });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
