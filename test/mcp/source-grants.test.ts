import {
  type Capability,
  createKernel,
  defineTool,
  type Kernel,
  type PolicyDocument,
  type ToolManifest,
} from "@keyhole/kernel";
import { verifyProof } from "@keyhole/kernel/policy";
import { type McpEndpoint, mcpHttp, mcpSource } from "@keyhole/mcp";
import { mcpProcess } from "@keyhole/mcp/node";
import { describe, expect, it } from "vitest";
import { Scripted } from "./scripted.ts";
import { afterwards, closeAfterEach } from "./support.ts";

closeAfterEach();

/** A server with the access of a real one, and scripted answers. */
function reachedLike(endpoint: McpEndpoint): { readonly scripted: Scripted; readonly server: McpEndpoint } {
  const scripted = new Scripted({ announces: { prompts: {}, resources: {}, completions: {} } });
  return { scripted, server: { ...endpoint, open: () => scripted.open() } };
}

const overHttp = (): McpEndpoint => mcpHttp({ url: "http://tools.example.com:8931/mcp" });
const asProcess = (): McpEndpoint => mcpProcess({ command: "/usr/bin/node", args: ["server.mjs", "--read-only"] });

const grantsOf = (...capabilities: readonly Capability[]): PolicyDocument => ({
  version: "1",
  posture: "permissive",
  grants: capabilities.map((capability) => ({ tool: "*", capability })),
});
const web = (more: object): readonly Capability[] =>
  (["net.read", "net.write"] as const).map((kind) => ({
    kind,
    hosts: ["tools.example.com"],
    ports: [8931],
    ...more,
  }));
const command = (name: string, ...args: readonly string[]): Capability => ({
  kind: "process.spawn",
  commands: [{ command: name, args }],
});
const own = (): Capability => command("node", "server.mjs", "--read-only");
const deny = (when: object): Pick<PolicyDocument, "rules"> => ({
  rules: [{ id: "not-there", effect: "deny", when, reason: "Not there." }],
});
const lists = (more: object): Pick<PolicyDocument, "tools"> => ({
  tools: { peer_echo: more, peer__get_prompt: more, peer__complete: more, peer__read_resource: more },
});

const calls: readonly (readonly [tool: string, input: object, method: string])[] = [
  ["peer_echo", { message: "hello" }, "tools/call"],
  ["peer__get_prompt", { name: "p" }, "prompts/get"],
  ["peer__read_resource", { uri: "file:///x" }, "resources/read"],
  [
    "peer__complete",
    { ref: { type: "ref/resource", uri: "x" }, argument: { name: "a", value: "b" } },
    "completion/complete",
  ],
];

const refused: readonly (readonly [why: string, endpoint: () => McpEndpoint, policy: PolicyDocument])[] = [
  ["a grant of another command", asProcess, grantsOf(command("git", "status"))],
  ["a grant of the command with other arguments", asProcess, grantsOf(command("node", "other.mjs"))],
  ["a grant of fewer arguments", asProcess, grantsOf(command("node", "server.mjs"))],
  ["a rule about the command", asProcess, { ...grantsOf(own()), ...deny({ command: ["node"] }) }],
  ["a list of commands", asProcess, { ...grantsOf(own()), ...lists({ commands: { forbidden: ["node"] } }) }],
  ["a list of other commands", asProcess, { ...grantsOf(own()), ...lists({ commands: { allowed: ["git"] } }) }],
  ["a grant of another host", overHttp, grantsOf(...web({ hosts: ["api.example.com"] }))],
  ["a grant of a wildcard", overHttp, grantsOf(...web({ hosts: ["*"] }))],
  ["a grant of another port", overHttp, grantsOf(...web({ ports: [443] }))],
  ["a grant of another path", overHttp, grantsOf(...web({ paths: ["/other"] }))],
  ["a grant to read alone", overHttp, grantsOf(...web({}).slice(0, 1))],
  ["a rule about the host", overHttp, { ...grantsOf(...web({})), ...deny({ host: ["tools.example.com"] }) }],
  ["a rule about any host", overHttp, { ...grantsOf(...web({})), ...deny({ host: ["*"] }) }],
  ["a rule about the path", overHttp, { ...grantsOf(...web({})), ...deny({ path: ["/mcp"] }) }],
  ["a rule about the method", overHttp, { ...grantsOf(...web({})), ...deny({ method: ["POST"] }) }],
  ["a list of hosts", overHttp, { ...grantsOf(...web({})), ...lists({ hosts: { forbidden: ["*.example.com"] } }) }],
];

async function kernelWith(policy: PolicyDocument): Promise<Kernel> {
  const kernel = await createKernel({ policy });
  afterwards(() => kernel.close());
  return kernel;
}

describe("the access of a server's tools", () => {
  it.each(refused)("is refused by %s, in each call, before a question", async (_, endpoint, policy) => {
    const asks: unknown[] = [];
    const kernel = await createKernel({
      policy: { ...policy, posture: "standard" },
      approver: async (request) => (asks.push(request), { answer: "allow", scope: "once", approver: "ada" }),
    });
    afterwards(() => kernel.close());
    const { server, scripted } = reachedLike(endpoint());
    const source = await mcpSource(kernel, { name: "peer", server, era: "2025-11-25" });
    afterwards(() => source.close());
    for (const [tool, input, method] of calls) {
      const result = await kernel.call(tool, input);
      expect(result, tool).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
      expect(scripted.heard.map((each) => each.method)).not.toContain(method);
    }
    expect(asks).toEqual([]);
  });

  const granted = [
    ["a process", asProcess, grantsOf(own()), [["process.spawn", "direct", "node"]]],
    [
      "a host",
      overHttp,
      grantsOf(...web({ paths: ["/mcp"] })),
      [
        ["net.read", "direct", "GET tools.example.com:8931/mcp"],
        ["net.write", "direct", "POST tools.example.com:8931/mcp"],
      ],
    ],
  ] as const;

  it.each(granted)(
    "to %s is granted by its narrowest grant, and stands on record",
    async (_, endpoint, policy, uses) => {
      const kernel = await kernelWith(policy);
      const { server, scripted } = reachedLike(endpoint());
      const source = await mcpSource(kernel, { name: "peer", server, era: "2025-11-25" });
      afterwards(() => source.close());
      const result = await kernel.call("peer_echo", { message: "hello" });
      expect(result).toMatchObject({ ok: true });
      expect(scripted.calls).toEqual(["echo"]);
      const used = (await kernel.audit.read()).flatMap((event) =>
        event.type === "capability.used" ? [event.payload] : [],
      );
      expect(used.map(({ kind, operation, target }) => [kind, operation, target])).toEqual(uses);
    },
  );

  it("that another layer leaves out is refused: the call's own grants, a caller's, a caller's list of tools", async () => {
    const kernel = await kernelWith(grantsOf(own()));
    const { server, scripted } = reachedLike(asProcess());
    const source = await mcpSource(kernel, { name: "peer", server, era: "2025-11-25" });
    afterwards(() => source.close());
    const grants = [command("git", "status")];
    expect(await kernel.call("peer_echo", {}, { grants })).toMatchObject({ error: { code: "CAPABILITY_DENIED" } });
    expect(await kernel.call("peer_echo", {}, { grants: [own()] })).toMatchObject({ ok: true });
    expect(await kernel.preview("peer_echo", {}, { grants })).toMatchObject({ decision: "deny" });
    expect(kernel.list({ caller: "desk" }).length).toBeGreaterThan(1);
    await kernel.setPolicy(grantsOf(command("git", "status")));
    expect(kernel.list({ caller: "desk" })).toEqual([]);
    expect(scripted.calls).toEqual(["echo"]);
  });

  it("that only an observing policy would refuse is made, with a warning", async () => {
    const kernel = await kernelWith({ ...grantsOf(own()), ...deny({ command: ["node"] }), enforcement: "observe" });
    const { server } = reachedLike(asProcess());
    const source = await mcpSource(kernel, { name: "peer", server, era: "2025-11-25" });
    afterwards(() => source.close());
    const result = await kernel.call("peer_echo", {});
    expect(result).toMatchObject({ ok: true, meta: { warnings: [expect.stringContaining("Not there.")] } });
  });

  it("is verified from the proof of a refusal", async () => {
    const policy = { ...grantsOf(own()), ...deny({ command: ["node"] }) };
    const kernel = await kernelWith(policy);
    const { server } = reachedLike(asProcess());
    const source = await mcpSource(kernel, { name: "peer", server, era: "2025-11-25" });
    afterwards(() => source.close());
    const { proof } = await kernel.call("peer_echo", {});
    const [tool] = kernel.list({ text: "echo" });
    expect(proof).toMatchObject({
      reasonCode: "target-denied",
      request: { kind: "process.spawn", target: "node", reason: "forbidden" },
    });
    const { manifest } = tool!;
    const passes = async (of: ToolManifest): Promise<boolean> => {
      const { steps } = await verifyProof(proof, { policy, tool: { manifest: of }, input: {} });
      return steps.some(({ name, outcome }) => name === "re-evaluation" && outcome === "passed");
    };
    expect(await passes(manifest)).toBe(true);
    expect(await passes({ ...manifest, capabilities: [] })).toBe(false);
  });

  it("is stated by each server, with a kind that it declares", async () => {
    const kernel = await kernelWith(grantsOf(own()));
    const { server } = reachedLike(asProcess());
    await expect(mcpSource(kernel, { name: "peer", server: { ...server, needs: [] } })).rejects.toThrow(
      "process.spawn",
    );
    const other = await mcpSource(kernel, {
      name: "peer",
      server: { ...server, needs: [{ kind: "process.spawn", command: "git", args: [] }, ...server.needs] },
      era: "2025-11-25",
    }).then(
      () => "opened",
      ({ message }: Error) => message,
    );
    expect(other).toContain("The tool does not declare process.spawn of git.");
  });
});

describe("the budget of a server's grant", () => {
  const exceeded = { ok: false, error: { code: "BOUNDS_EXCEEDED" } };

  async function open(policy: PolicyDocument, answer?: object): Promise<readonly [Kernel, Scripted]> {
    const kernel = await kernelWith(policy);
    const { server, scripted } = reachedLike(overHttp());
    if (answer) scripted.options.call = () => answer;
    const source = await mcpSource(kernel, { name: "peer", server, era: "2025-11-25" });
    afterwards(() => source.close());
    return [kernel, scripted];
  }

  it("counts the bytes of the arguments, and sends none beyond it", async () => {
    const [kernel, scripted] = await open(grantsOf(...web({ bytes: 100 })));
    expect(await kernel.call("peer_echo", { a: "x".repeat(100) })).toMatchObject(exceeded);
    expect(scripted.calls).toEqual([]);
    expect(await kernel.call("peer_echo", { a: "x" })).toMatchObject({ ok: true });
  });

  const long = [{ type: "text", text: "x".repeat(500) }];
  it.each([
    ["a result", { content: long }],
    ["an error", { content: long, isError: true }],
  ])("counts the bytes of %s, and gives none beyond it", async (_, answer) => {
    const [kernel] = await open(grantsOf(...web({ bytes: 400 })), answer);
    const result = await kernel.call("peer_echo", {});
    expect(result).toMatchObject(exceeded);
    expect(JSON.stringify(result)).not.toContain("xxx");
  });

  it("is the narrowest of its layers: the grants of a call, the bounds of a tool", async () => {
    const [kernel, scripted] = await open(grantsOf(...web({})));
    const input = { a: "x".repeat(100) };
    expect(await kernel.call("peer_echo", input, { grants: web({ bytes: 100 }) })).toMatchObject(exceeded);
    await kernel.setPolicy({ ...grantsOf(...web({})), tools: { peer_echo: { bounds: { networkBytes: 100 } } } });
    expect(await kernel.call("peer_echo", input)).toMatchObject(exceeded);
    expect(scripted.calls).toEqual([]);
  });

  it("counts each call that a tool makes within its own call", async () => {
    const [kernel, scripted] = await open(
      grantsOf({ kind: "tool.call", tools: ["peer_echo"] }, ...web({ requests: 2 })),
    );
    const thrice = defineTool({
      name: "thrice",
      version: "1.0.0",
      description: "Calls the server three times.",
      determinism: "external",
      effects: ["net.read", "net.write"],
      capabilities: [{ kind: "tool.call", tools: ["peer_echo"] }, ...web({})],
      input: { type: "object" },
      output: { kind: "json" },
      execute: async (_, { tools }) => {
        const codes: string[] = [];
        for (let call = 0; call < 3; call++) {
          const result = await tools.call("peer_echo", {});
          codes.push(result.ok ? "OK" : result.error.code);
        }
        return codes;
      },
    });
    expect(kernel.registerTrusted(thrice)).toMatchObject({ ok: true });
    expect(await kernel.call("thrice", {})).toMatchObject({ data: ["OK", "OK", "BOUNDS_EXCEEDED"] });
    expect(scripted.calls).toHaveLength(2);
  });
});
