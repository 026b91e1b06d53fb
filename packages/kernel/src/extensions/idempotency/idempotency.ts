import type { AuditPayloads } from "../../audit/event.ts";
import { awaitEnding } from "../../call/ending/await-ending.ts";
import type { Ending } from "../../call/ending/ending.ts";
import { CallFault } from "../../call/faults/fault.ts";
import type { MaybePromise } from "../../support/maybe-promise.ts";
import type { CarriedPart } from "../../call/record/carried-part.ts";
import type { CallRecord } from "../../call/record/record.ts";
import type { Reused } from "../../call/steps/answer.ts";
import { type Decided, isDenied } from "../../call/steps/decide.ts";
import type { CallError } from "../../result.ts";
import type { RegisteredTool } from "../../tool/package.ts";
import type { Extension, ExtensionContext } from "../../call/extension.ts";
import { type DeclaredTable, noChanges, type StateChange } from "../../state/change.ts";
import { type Claim, Keys } from "./keys.ts";

/** The key as the log has it: an approver may have edited the arguments since. */
const keyPart: CarriedPart<AuditPayloads["call.keyed"]> = { name: "idempotency" };

/**
 * The first call under a key runs; every later one gets its outcome. It enters between steps 4 and
 * 5: a later call does nothing, so no approver has to answer.
 */
export function idempotency(): Extension {
  return new Idempotency();
}

class Idempotency implements Extension {
  readonly name = "idempotency";
  readonly honours = ["idempotencyKey"] as const;
  readonly #keys = new Keys(() => this.#context);
  readonly state: readonly DeclaredTable[] = [this.#keys.table];
  readonly #claimed = new WeakSet<CallRecord>();
  #context!: ExtensionContext;

  open(context: ExtensionContext): void {
    this.#context = context;
    this.#keys.open();
  }

  onUnregister({ id }: RegisteredTool): readonly StateChange[] {
    this.#keys.forgetResults(id);
    return noChanges;
  }

  afterDecision(decided: Decided): MaybePromise<Reused | undefined> {
    const { call, verdict } = decided;
    const { idempotencyKey } = call.options;
    // Edited arguments stay under the key of the ones that they replace.
    if (idempotencyKey === undefined || this.#claimed.has(call) || isDenied(verdict)) return undefined;
    const before = call.came(keyPart);
    if (before) this.#takeAgain(decided, before);
    return call.before ? undefined : this.#claim(decided, idempotencyKey);
  }

  async #claim(decided: Decided, key: string): Promise<Reused | undefined> {
    const { call, tool, inputHash } = decided;
    const { clock, log } = this.#context;
    for (;;) {
      const found = this.#keys.claim({
        caller: call.caller,
        callId: call.callId,
        key,
        tool: tool.manifest.name,
        toolId: tool.id,
        inputHash,
      });
      switch (found.kind) {
        case "refused":
          throw found.fault;
        case "ended":
          return reused(found.ending);
        case "first":
          this.#take(decided, found);
          log.record("call.keyed", call.scope, { keyHash: found.keyHash, argsHash: found.argsHash });
          return undefined;
        case "running": {
          const ending = await awaitEnding(found.ending, call, clock);
          // Its caller went away before anything happened: then the work is this one's.
          if (!ending.hasStarted && ending.wasCancelled) continue;
          return ending.hasStarted ? reused(ending) : { ending, by: "idempotency-key" };
        }
      }
    }
  }

  /** The key is used from the start of the call on, or from its suspension, which may start it elsewhere. */
  #take({ call, tool }: Decided, { keyHash, argsHash, used, freed, end }: Extract<Claim, { kind: "first" }>): void {
    this.#claimed.add(call);
    call.persist("start", used);
    call.persist("suspension", used);
    call.persist("end", (error) => (error && (!call.hasStarted || mayRunAgain(tool, error)) ? freed() : noChanges));
    call.defer(({ ending }) => {
      const ended = ending();
      if (ended) end(ended);
    });
    call.carry(keyPart, { keyHash, argsHash });
  }

  /** The key of a call that was suspended stays its own, unless another call has used it since. */
  #takeAgain(decided: Decided, { keyHash, argsHash }: AuditPayloads["call.keyed"]): void {
    const { call, tool } = decided;
    const { log } = this.#context;
    const { caller, callId } = call;
    const found = this.#keys.resume(keyHash, { caller, callId, argsHash, toolId: tool.id });
    if (found?.kind === "first") {
      this.#take(decided, found);
      const used = found.used();
      // It began in another kernel, whose log is not this one.
      if (used.length > 0) log.record("call.keyed", call.scope, { keyHash, argsHash }, used);
      return;
    }
    if (call.hasStarted) return;
    const message = "Another call used the idempotency key during the suspension of this one.";
    throw new CallFault("INVALID_INPUT", message, {
      hint: "Check the effects of that call. A call with a new key runs the tool again.",
    });
  }
}

/** Whether a tool that may run twice can do better than this. */
function mayRunAgain({ manifest }: RegisteredTool, { retryable, code }: CallError): boolean {
  return manifest.idempotent === true && (retryable || code === "CANCELLED");
}

/** A failure that stays: trying again under the same key gives the same. */
function reused(ending: Ending): Reused {
  const hint =
    "The first call with this key failed with this error, and the kernel does not retry it. Check its effects. A call with a new key runs the tool again.";
  return { ending: ending.repeated(hint), by: "idempotency-key" };
}
