import {
  type CallOptions,
  type CallResult,
  type Capability,
  type BrokerReply,
  createKernel,
  type IsolateHost,
  type Kernel,
} from "@keyhole/kernel";
import { processSpawn } from "@keyhole/kernel/families";
import type { SpawnLimits } from "@keyhole/worker-host/brokers/spawn";
import { processPackage } from "@keyhole/worker-host/process";
import type { WasiCommand } from "@keyhole/worker-host/wasm/modules";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSession, type SessionOptions } from "../brokers/session.ts";
import type { HostTraits } from "../contract/isolate-subject.ts";
import { bytes, describeSpawn, outputOf, runWith } from "../contract/spawn.ts";
import { expectSoundLog, openPolicy } from "../support/kernel.ts";
import { runsWhole } from "../support/part.ts";
import { modules } from "./tools.ts";
import spawner from "keyhole:./tools/spawner.ts";

export interface CommandHost extends HostTraits {
  open(options: {
    readonly commands: Readonly<Record<string, WasiCommand>>;
    readonly commandLimits?: SpawnLimits;
  }): Promise<IsolateHost>;
  /** Whether it can store files. Default: yes. */
  readonly stores?: boolean;
}

const FUEL = 100_000_000;
const env = { PLACE: "here" };
const commands = {
  subject: { module: modules.subject, env, fuel: FUEL, memoryBytes: 4 * 2 ** 20 },
  exits: { module: modules.exits },
  sockets: { module: modules.sockets },
  sleeper: { module: modules.sleeper },
} as const satisfies Record<string, WasiCommand>;

function brokerOf({ brokers }: IsolateHost) {
  const broker = brokers.find(({ families }) => families.includes(processSpawn));
  if (broker === undefined) throw new Error("no broker for commands");
  return broker;
}

const ended = (stdout: string, fuelUsed: number, exitCode = 0, stderr = "") => ({
  stdout,
  value: { exitCode, stderr, fuelUsed },
});
const refusal = (message: string) => ({ error: { code: "BOUNDS_EXCEEDED", message } });

/** What each run says and costs, everywhere. Measured once, on Node; a change of a source or of the count changes it. */
const runs: readonly (readonly [deed: string, value: string, expected: object])[] = [
  ["echo", "x", ended('{"deed":"echo","value":"x"}', 11_977)],
  ["arguments", "", ended('{"argc":1,"first":"subject","last":"subject","place":"here"}', 18_951)],
  ["exit", "it", ended("", 14_268, 3, "a first line\nthere is no such thing as it\n")],
  ["trap", "", ended("", 10_853, 134, "It trapped.\n")],
  ["abort", "", ended("", 11_174, 134, "about to abort\nIt trapped.\n")],
  ["clock", "", ended('{"at":0,"slept":3600}', 16_036)],
  ["random", "", ended('"000b0d6189666ced7f3e90696ef30222"', 34_655)],
  ["loop", "", refusal(`subject used up its fuel of ${FUEL}.`)],
  ["hoard", "", refusal("subject needs more than 4194304 bytes of memory.")],
  ["recurse forever", "", refusal("subject exceeded its bound for stack, 524256.")],
  ["flood", "", refusal("subject wrote more than 4194304 bytes.")],
];

/** What WASI commands do beyond what every command does: the same on each host. */
export function describeCommands(name: string, { open, preempts, part, stores = true }: CommandHost): void {
  const opened: IsolateHost[] = [];
  // A command that is stopped has to be one that would go on.
  const endless = { subject: { module: modules.subject, env } };
  describeSpawn(`modules in ${name}`, {
    preempts,
    ...(part && { part }),
    async open(commandLimits) {
      opened.push(await open({ commands: preempts ? endless : commands, commandLimits }));
      return brokerOf(opened[0]!);
    },
    close: async () => opened[0]?.close(),
  });

  describe(`a module in ${name}`, () => {
    let host: IsolateHost;
    beforeAll(async () => {
      host = await open({ commands });
    });
    afterAll(() => host.close());

    const run = (deed: string, value = "", more: object = {}, session: SessionOptions = {}): Promise<BrokerReply> =>
      brokerOf(host).serve(
        {
          kind: "process.spawn",
          operation: "run",
          arguments: { command: "subject", args: [], ...more },
          body: bytes(JSON.stringify({ deed, value })),
        },
        openSession({ grants: [{ kind: "process.spawn", commands: [{ command: "subject" }] }], ...session }),
      );

    it.each(runs)("%s %s: says the same for the same fuel", async (deed, value, expected) => {
      const reply = await run(deed, value);
      const { peakMemoryBytes: _, ...said } = (reply.ok ? reply.value : {}) as Record<string, unknown>;
      const { code, message } = reply.ok ? { code: "", message: "" } : reply.error;
      expect(reply.ok ? { stdout: outputOf(reply), value: said } : { error: { code, message } }).toEqual(expected);
    });

    it("keeps nothing from one run to the next", async () => {
      expect(await run("random")).toEqual(await run("random"));
    });

    // From here on nothing depends on the engine.
    if (!runsWhole(part)) return;

    it("ends at the bound of its request, and not one unit before", async () => {
      const reply = await run("echo");
      const { fuelUsed, peakMemoryBytes } = (reply.ok ? reply.value : {}) as Record<string, number>;
      expect(await run("echo", "", { fuel: fuelUsed })).toMatchObject({ ok: true, value: { fuelUsed } });
      expect(await run("echo", "", { fuel: fuelUsed! - 1 })).toMatchObject({
        ok: false,
        error: { code: "BOUNDS_EXCEEDED" },
      });
      expect(await run("echo", "", { memoryBytes: peakMemoryBytes })).toMatchObject({ ok: true });
      expect(await run("echo", "", { memoryBytes: 65_536 })).toMatchObject({
        ok: false,
        error: { code: "BOUNDS_EXCEEDED" },
      });
      const more = await run("loop", "", { fuel: FUEL * 2 });
      expect(more).toMatchObject({ error: { message: `subject used up its fuel of ${FUEL}.` } });
    });

    it.each([0, 1, 127, 128, 255, 256, 0x7fffffff, 0x80000000, 0xffffffff])("exits with %d", async (exitCode) => {
      const stdin = new Uint8Array(new Uint32Array([exitCode]).buffer);
      const reply = await runWith(brokerOf(host), stdin, { command: "exits" });
      expect(reply).toMatchObject({ ok: true, value: { exitCode } });
    });

    it("is told that there are no sockets", async () => {
      const reply = await runWith(brokerOf(host), undefined, { command: "sockets" });
      expect(reply).toMatchObject({ ok: true, value: { exitCode: 232 } });
    });

    it("sleeps for as long as it says where its call has a real clock, and elsewhere no time passes", async () => {
      const command = { kind: "process.spawn", commands: [{ command: "sleeper" }] } as const;
      const sleep = async (grants: readonly Capability[]): Promise<{ exitCode: number; tookMs: number }> => {
        const start = performance.now();
        const reply = await run("", "", { command: "sleeper" }, { grants });
        if (!reply.ok) throw new Error(reply.error.message);
        return { exitCode: (reply.value as { exitCode: number }).exitCode, tookMs: performance.now() - start };
      };
      expect((await sleep([command])).exitCode).toBe(30);
      const { exitCode, tookMs } = await sleep([command, { kind: "clock" }]);
      // Timers are rounded, and so are clocks: by a millisecond each.
      expect(exitCode).toBeGreaterThanOrEqual(28);
      expect(tookMs).toBeGreaterThanOrEqual(28);
    });

    it("has real chance only where the call does", async () => {
      const grants: readonly Capability[] = [
        { kind: "process.spawn", commands: [{ command: "subject" }] },
        { kind: "random" },
      ];
      const twice = [await run("random", "", {}, { grants }), await run("random", "", {}, { grants })];
      expect(outputOf(twice[0]!)).not.toBe(outputOf(twice[1]!));
    });

    it.each(["net.read", "kv.read", "process.spawn", "tool.call", "db.read"])(
      "is given nothing but files: %s",
      async (kind) => {
        const reply = await run("ask", JSON.stringify({ kind, operation: "x", arguments: {} }));
        expect(outputOf(reply)).toContain("CAPABILITY_DENIED");
      },
    );
  });

  describe(`under a kernel, a module in ${name}`, () => {
    let kernel: Kernel;
    const folder = `commands-${Math.random().toString(36).slice(2)}`;
    beforeAll(async () => {
      const grants: readonly Capability[] = [
        { kind: "process.spawn", commands: [{ command: "subject" }] },
        { kind: "fs.read", paths: [`${folder}/**`] },
        { kind: "fs.write", paths: [`${folder}/**`] },
      ];
      kernel = await createKernel({
        host: await open({ commands }),
        policy: {
          ...openPolicy,
          rules: [{ id: "run", effect: "allow", when: {}, reason: "A test." }],
          grants: grants.map((capability) => ({ tool: "*", capability })),
        },
      });
      for (const tool of [program, spawner]) expect(kernel.register(tool)).toMatchObject({ ok: true });
    });
    afterAll(async () => {
      await expectSoundLog(kernel);
      await kernel.close();
    });

    const call = (deed: string, value = "", options: CallOptions = {}): Promise<CallResult> =>
      kernel.call("program", { deed, value }, options);

    it("is a tool: input, output and fuel", async () => {
      const result = await call("echo", "x");
      expect(result).toMatchObject({
        ok: true,
        data: { deed: "echo", value: "x" },
        effects: ["process.spawn"],
        meta: { fuelUsed: 11_977 },
      });
      expect(result.meta.peakMemoryBytes).toBeGreaterThan(0);
    });

    it("is a tool with bounds of its own", async () => {
      const error = { code: "BOUNDS_EXCEEDED", message: expect.stringContaining("fuel of 1000") as string };
      expect(await call("loop", "", { bounds: { fuel: 1_000 } })).toMatchObject({ ok: false, error });
      expect(await call("exit", "it")).toMatchObject({
        ok: false,
        error: { code: "TOOL_ERROR", message: expect.stringContaining("exit code 3") as string },
      });
    });

    it("says that it is well", async () => {
      expect(await kernel.health("program")).toEqual({ state: "healthy" });
    });

    // Without a store there is nothing to grant.
    if (stores) {
      it("has the files that its call was granted, and no others", async () => {
        const written = { ok: true, data: { written: `${folder}/a` } };
        expect(await call("write", `${folder}/a`)).toMatchObject(written);
        const read = { ok: true, data: { read: "written by a tool" }, effects: ["fs.read", "process.spawn"] };
        expect(await call("read", `${folder}/a`)).toMatchObject(read);
        expect(await call("read", "elsewhere")).toMatchObject({ ok: true, data: { failed: "open", errno: 2 } });
        expect(await call("write", "elsewhere")).toMatchObject({ ok: true, data: { failed: "open", errno: 2 } });
        expect(await call("read", `${folder}/../elsewhere`)).toMatchObject({ ok: true, data: { failed: "open" } });
        expect(await call("remove", `${folder}/a`)).toMatchObject({ ok: true, data: true });
      });
    }

    it("is run by a tool", async () => {
      expect(await kernel.call(spawner, { deed: "exit", value: "it" })).toMatchObject({
        ok: true,
        data: { exitCode: 3, stdout: "", stderr: "a first line\nthere is no such thing as it\n" },
      });
      expect(await kernel.call("spawner", { deed: "loop" })).toMatchObject({
        ok: false,
        error: { code: "BOUNDS_EXCEEDED" },
      });
    });

    it("is run by many tools at once", async () => {
      const results = await Promise.all(
        Array.from({ length: 4 }, (_, i) =>
          kernel.call("spawner", { deed: "echo", value: `${i}` }, { sessionId: `${i}` }),
        ),
      );
      for (const result of results) expect(result).toMatchObject({ ok: true, data: { exitCode: 0 } });
    });

    it.each(["rm", "constructor", "__proto__"])("is not a tool where nobody offered it: %s", (command) => {
      const capabilities = [{ kind: "process.spawn", commands: [{ command }] }] as const;
      const tool = processPackage({ ...definition, name: "other", process: { command }, capabilities });
      expect(kernel.register(tool)).toMatchObject({
        ok: false,
        error: { code: "INVALID_MANIFEST", path: "/process/command" },
      });
    });
  });

  describe(`the commands of ${name} are refused`, () => {
    it.each([
      ["a path", { "../x": { module: modules.subject } }, "a command is a name"],
      ["no module", { x: { module: new Uint8Array(8) } }, "INVALID_MODULE"],
      ["a module that is no command", { x: { module: modules.plain } }, "does not export `_start`"],
      ["a variable that is none", { x: { module: modules.exits, env: { "a=b": "" } } }, "a variable is a name"],
      ["fuel that is no number", { x: { module: modules.exits, fuel: NaN } }, "takes a whole number from 1"],
      ["fuel without end", { x: { module: modules.exits, fuel: Number.MAX_SAFE_INTEGER } }, "fuel is at most"],
    ])("when the host is made: %s", async (_, wrong, message) => {
      await expect((async () => open({ commands: wrong }))()).rejects.toThrow(message);
    });
  });
}

const definition = {
  name: "program",
  version: "1.0.0",
  description: "Under test.",
  process: { command: "subject" },
  effects: ["process.spawn", "fs.read", "fs.write"],
  capabilities: [
    { kind: "process.spawn", commands: [{ command: "subject" }] },
    { kind: "fs.read", paths: ["**"], optional: true },
    { kind: "fs.write", paths: ["**"], optional: true },
  ],
  input: { type: "object" },
  output: { kind: "json" },
} as const;

const program = processPackage(definition);
