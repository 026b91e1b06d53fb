import {
  type ArgumentCondition,
  type GrantRule,
  policy,
  type Policy,
  type PolicyDocument,
  type PolicyRule,
} from "@keyhole/kernel";
import { builtInFamilies } from "@keyhole/kernel/families";
import { diffPolicies } from "@keyhole/kernel/policy";
import { describe, expect, it } from "vitest";
import { shapeOf } from "../../../packages/kernel/src/policy/review/diff/needs.ts";
import { runCommand } from "../../../packages/keyhole/src/command/run-command.ts";
import { ioOf } from "../../support/command-files.ts";
import { sized } from "../../support/size.ts";

function policyOf(part: Partial<PolicyDocument>): Policy {
  const loaded = policy({ version: "1", posture: "standard", ...part });
  if (!loaded.ok) throw new TypeError(`${loaded.error.path}: ${loaded.error.message}`);
  return loaded.value;
}

const diff = (a: Partial<PolicyDocument>, b: Partial<PolicyDocument>) => diffPolicies(policyOf(a), policyOf(b));

const many = sized(1_000, 10_000);

/** Three effects, 97 tools, 13 callers. */
const manyRules = (count: number): PolicyRule[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `r${index}`,
    effect: (["deny", "ask", "allow"] as const)[index % 3]!,
    when: {
      tool: [`t${index % 97}`],
      caller: [`c${index % 13}`],
      arguments: [
        { at: "/x", equals: index },
        { at: "/y", moreThan: index % 50 },
      ],
    },
    reason: "x",
  }));

describe("the difference of two policies", () => {
  it("is none where the same is said in other words", () => {
    const rule: PolicyRule = { id: "a", effect: "deny", when: { tool: ["pay"] }, reason: "x" };
    const { differs, capped } = diff({ rules: [rule] }, { rules: [{ ...rule, id: "b", reason: "y" }] });
    expect({ differs, capped }).toEqual({ differs: false, capped: [] });
  });

  it("says that arguments within each other were not combined", () => {
    const rule = (pointers: readonly string[]): Partial<PolicyDocument> => ({
      rules: pointers.map((at, index) => ({
        id: `r${index}`,
        effect: "deny",
        when: { tool: ["pay"], arguments: [{ at, equals: 1 }] },
        reason: "x",
      })),
    });
    const cappedIn = (pointers: readonly string[]): readonly string[] =>
      diff({}, rule(pointers)).capped.map(({ dimension }) => dimension);
    expect(cappedIn(["/a", "/a/b"])).toEqual(["argument /a"]);
    expect(cappedIn(["", "/a"])).toEqual(["argument (whole)"]);
    expect(cappedIn(["/a", "/ab"])).toEqual([]);
    expect(diff(rule(["/a", "/a/b"]), rule(["/a", "/a/b"])).capped).toEqual([]);
  });

  it("names a grant that only B gives, with a request as example", () => {
    const grants: NonNullable<PolicyDocument["grants"]> = [
      { tool: "fetch", capability: { kind: "net.read", hosts: ["api.example.com"], paths: ["/v1"] } },
    ];
    const { allows, denies, capped } = diff({}, { grants });
    expect(denies).toEqual([]);
    expect(capped).toEqual([]);
    expect(allows.length).toBeGreaterThan(0);
    expect(allows[0]).toMatchObject({
      a: { decision: "deny", reasonCode: "target-denied" },
      b: { decision: "allow" },
      example: { tool: "fetch", request: { kind: "net.read", host: "api.example.com", path: "/v1" } },
    });
  });

  it("finds the numbers between two limits", () => {
    const over = (moreThan: number): PolicyRule[] => [
      { id: "limit", effect: "ask", when: { tool: ["pay"], arguments: [{ at: "/amount", moreThan }] }, reason: "x" },
    ];
    const { allows, asks, denies } = diff({ rules: over(100) }, { rules: over(101) });
    expect([asks, denies]).toEqual([[], []]);
    expect(allows.map(({ example }) => example.arguments)).toEqual([{ amount: 101 }]);
  });

  it("finds the short texts below a limit of bytes", () => {
    const tools = { pay: { sizes: { inputBytes: 20 } } };
    const rules: PolicyRule[] = [
      { id: "r", effect: "deny", when: { tool: ["pay"], arguments: [{ at: "/note", notIn: ["a"] }] }, reason: "x" },
    ];
    const { allows } = diff({ tools, rules }, { tools });
    expect(allows.map(({ a, example }) => [a.rules, JSON.stringify(example.arguments).length < 20])).toEqual([
      [["r"], true],
    ]);
  });

  it("shows no rule that another one of both policies hides", () => {
    const all: PolicyRule = { id: "all", effect: "deny", when: { tool: ["pay"] }, reason: "x" };
    const more: PolicyRule = { id: "more", effect: "deny", when: { tool: ["pay"], caller: ["eve"] }, reason: "x" };
    expect(diff({ rules: [all] }, { rules: [all, more] }).differs).toBe(false);
  });

  it(`finds one value that differs deep in ${many} rules`, () => {
    const [a, b] = [manyRules(many), manyRules(many)];
    const at = sized(720, 7_320);
    const planted = b[at]!;
    b[at] = {
      ...planted,
      when: {
        ...planted.when,
        arguments: [
          { at: "/x", equals: -7 },
          { at: "/y", moreThan: 20 },
        ],
      },
    };
    const { allows, denies, capped, tests } = diff({ rules: a }, { rules: b });
    expect(capped).toEqual([]);
    // In proportion to the rules, and not to their pairs.
    expect(tests).toBeLessThan(800 * many);
    expect(allows.map(({ a: said, example }) => [said.rules, example.tool, example.caller])).toEqual(
      expect.arrayContaining([[[`r${at}`], `t${at % 97}`, `c${at % 13}`]]),
    );
    expect(denies.map(({ b: said }) => said.rules)).toEqual(expect.arrayContaining([[`r${at}`]]));
  });

  it(`finds one removed rule among ${many} about one argument of every tool`, () => {
    const rules = Array.from({ length: many }, (_, index): PolicyRule => {
      return { id: `r${index}`, effect: "deny", when: { arguments: [{ at: "/x", equals: index }] }, reason: "x" };
    });
    const { allows, capped } = diff({ rules }, { rules: rules.filter((_, index) => index !== many / 2) });
    expect(capped).toEqual([]);
    expect(allows.map(({ example }) => example.arguments)).toContainEqual({ x: many / 2 });
  });

  it("names limits that differ", () => {
    const grants = (requests: number): NonNullable<PolicyDocument["grants"]> => [
      { tool: "fetch", capability: { kind: "net.read", hosts: ["a.example"], requests } },
    ];
    const { limits, allows, denies, asks } = diff({ grants: grants(5) }, { grants: grants(9) });
    expect([allows, denies, asks]).toEqual([[], [], []]);
    expect(limits.map(({ sentence }) => sentence)).toEqual([
      'The limits of net.read for fetch ({"hosts":["a.example"]}): B has [{"requests":9}]; A has [{"requests":5}].',
    ]);
  });
});

describe("budgets of grants", () => {
  const net = (tool: string, host: string, requests?: number): GrantRule => ({
    tool,
    capability: { kind: "net.read", hosts: [host], ...(requests !== undefined && { requests }) },
  });
  it.each<[string, readonly GrantRule[], readonly GrantRule[]]>([
    [
      "swapped",
      [net("t", "a.example", 1), net("t", "b.example", 100)],
      [net("t", "a.example", 100), net("t", "b.example", 1)],
    ],
    ["of one tool beside all", [net("*", "a.example", 5)], [net("*", "a.example", 5), net("t", "a.example", 500)]],
    ["of one host beside all", [net("*", "*", 5)], [net("*", "*", 5), net("*", "a.example", 500)]],
    [
      "of one caller",
      [net("t", "a.example", 5)],
      [net("t", "a.example", 5), { ...net("t", "a.example", 9), caller: "ada" }],
    ],
    ["twice", [net("t", "a.example", 5)], [net("t", "a.example", 5), net("t", "a.example", 5)]],
  ])("differ where they are %s", (_, a, b) => {
    expect(diff({ grants: a }, { grants: b }).limits.length).toBeGreaterThan(0);
    expect(diff({ grants: b }, { grants: a }).limits.length).toBeGreaterThan(0);
  });
  it("are named as open beside a grant without one", () => {
    const limited = net("*", "a.example", 5);
    const { differs, capped } = diff({ grants: [limited] }, { grants: [limited, net("t", "a.example")] });
    expect([differs, capped.map(({ dimension }) => dimension)]).toEqual([false, ["limits of net.read"]]);
  });
  it("are none of a difference where no request is of both", () => {
    const grants = [net("t", "a.example", 5), net("t", "b.example")];
    expect(diff({ grants }, { grants: grants.toReversed() })).toMatchObject({ differs: false, capped: [] });
    const { limits, capped } = diff(
      { grants },
      { grants: [...grants, net("t", "c.example"), net("t", "d.example", 7)] },
    );
    expect([limits, capped]).toEqual([[], []]);
  });
});

it("takes each kind of the kernel apart", () => {
  expect(builtInFamilies.kinds.filter((kind) => shapeOf(kind) === undefined)).toEqual([]);
});

describe("hostile policies", () => {
  /** As many rules as a policy holds, in full; and fifty tests for each. */
  const [most, budget] = sized([2_000, 100_000], [20_000, 1_000_000]);

  it(`${most} rules that all differ end at the budget, with the dimension named`, () => {
    const rules = (effect: "ask" | "deny"): PolicyRule[] =>
      Array.from({ length: most }, (_, index) => {
        return { id: `r${index}`, effect, when: { tool: [`t${index}`] }, reason: "x" };
      });
    const { capped, tests } = diffPolicies(
      policyOf({ rules: rules("ask") }),
      policyOf({ rules: rules("deny") }),
      budget,
    );
    expect(capped).toEqual([{ dimension: "tool", reason: `The budget of ${budget} tests was spent on it.` }]);
    expect(tests).toBeLessThan(2 * budget);
  });

  it("conditions of four kinds on one argument say that they were not combined", () => {
    const rules: PolicyRule[] = [
      { at: "/u", hostIn: ["a.example"] },
      { at: "/u", contains: "x" },
      { at: "/u", longerThan: 9 },
      { at: "/u", pathIn: ["a/**"] },
    ].map((condition, index) => ({ id: `r${index}`, effect: "deny", when: { arguments: [condition] }, reason: "x" }));
    expect(diff({}, { rules }).capped.map(({ dimension }) => dimension)).toEqual(["argument /u"]);
  });
});

describe("keyhole policy diff", () => {
  const open = JSON.stringify({ version: "1", posture: "standard" });
  const closed = JSON.stringify({ version: "1", posture: "strict" });
  const run = (typed: readonly string[]) =>
    runCommand(["policy", "diff", ...typed], ioOf({ "a.json": open, "b.json": closed, "broken.json": "{" }));

  it("ends with 0 for equal policies, 1 for different ones, 2 for what is no policy, 3 without work left", async () => {
    expect(await run(["a.json", "a.json"])).toMatchObject({
      exitCode: 0,
      output: "Both policies answer every call alike.\n",
    });
    const { exitCode, output } = await run(["a.json", "b.json"]);
    expect(exitCode).toBe(1);
    expect(output).toMatch(/^B denies, and A does not:\n {2}B denies calls of every tool with tier 3/);
    expect(await run(["a.json", "broken.json"])).toMatchObject({ exitCode: 2, output: "" });
    expect(await run(["a.json", "gone.json"])).toMatchObject({ exitCode: 2 });
    expect(await run(["a.json", "b.json", "--tests", "1"])).toMatchObject({ exitCode: 3 });
    expect(await run(["a.json", "b.json", "--tests", "many"])).toMatchObject({ exitCode: 2 });
  });

  it("prints the same as data", async () => {
    const { output } = await run(["a.json", "b.json", "--json"]);
    expect(JSON.parse(output)).toMatchObject({ differs: true, denies: [{ example: { tier: 3 } }], capped: [] });
  });
});

describe("policies that differ in one class of calls", () => {
  const files = (...paths: string[]): Partial<PolicyDocument> => ({
    posture: "permissive",
    grants: [{ tool: "t", capability: { kind: "fs.read", paths } }],
  });
  const when = (condition: PolicyRule["when"]): Partial<PolicyDocument> => ({
    ...files("**"),
    rules: [{ id: "r", effect: "deny", when: condition, reason: "x" }],
  });
  const account = (...conditions: readonly object[]) =>
    when({ tool: ["t"], arguments: conditions.map((each) => ({ at: "/a", ...each }) as ArgumentCondition) });

  it.each<[string, Partial<PolicyDocument>, Partial<PolicyDocument>]>([
    ["deeper folders", files("x.txt", "*/x.txt"), files("**/x.txt")],
    ["deeper folders of a deny", when({ path: ["**/x.txt"] }), when({ path: ["x.txt", "*/x.txt"] })],
    ["a step within", files("s/*/t", "s/t"), files("s/**/t")],
    ["depth beyond what one glob counts", files("a", "*/a", "*/*/a"), files("**/a")],
    ["folders under folders", account({ pathIn: ["a.txt", "*/a.txt"] }), account({ pathIn: ["**/a.txt"] })],
    [
      "a name that holds a slash to what denies alone",
      files("*"),
      { ...files("*"), rules: when({ path: ["a/b"] }).rules! },
    ],
    ["a number that a text means", account({ equals: "10" }), account({ equals: "10" }, { lessThan: 5 })],
    [
      "a boolean that a text means",
      account({ equals: "true" }, { longerThan: 9 }),
      account({ equals: "false" }, { longerThan: 9 }),
    ],
    [
      "the same number beside a length",
      account({ equals: "10" }, { longerThan: 3 }),
      account({ equals: "11" }, { longerThan: 3 }),
    ],
  ])("are told apart: %s", (_, a, b) => {
    const { differs, capped } = diff(a, b);
    expect({ differs, capped }).toEqual({ differs: true, capped: [] });
    expect(diff(b, a).differs).toBe(true);
  });
});
