import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CallResult, hashJson } from "@keyhole/kernel";
import { configuredOptions, loadConfig, type LoadConfig, openConfigured } from "@keyhole/worker-host/node/config";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { afterAll, describe, expect, it, vi } from "vitest";
import { formats, inJson, inToml, inTs, inYaml } from "./documents.ts";

const folder = mkdtempSync(join(tmpdir(), "keyhole-config-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
  vi.unstubAllEnvs();
});

let count = 0;
function load(text: string, end: string): Promise<LoadConfig> {
  const file = `${count++}.${end}`;
  writeFileSync(join(folder, file), text);
  return loadConfig(file, folder);
}

/** What a kernel of a configuration decides, without what differs from call to call. */
async function decisionsOf(text: string, end: string): Promise<unknown> {
  const loaded = await load(text, end);
  if (!loaded.ok) throw new Error(loaded.message);
  vi.stubEnv("KEYHOLE_TEST_WEATHER", "0123456789abcdef");
  const sent: string[] = [];
  const fetch = async (url: string, { headers }: RequestInit): Promise<Response> => {
    sent.push(`${url} ${new Headers(headers).get("authorization")}`);
    return Response.json({ temp: 21 });
  };
  const { kernel, close } = await openConfigured(loaded.value, [], { brokers: [netBroker({ fetch })] });
  const calls: CallResult[] = [];
  for (const [tool, input] of [
    ["weather", { city: "Bern" }],
    ["weather", { city: "Atlantis" }],
    ["weather", { town: "Bern" }],
    ["report", { city: "Oslo" }],
    ["report", { city: "Atlantis" }],
    ["weather", { city: "Rome" }],
    ["weather", { city: "Kyiv" }],
    ["wether", {}],
  ] as const)
    calls.push(await kernel.call(tool, input));
  const tools = kernel.list().map(({ id, hash }) => [id, hash]);
  const { policyHash } = kernel;
  await close();
  return {
    tools,
    policyHash,
    sent,
    calls: calls.map((each) => (each.ok ? each.data : `${each.error.code} ${each.error.message}`)),
    triggers: hashJson(configuredOptions(loaded.value).modeTriggers?.map((each) => ({ ...each })) ?? []),
  };
}

describe("one configuration in four formats", () => {
  it("starts kernels that decide the same", async () => {
    const [first, ...others] = await Promise.all(
      Object.entries(formats).map(async ([end, text]) => decisionsOf(text, end)),
    );
    expect(first).toMatchObject({
      sent: ["Bern", "Oslo", "Rome"].map(
        (city) => `https://api.example.com/v1/weather?city=${city} Bearer 0123456789abcdef`,
      ),
      calls: [
        { celsius: 21 },
        expect.stringContaining("POLICY_DENIED") as string,
        expect.stringContaining("INVALID_INPUT") as string,
        { city: "Oslo", celsius: 21 },
        expect.stringContaining("TOOL_ERROR now: ") as string,
        { celsius: 21 },
        expect.stringContaining("RATE_LIMITED") as string,
        expect.stringContaining("TOOL_NOT_FOUND") as string,
      ],
    });
    for (const other of others) expect(other).toEqual(first);
  });
});

/** The line of a text in which a part first stands. */
const lineOf = (text: string, part: string): number => text.slice(0, text.indexOf(part)).split("\n").length;

describe("a wrong configuration is refused with file and line", () => {
  it.each([
    // The change, by format; then a part of the line, and of the message.
    [
      "an unknown section",
      {
        json: ['"limits":', '"limit":'],
        yaml: ["limits:", "limit:"],
        toml: ["[limits.weather]", "[limit.weather]"],
        ts: ["limits:", "limit:"],
      },
      "limit",
      "limits",
    ],
    [
      "an unknown key of a request",
      {
        json: ['"headers":', '"header":'],
        yaml: ["      headers:", "      header:"],
        toml: ["headers =", "header ="],
        ts: ["headers:", "header:"],
      },
      "header",
      "headers",
    ],
    [
      "a host that is free",
      {
        json: ["api.example.com/v1", "{city}/v1"],
        yaml: ["api.example.com/v1", "{city}/v1"],
        toml: ["api.example.com/v1", "{city}/v1"],
        ts: ["api.example.com/v1", "{city}/v1"],
      },
      "{city}/v1",
      "depends on `city`",
    ],
    [
      "a step forwards",
      {
        json: ['"input#/city" } } }]', '"later#/city" } } }]'],
        yaml: ['input: { city: { $from: "input#/city"', 'input: { city: { $from: "later#/city"'],
        toml: ['input.city."$from" = "input', 'input.city."$from" = "later'],
        ts: ['"input#/city" } } }]', '"later#/city" } } }]'],
      },
      "later#",
      'no step "later"',
    ],
    [
      "a rule without a reason of its kind",
      {
        json: ['"deny"', '"forbid"'],
        yaml: ["effect: deny", "effect: forbid"],
        toml: ['"deny"', '"forbid"'],
        ts: ['"deny"', '"forbid"'],
      },
      "forbid",
      "deny",
    ],
    [
      "a bound that is none",
      {
        json: ["callsPerHour", "callsPerDay"],
        yaml: ["callsPerHour", "callsPerDay"],
        toml: ["callsPerHour", "callsPerDay"],
        ts: ["callsPerHour", "callsPerDay"],
      },
      "callsPerDay",
      "callsPerHour",
    ],
    [
      "a trigger without an end",
      {
        json: ["DEGRADED", "BROKEN"],
        yaml: ["DEGRADED", "BROKEN"],
        toml: ["DEGRADED", "BROKEN"],
        ts: ["DEGRADED", "BROKEN"],
      },
      "BROKEN",
      "",
    ],
    [
      "a cycle",
      {
        json: ['"tool": "weather", "input"', '"tool": "report", "input"'],
        yaml: ["tool: weather\n        input", "tool: report\n        input"],
        toml: ['tool = "weather"\ninput', 'tool = "report"\ninput'],
        ts: ['tool: "weather", input', 'tool: "report", input'],
      },
      "report",
      "report → report",
    ],
  ] as const)("%s", async (_, changes, part, message) => {
    for (const [end, [before, after]] of Object.entries(changes)) {
      const original = formats[end as keyof typeof formats];
      expect(original).toContain(before);
      const text = original.replace(before, after);
      const loaded = await load(text, end);
      expect(loaded, end).toMatchObject({ ok: false });
      if (loaded.ok) continue;
      expect(loaded.message).toMatch(/^\d+\.\w+:\d+:\d+ /);
      expect(loaded.message).toContain(message);
      const { line } = loaded.at;
      expect(
        text
          .split("\n")
          .slice(line - 1, line + 6)
          .join("\n"),
        `${end}: ${loaded.message}`,
      ).toContain(part);
      expect(line, `${end}: ${loaded.message}`).toBeGreaterThan(1);
    }
  });

  it.each([
    ["json", inJson.replace('"version": "1",', '"version": "1",,'), 2, "expected a name"],
    ["json", inJson.replace('  "limits"', '  "version": "1",\n  "limits"'), lineOf(inJson, '"limits"'), "twice"],
    ["yaml", inYaml.replace("limits:", "  limits:"), lineOf(inYaml, "limits:"), "limits"],
    ["yaml", inYaml.replace("limits:", 'version: "1"\nlimits:'), lineOf(inYaml, "limits:"), "unique"],
    ["toml", inToml.replace("[limits.weather]", "[limits.weather"), lineOf(inToml, "[limits"), "TOML"],
    ["toml", inToml.replace("[limits.weather]", "[secrets.weather]"), lineOf(inToml, "[secrets.weather]"), "TOML"],
    ["toml", inToml.replace('version = "1"\n\n[http', "version = 1979-05-27\n\n[http"), 2, "form in JSON"],
    ["ts", inTs.replace("limits:", 'version: "1",\n  limits:'), lineOf(inTs, "limits:"), "twice"],
    ["ts", inTs.replace('env: "KEYHOLE_TEST_WEATHER"', "env: (() => 1) as never"), lineOf(inTs, "env:"), "plain JSON"],
  ] as const)("a broken text in %s (%#)", async (end, text, line, message) => {
    const loaded = await load(text, end);
    expect(loaded).toMatchObject({ ok: false, message: expect.stringContaining(message) as string });
    if (!loaded.ok) expect([loaded.at.line, loaded.message]).toEqual([line, loaded.message]);
  });

  it.each([
    ["an anchor", 'version: &a "1"\n', "An anchor is not part of a configuration"],
    ["a bomb", 'a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\nversion: "1"\n', "An a"],
    ["a tag", 'version: !!str "1"\n', "A tag is not part of a configuration"],
    ["a merge key", 'version: "1"\n<<: { tools: [] }\n', ""],
    ["deep nesting", `version: "1"\ntools: ${"[".repeat(20_000)}`, ""],
    ["two documents", 'version: "1"\n---\nversion: "1"\n', "one document"],
    ["nothing", "", ""],
    ["a text without an end", `version: "1"\n# ${"x".repeat(1_100_000)}`, "at most"],
  ])("YAML with %s", async (_, text, message) => {
    expect(await load(text, "yaml")).toMatchObject({ ok: false, message: expect.stringContaining(message) as string });
  });

  it("two tools of one name, and pipelines in a circle", async () => {
    const own = JSON.parse(inJson) as { pipelines: Record<string, { steps: { tool: string }[] }>; http: object };
    const twice = { ...own, pipelines: { ...own.pipelines, weather: own.pipelines["report"] } };
    expect(await load(JSON.stringify(twice, undefined, 2), "json")).toMatchObject({
      message: expect.stringContaining("Two tools have the name weather") as string,
    });
    const circle = structuredClone(own);
    circle.pipelines["other"] = structuredClone(circle.pipelines["report"]!);
    circle.pipelines["report"]!.steps[0]!.tool = "other";
    circle.pipelines["other"].steps[0]!.tool = "report";
    expect(await load(JSON.stringify(circle), "json")).toMatchObject({
      message: expect.stringContaining("report → other → report") as string,
    });
  });

  it("a file of another kind, and one that is not there", async () => {
    expect(await load(inJson, "ini")).toMatchObject({ ok: false });
    expect(await loadConfig("nowhere.json", folder)).toMatchObject({
      message: expect.stringContaining("nowhere.json:1:1 The file is unreadable") as string,
    });
  });
});

it.each(["absent.json", "."])("a policy whose file %j cannot be read is named as such", async (file) => {
  const loaded = await load(JSON.stringify({ version: "1", policy: file }), "json");
  expect(loaded).toMatchObject({
    ok: false,
    message: expect.stringContaining("policy's file is unreadable") as string,
  });
});
