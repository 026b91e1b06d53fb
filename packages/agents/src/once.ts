import type { ModelError, Progress } from "@keyhole/kernel";
import { heldBytes, HeldInput, type HeldOutput } from "@keyhole/kernel/context";
import type { AgentAnswer } from "./answer.ts";
import type { FrameworkYes } from "./framework-approvals.ts";

export interface AgentCall {
  /** The framework's id of the call. The same id with the same input runs once, however often the framework asks: the last 1,000 calls of a tool are kept, up to 64 MiB. */
  readonly id?: string;
  readonly signal?: AbortSignal | undefined;
  /** The approval of a person through the framework. It counts for that one question: not for other arguments, not twice, and not for calls within. */
  readonly approved?: FrameworkYes | undefined;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Ran {
  readonly answer: AgentAnswer;
  /** The answer for a framework that asks again. */
  readonly held: HeldOutput<AgentAnswer> | undefined;
}

/** @param held the same input, for what outlives the call */
export type Run = (input: unknown, held: HeldInput, call: AgentCall) => Promise<Ran>;

interface KeptCall {
  readonly input: HeldInput;
  readonly ran: Promise<Ran>;
  bytes: number;
}

/** Calls that are kept for a framework that asks for one call twice, and the bytes of their arguments and answers. */
const MOST_CALLS = 1_000;
const MOST_BYTES = 67_108_864;

/** The calls of one tool by the framework's id. The oldest go first. */
class KeptCalls {
  readonly #calls = new Map<string, KeptCall>();
  #bytes = 0;

  find(id: string, input: HeldInput): Promise<Ran> | undefined {
    const call = this.#calls.get(id);
    return call?.input.isEqual(input) ? call.ran : undefined;
  }

  async keep(id: string, input: HeldInput, ran: Promise<Ran>): Promise<Ran> {
    const call: KeptCall = { input, ran, bytes: 0 };
    this.#drop(id);
    this.#calls.set(id, call);
    this.#count(id, call, input.bytes);
    const { answer, held } = await ran;
    this.#count(id, call, held?.bytes ?? input.bytes + bytesOf(answer));
    return ran;
  }

  #count(id: string, call: KeptCall, bytes: number): void {
    if (this.#calls.get(id) !== call) return;
    this.#bytes += bytes - call.bytes;
    call.bytes = bytes;
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size <= MOST_CALLS && this.#bytes <= MOST_BYTES) return;
      // A framework asks again for this one, however large it is.
      if (oldest !== id) this.#drop(oldest);
    }
  }

  #drop(id: string): void {
    this.#bytes -= this.#calls.get(id)?.bytes ?? 0;
    this.#calls.delete(id);
  }
}

export function once(
  run: Run,
  refused: (error: ModelError, callId: string) => AgentAnswer,
): (input: unknown, call?: AgentCall) => Promise<AgentAnswer> {
  const kept = new KeptCalls();
  return async (given, call = {}) => {
    const { id } = call;
    const input = new HeldInput(given);
    if (id === undefined) return (await run(given, input, call)).answer;
    const before = kept.find(id, input);
    if (!before) return (await kept.keep(id, input, run(given, input, call))).answer;
    const { answer, held } = await before;
    const opened = await held?.open();
    return opened?.ok === false ? refused(opened.error, answer.callId) : answer;
  };
}

/** Of an answer that is kept. */
export function bytesOf(answer: AgentAnswer): number {
  return heldBytes(answer.text) + heldBytes(answer.ok ? answer.data : answer.error.details);
}
