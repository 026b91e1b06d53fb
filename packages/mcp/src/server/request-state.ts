import { type Clock, decodeBase64Url, encodeBase64Url } from "@keyhole/kernel";
import { Shares } from "@keyhole/kernel/context";
import { type McpCaller, nameOf } from "./caller.ts";
import type { Seal } from "./seal.ts";

/** Longer than any approval is open. */
const STATE_MS = 600_000;
/** States are remembered as used until they are too old. A caller that remembers as many as are free uses no further one: a forgotten one would be good again. */
const MOST_USED = 100_000;

/** The state that a client carries from one exchange of a call to the next. The client can read it and change nothing of it. */
export interface RequestState {
  readonly tool: string;
  /** Digest of the arguments. */
  readonly args: string;
  /** The call that waits, and the question that its caller was told of last. */
  readonly callId?: string;
  readonly approvalId?: string;
  /** Answers of earlier exchanges, by the name of the question. */
  readonly answers?: Readonly<Record<string, unknown>>;
}

/** A state as it came back. Its nonce tells it from another one of an equal call. */
export type ReadState = RequestState & { readonly nonce: string; readonly until: number };

/** Seals states: each is good for one caller, one tool with one set of arguments, for ten minutes. */
export class RequestStates {
  readonly #seal: Seal;
  readonly #clock: Clock;
  readonly #mostUsed: number;
  /** By nonce, in the order of use. */
  readonly #used = new Map<string, { readonly until: number; readonly owner: string }>();
  readonly #usedBy = new Shares();

  constructor(seal: Seal, clock: Clock, mostUsed: number = MOST_USED) {
    this.#seal = seal;
    this.#clock = clock;
    this.#mostUsed = mostUsed;
  }

  write(state: RequestState, caller: McpCaller): string {
    const sealed = { ...state, nonce: crypto.randomUUID(), until: this.#clock.now() + STATE_MS } satisfies ReadState;
    const body = encodeBase64Url(new TextEncoder().encode(JSON.stringify(sealed)));
    return `${body}.${this.#seal.of(body, bindingOf(caller))}`;
  }

  /** `undefined` for a state that was altered, is too old, or was made for another caller. */
  read(text: string, caller: McpCaller): ReadState | undefined {
    const [body = "", seal = "", ...more] = text.split(".");
    if (more.length > 0 || !this.#seal.isOf(seal, body, bindingOf(caller))) return undefined;
    const bytes = decodeBase64Url(body);
    // Under its seal it is what `write` made.
    const state = bytes && (JSON.parse(new TextDecoder().decode(bytes)) as ReadState);
    const leftMs = state ? state.until - this.#clock.now() : 0;
    // One that has more time than any is from before a jump of the clock.
    return leftMs > 0 && leftMs <= STATE_MS ? state : undefined;
  }

  /** `false` for a state that this process has seen used: its answers made a call. So it is without room for one more of the caller. */
  use({ nonce, until }: ReadState, caller: McpCaller): boolean {
    for (const [oldest, used] of this.#used) {
      if (used.until > this.#clock.now()) break;
      this.#used.delete(oldest);
      this.#usedBy.add(used.owner, -1);
    }
    const owner = nameOf(caller);
    if (this.#usedBy.isFull(owner, this.#mostUsed) || this.#used.has(nonce)) return false;
    this.#used.set(nonce, { until, owner });
    this.#usedBy.add(owner, 1);
    return true;
  }
}

function bindingOf({ caller, tenant = "" }: McpCaller): readonly string[] {
  return ["tools/call", caller, tenant];
}
