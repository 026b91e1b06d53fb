import type { Broker, BrokerReply } from "@keyhole/kernel";
import type { SpawnLimits } from "@keyhole/worker-host/brokers/spawn";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSession } from "../brokers/session.ts";
import { type Part, runsWhole } from "../support/part.ts";

export interface SpawnSubject {
  /** Offers `subject` with the one variable `PLACE=here`: it does what its input says, `{ "deed": "…", "value": "…" }`. */
  open(limits: SpawnLimits): Broker | Promise<Broker>;
  close?(): Promise<void>;
  /** Whether a command that never yields is stopped with its call. */
  readonly preempts: boolean;
  /** How much of the contract it runs. Default: all of it. */
  readonly part?: Part;
}

const spawnLimits = { stdinBytes: 200_000, stdoutBytes: 100_000, stderrBytes: 1_000, processes: 2 } as const;

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const outputOf = (reply: BrokerReply): string =>
  reply.ok ? new TextDecoder().decode(reply.body) : reply.error.message;

export interface RunOptions {
  readonly args?: readonly string[];
  readonly signal?: AbortSignal;
  readonly command?: string;
  readonly caller?: string;
}

/** Here the broker is looked at, and not the grant. */
export function runWith(
  broker: Broker,
  stdin: Uint8Array | undefined,
  { args = [], command = "subject", ...of }: RunOptions = {},
): Promise<BrokerReply> {
  const session = { ...openSession(of), refusal: () => undefined };
  const request = { kind: "process.spawn", operation: "run", arguments: { command, args: [...args] } } as const;
  return broker.serve({ ...request, ...(stdin && { body: stdin }) }, session);
}

/** What every broker for commands must do, whatever its commands are. */
export function describeSpawn(name: string, subject: SpawnSubject): void {
  describe(`commands that are ${name}`, () => {
    let broker: Broker;
    beforeAll(async () => {
      broker = await subject.open(spawnLimits);
    });
    afterAll(() => subject.close?.());

    const run = (deed: string, value = "", options?: RunOptions): Promise<BrokerReply> =>
      runWith(broker, bytes(JSON.stringify({ deed, value })), options);

    it("give their output, their errors and their code", async () => {
      const reply = await run("exit", "it");
      expect(reply).toMatchObject({
        ok: true,
        value: { exitCode: 3, stderr: "a first line\nthere is no such thing as it\n" },
        body: new Uint8Array(),
      });
      expect(await run("echo")).toMatchObject({ ok: true, value: { exitCode: 0, stderr: "" } });
    });

    it("can write bytes that are no text", async () => {
      expect(await run("bytes")).toMatchObject({ ok: true, body: new Uint8Array([255, 254, 0, 1]) });
    });

    it("are ended when they write without end", async () => {
      expect(await run("flood")).toMatchObject({ ok: false, error: { code: "BOUNDS_EXCEEDED" } });
    });

    if (subject.preempts) {
      it("end with their call, also when they never yield, and make room", async () => {
        for (let i = 0; i < spawnLimits.processes + 1; i++) {
          const controller = new AbortController();
          const reply = run("loop", "", { signal: controller.signal });
          setTimeout(() => controller.abort(), 50);
          expect(await reply).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
        }
        expect(await run("echo")).toMatchObject({ ok: true });
      });
    }

    it("wait for a place where as many run as may, and all run", async () => {
      const callers = ["ada", "ada", "ada", "ben", "eve"];
      const replies = await Promise.all(callers.map((caller) => run("echo", "", { caller })));
      for (const reply of replies) expect(reply).toMatchObject({ ok: true, value: { exitCode: 0 } });
    });

    // From here on nothing depends on the engine.
    if (!runsWhole(subject.part)) return;

    it("get their input to the end", async () => {
      const value = Array.from({ length: 10_000 }, (_, i) => String.fromCodePoint(0x20ac + (i % 50))).join("");
      expect(outputOf(await run("echo", value))).toBe(JSON.stringify({ deed: "echo", value }));
    });

    it("need no input", async () => {
      expect(await runWith(broker, undefined)).toMatchObject({ ok: true, value: { exitCode: 2 } });
    });

    it.each(["a b", "$HOME", "`id`", "*", "; echo x", "é😀", ""])(
      "get each argument as it is, nothing is a shell: %j",
      async (argument) => {
        const reply = await run("arguments", "", { args: ["first", argument] });
        expect(JSON.parse(outputOf(reply))).toMatchObject({ argc: 3, last: argument });
      },
    );

    it("have the environment that the host gives them", async () => {
      expect(JSON.parse(outputOf(await run("arguments")))).toMatchObject({ place: "here" });
    });

    it("can write as much as they may, and not one byte more", async () => {
      const write = (count: number) =>
        run("echo", "x".repeat(count - JSON.stringify({ deed: "echo", value: "" }).length));
      expect(outputOf(await write(100_000))).toHaveLength(100_000);
      const error = { code: "BOUNDS_EXCEEDED", message: "subject wrote more than 100000 bytes." };
      expect(await write(100_001)).toMatchObject({ ok: false, error });
    });

    it("are heard at the beginning, and not stopped, when they complain without end", async () => {
      const lines = Array.from({ length: 5_000 }, (_, i) => `line ${i}\n`).join("");
      const reply = await run("chatter");
      expect(reply).toMatchObject({ ok: true, value: { exitCode: 0, stderr: lines.slice(0, 1_000) } });
      expect(outputOf(reply)).toBe("null");
    });

    it("have 134, as in shells, when they abort", async () => {
      const reply = await run("abort");
      expect(reply).toMatchObject({
        ok: true,
        value: { exitCode: 134, stderr: expect.stringMatching(/^about to abort\n/) as string },
      });
    });

    it("are not started for a call that has ended", async () => {
      const reply = await run("echo", "", { signal: AbortSignal.abort() });
      expect(reply).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    });

    it.each([
      ["run", { command: "subject -c x" }],
      ["run", { command: "/bin/sh" }],
      ["run", { command: "../subject" }],
      ["run", { command: "..\\subject" }],
      ["run", { command: ".." }],
      ["run", { command: "" }],
      ["run", { command: "s".repeat(65) }],
      ["run", { command: 1 }],
      ["run", { command: ["subject"] }],
      ["run", {}],
      ["run", { command: "subject", args: "-c" }],
      ["run", { command: "subject", args: [1] }],
      ["run", { command: "subject", args: ["a\u0000b"] }],
      ["run", { command: "subject", args: ["\ud800"] }],
      ["run", { command: "subject", args: ["\u001b[2J"] }],
      ["run", { command: "subject", fuel: "all" }],
      ["run", { command: "subject", fuel: -1 }],
      ["run", { command: "subject", memoryBytes: 0.5 }],
      ["exec", { command: "subject" }],
      ["toString", { command: "subject" }],
    ] as const)("are refused before anything runs: %s of %j", async (operation, args) => {
      const request = { kind: "process.spawn", operation, arguments: args } as const;
      expect(broker.needs(request as never)).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST" } });
      expect(await broker.serve(request as never, openSession())).toMatchObject({
        ok: false,
        error: { code: "INVALID_REQUEST" },
      });
    });

    it.each(["unknown", "__proto__", "constructor", "toString", "SUBJECT"])(
      "are not there when nobody offered them: %s",
      async (command) => {
        const message = `This host offers no command ${JSON.stringify(command)}.`;
        expect(await run("echo", "", { command })).toMatchObject({
          ok: false,
          error: { code: "NOT_FOUND", message },
        });
      },
    );

    it("need the grant for exactly their arguments, at the broker too", async () => {
      const request = {
        kind: "process.spawn",
        operation: "run",
        arguments: { command: "subject", args: ["-x"] },
        body: bytes('{"deed":"echo"}'),
      } as const;
      const needs = [{ kind: "process.spawn", command: "subject", args: ["-x"] }];
      expect(broker.needs(request)).toEqual({ ok: true, needs });
      const granted = (args: readonly string[]) =>
        openSession({ grants: [{ kind: "process.spawn", commands: [{ command: "subject", args }] }] });
      expect(await broker.serve(request, granted(["-y"]))).toMatchObject({ error: { code: "CAPABILITY_DENIED" } });
      expect(await broker.serve(request, granted([]))).toMatchObject({ error: { code: "CAPABILITY_DENIED" } });
      expect(await broker.serve(request, granted(["-x"]))).toMatchObject({ ok: true });
    });

    it("take the longest argument, and not one character more", async () => {
      const echo = bytes('{"deed":"echo"}');
      expect(await runWith(broker, echo, { args: ["x".repeat(32_768)] })).toMatchObject({ ok: true });
      expect(await runWith(broker, echo, { args: ["x".repeat(32_769)] })).toMatchObject({
        ok: false,
        error: { code: "INVALID_REQUEST" },
      });
    });

    it("take the largest input, and not one byte more", async () => {
      const most = new Uint8Array(spawnLimits.stdinBytes).fill(32);
      expect(await runWith(broker, most)).toMatchObject({ ok: true, value: { exitCode: 2 } });
      expect(await runWith(broker, new Uint8Array(spawnLimits.stdinBytes + 1))).toMatchObject({
        ok: false,
        error: { code: "BOUNDS_EXCEEDED" },
      });
    });
  });
}
