import type { CapabilityReply, CapabilityRequest, IsolateCall, IsolateUsage } from "@keyhole/kernel";
import { callSources, placeholder, secretToken } from "@keyhole/kernel/guest";
import type { LoadedModule } from "../../protocol/message.ts";
import { type CompiledModule, Machine, type RunBounds, type RunEnding } from "../machine/machine.ts";
import { type Suspension, suspension, type Waiting } from "../machine/suspend.ts";
import { Unanswered } from "../machine/replay-journal.ts";
import { wasiModule } from "../wasi/names.ts";
import { Collected } from "../wasi/streams.ts";
import { wasiSystem, type WasiSystem } from "../wasi/system.ts";
import type { HostCallJournal } from "./host-call-journal.ts";
import { callImport, mayWait } from "./supported-imports.ts";
import { callFunction } from "./requests.ts";

/** A module, ready to run. */
export interface WasmTool {
  readonly compiled: CompiledModule;
  readonly start: Pick<LoadedModule, "args" | "environment">;
  readonly waiting: Waiting;
}

/** The arguments of one run, and the receivers of its output. */
export interface RunProgram {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin: Uint8Array;
  /** The host ends a run that writes more. */
  readonly stdoutBytes: number;
  readonly stderr: (bytes: Uint8Array) => void;
}

/** One run of one call, in an instance of its own. */
export class WasmRun {
  readonly stdout: Collected;
  readonly #tool: WasmTool;
  readonly #call: IsolateCall;
  readonly #bounds: RunBounds;
  readonly #hostCalls: HostCallJournal;
  readonly #program: RunProgram;
  #machine: Machine | undefined;
  #system: WasiSystem | undefined;
  #suspension: Suspension | undefined;

  constructor(tool: WasmTool, call: IsolateCall, bounds: RunBounds, hostCalls: HostCallJournal, program: RunProgram) {
    this.#tool = tool;
    this.#call = call;
    this.#bounds = bounds;
    this.#hostCalls = hostCalls;
    this.#program = program;
    this.stdout = new Collected(program.stdoutBytes, () => this.#machine?.stop({ kind: "output-too-large" }));
  }

  get usage(): Required<IsolateUsage> {
    return { fuelUsed: this.#machine?.fuelUsed ?? 0, peakMemoryBytes: this.#machine?.peakMemoryBytes ?? 0 };
  }

  async go(): Promise<RunEnding> {
    const { compiled } = this.#tool;
    const machine = await Machine.create(compiled, this.#bounds, (made) => this.#imports(made));
    this.#machine = machine;
    if (machine.start !== undefined) await this.#enter(machine, machine.start);
    if (machine.has("_start")) {
      await this.#enter(machine, "_start");
      machine.end({ kind: "returned", output: this.stdout.bytes() });
    } else await this.#plain(machine);
    const ending = machine.ending ?? { kind: "failed", message: "It did not end." };
    if ((ending.kind === "returned" || ending.kind === "exited") && !(await this.#isStored()))
      return { kind: "failed", message: "The store failed for a file that the command left open." };
    return ending;
  }

  #imports(machine: Machine): WebAssembly.Imports {
    this.#machine = machine;
    const { journal } = this.#hostCalls;
    const { compiled, waiting } = this.#tool;
    const { args, environment, stdin, stderr } = this.#program;
    this.#suspension = suspension(mayWait(compiled.module) ? waiting : "replay", machine, journal);
    const ask = (request: CapabilityRequest): CapabilityReply => this.#hostCalls.ask(request);
    this.#system = wasiSystem(
      machine,
      this.#suspension,
      { args, environment, stdin, stdout: (bytes) => this.stdout.add(bytes), stderr },
      { ask, journal, sources: callSources(this.#call), real: this.#call.real },
    );
    const token = secretToken(this.#call.seed);
    const call = callFunction(machine, ask, {
      log: (level, message) => this.#hostCalls.say(level, message),
      secret: (name) => placeholder(token, name),
    });
    return {
      [wasiModule]: { ...this.#system.imports },
      [callImport.module]: { [callImport.name]: this.#suspension.import(call as (...values: unknown[]) => unknown) },
    };
  }

  #enter(machine: Machine, name: string, ...values: number[]): Promise<unknown> {
    return machine.enter(name, values, (callee) => this.#suspension?.enter(callee) ?? callee);
  }

  /** `run(alloc(length), length)` gives where the output is in its upper half, and how long it is in its lower half. */
  async #plain(machine: Machine): Promise<void> {
    if (machine.has("_initialize")) await this.#enter(machine, "_initialize");
    const { stdin } = this.#program;
    const at = Number((await this.#enter(machine, "alloc", stdin.length)) ?? 0) >>> 0;
    if (machine.ending !== undefined) return;
    if (at + stdin.length > machine.bytes().byteLength)
      return machine.end({ kind: "failed", message: "`alloc` gave an address outside of the memory." });
    machine.bytes().set(stdin, at);
    const result = await this.#enter(machine, "run", at, stdin.length);
    if (machine.ending === undefined) machine.end(this.#endingOf(machine, result));
  }

  #endingOf(machine: Machine, result: unknown): RunEnding {
    if (typeof result !== "bigint") return { kind: "failed", message: "`run` did not return an i64." };
    const from = Number(BigInt.asUintN(32, result >> 32n));
    const size = Number(BigInt.asUintN(31, result));
    if (from + size > machine.bytes().byteLength)
      return { kind: "failed", message: "`run` gave an output outside of the memory." };
    if (size > this.#call.outputBytes) return { kind: "output-too-large" };
    const output = machine.bytes().slice(from, from + size);
    return (result & ERROR_BIT) === 0n
      ? { kind: "returned", output }
      : { kind: "failed", message: new TextDecoder().decode(output) };
  }

  /** Stores the files that a program left open at its own end. The program does not run again for that. */
  async #isStored(): Promise<boolean> {
    for (;;) {
      try {
        return this.#system?.flush() ?? true;
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
        await this.#hostCalls.journal.answer();
      }
    }
  }
}

/** Of what `run` returns: the output is a message that says what went wrong. */
const ERROR_BIT = 1n << 31n;
