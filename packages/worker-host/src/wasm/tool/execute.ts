import {
  boundedMessage,
  type CallPort,
  callSources,
  type CapabilityReply,
  type IsolateCall,
  type IsolateOutcome,
  type IsolateUsage,
  placeholder,
  secretToken,
  well,
} from "@keyhole/kernel";
import type { LoadedModule } from "../../protocol/message.ts";
import { type CompiledModule, Machine, type RunBounds, type RunEnding } from "../machine/machine.ts";
import { type Suspension, suspension, type Waiting } from "../machine/suspend.ts";
import { Tape, Unanswered } from "../machine/tape.ts";
import { wasiModule } from "../wasi/names.ts";
import { Lines } from "../wasi/lines.ts";
import { Collected } from "../wasi/streams.ts";
import { wasiSystem, type WasiSystem } from "../wasi/system.ts";
import { callImport, mayWait } from "./offers.ts";
import { outcomeOf } from "./outcome.ts";
import { callFunction } from "./requests.ts";

/** A tool, ready to run. */
export interface WasmTool {
  readonly compiled: CompiledModule;
  readonly start: Pick<LoadedModule, "args" | "environment">;
  readonly waiting: Waiting;
}

export interface Executed {
  readonly outcome: IsolateOutcome;
  readonly usage: Required<IsolateUsage>;
}

type Port = Pick<CallPort, "request" | "log" | "signal">;
type Request = Parameters<CallPort["request"]>[0];

/** Runs one call. Each of its runs is an instance of its own: a second one comes only where the guest cannot wait in place. */
export async function executeCall(tool: WasmTool, call: IsolateCall, port: Port, bounds: RunBounds): Promise<Executed> {
  // A module that loaded is well: it has no function that could say otherwise.
  if (call.asks === "health") return { outcome: well, usage: { fuelUsed: 0, peakMemoryBytes: 0 } };
  const conversation = new Conversation(port);
  for (;;) {
    const run = new Run(tool, call, bounds, conversation);
    const ending = await run.go();
    if (ending.kind !== "unanswered") {
      if (ending.kind === "trapped") conversation.say("error", `The module trapped: ${ending.message}`);
      const ended = { ending, stdout: run.stdout, errors: run.stderr.tail, refused: conversation.refused };
      return { outcome: outcomeOf(ended, call, bounds), usage: run.usage };
    }
    await conversation.tape.answer();
    conversation.again();
  }
}

/** What a call and the world have said to each other, over all runs of the call. */
class Conversation {
  readonly tape = new Tape();
  /** Why the last request was refused, if it was. */
  refused: string | undefined;
  readonly #port: Port;
  /** Lines of this run, and of all runs. A line that was said in an earlier run is not said again. */
  #lines = 0;
  #said = 0;

  constructor(port: Port) {
    this.#port = port;
  }

  again(): void {
    this.tape.rewind();
    this.#lines = 0;
  }

  ask(request: Request): CapabilityReply {
    const reply = this.tape.ask(() => untilCancelled(this.#port.request(request), this.#port.signal));
    this.refused = reply.ok ? undefined : reply.error.code;
    return reply;
  }

  say(level: "debug" | "info" | "warn" | "error", message: string): void {
    this.#lines += 1;
    if (this.#lines <= this.#said) return;
    this.#said = this.#lines;
    this.#port.log({ level, message: boundedMessage(message) });
  }
}

class Run {
  readonly stdout: Collected;
  readonly stderr: Lines;
  readonly #tool: WasmTool;
  readonly #call: IsolateCall;
  readonly #bounds: RunBounds;
  readonly #conversation: Conversation;
  readonly #input: Uint8Array;
  #machine: Machine | undefined;
  #system: WasiSystem | undefined;
  #suspension: Suspension | undefined;

  constructor(tool: WasmTool, call: IsolateCall, bounds: RunBounds, conversation: Conversation) {
    this.#tool = tool;
    this.#call = call;
    this.#bounds = bounds;
    this.#conversation = conversation;
    this.#input = new TextEncoder().encode(call.inputText);
    this.stdout = new Collected(call.outputBytes, () => this.#machine?.stop({ kind: "output-too-large" }));
    this.stderr = new Lines((line) => conversation.say("info", line));
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
    this.stderr.end();
    const ending = machine.ending ?? { kind: "failed", message: "It did not end." };
    if ((ending.kind === "returned" || ending.kind === "exited") && !(await this.#isStored()))
      return { kind: "failed", message: "What it wrote to a file that it left open could not be stored." };
    return ending;
  }

  #imports(machine: Machine): WebAssembly.Imports {
    this.#machine = machine;
    const { tape } = this.#conversation;
    const { compiled, start, waiting } = this.#tool;
    this.#suspension = suspension(mayWait(compiled.module) ? waiting : "replay", machine, tape);
    const ask = (request: Request): CapabilityReply => this.#conversation.ask(request);
    this.#system = wasiSystem(
      machine,
      this.#suspension,
      {
        args: start.args,
        environment: start.environment,
        stdin: this.#input,
        stdout: (bytes) => this.stdout.add(bytes),
        stderr: (bytes) => this.stderr.add(bytes),
      },
      { ask, tape, sources: callSources(this.#call), real: this.#call.real ?? [] },
    );
    const token = secretToken(this.#call.seed);
    const call = callFunction(machine, ask, {
      log: (level, message) => this.#conversation.say(level, message),
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
    const at = Number((await this.#enter(machine, "alloc", this.#input.length)) ?? 0) >>> 0;
    if (machine.ending !== undefined) return;
    if (at + this.#input.length > machine.bytes().byteLength)
      return machine.end({ kind: "failed", message: "`alloc` gave an address outside of the memory." });
    machine.bytes().set(this.#input, at);
    const result = await this.#enter(machine, "run", at, this.#input.length);
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

  /** What a program leaves open is stored when it ends by itself. Nothing of it runs again for that. */
  async #isStored(): Promise<boolean> {
    for (;;) {
      try {
        return this.#system?.flush() ?? true;
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
        await this.#conversation.tape.answer();
      }
    }
  }
}

/** Of what `run` returns: the output is a message that says what went wrong. */
const ERROR_BIT = 1n << 31n;

const cancelled: CapabilityReply = {
  ok: false,
  error: { code: "CANCELLED", message: "The caller cancelled.", hint: "" },
};

/** A module hears of a cancellation when it asks for something. */
function untilCancelled(reply: Promise<CapabilityReply>, signal: AbortSignal): Promise<CapabilityReply> {
  if (signal.aborted) return Promise.resolve(cancelled);
  return new Promise((resolve) => {
    const cancel = (): void => resolve(cancelled);
    signal.addEventListener("abort", cancel, { once: true });
    void reply.then((answer) => {
      signal.removeEventListener("abort", cancel);
      resolve(answer);
    });
  });
}
