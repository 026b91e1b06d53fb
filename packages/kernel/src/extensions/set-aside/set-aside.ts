import type { Failing } from "../../isolate/backoff.ts";
import { CallFault } from "../../call/faults/fault.ts";
import type { Started } from "../../call/steps/start.ts";
import { hasOwn } from "../../support/guards.ts";
import type { Extension, ExtensionContext } from "../../call/extension.ts";

type Subject = Pick<Started, "call" | "tool">;

/**
 * A tool that times out again and again is not started for a while, which grows: each time it holds a slot, and on some hosts all that runs beside it, for as long as its
 * deadline. It is set aside for its caller first: slow input, or a slow server, can be that caller's matter. Timeouts of several callers in a row set it aside for all. A call that ends well makes up for one timeout. A tool whose isolate was lost, or whose call waited longer than it ran, has done nothing to be set aside for.
 */
export function setAside(): Extension {
  return new SetAside();
}

class SetAside implements Extension {
  readonly name = "set-aside";
  #backoff!: ExtensionContext["backoff"];

  open({ backoff }: ExtensionContext): void {
    this.#backoff = backoff;
  }

  async aroundRun(
    started: Started,
    attempt: Parameters<NonNullable<Extension["aroundRun"]>>[1],
  ): ReturnType<typeof attempt> {
    // It may have waited for its slot while others timed out.
    this.afterAllow(started);
    try {
      const checked = await attempt(started);
      this.#backoff.succeeded(failingOf(started));
      return checked;
    } catch (thrown) {
      if (isTimeout(thrown)) this.#timedOut(started);
      throw thrown;
    }
  }

  afterAllow(subject: Subject): undefined {
    const rest = this.#backoff.rest(failingOf(subject));
    if (rest === undefined) return;
    const { failures: timeouts, restMs: retryAfterMs } = rest;
    throw new CallFault("TOOL_SET_ASIDE", `${subject.tool.id} is set aside: it timed out ${timeouts} times in a row.`, {
      details: { timeouts, retryAfterMs },
      hint: `Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
      retryable: true,
    });
  }

  #timedOut(started: Started): void {
    const { call, tool, bounds } = started;
    const [forAll, own] = failingOf(started);
    this.#backoff.failed(tool.id, own, { firstMs: bounds.timeoutMs });
    if (isCallersMatter(started)) return;
    this.#backoff.failed(tool.id, forAll, { firstMs: bounds.timeoutMs, seenBy: call.caller });
  }
}

/** The deadline of a tool that ran: a call that its host kept waiting for longer says nothing about it. */
function isTimeout(thrown: unknown): boolean {
  if (!(thrown instanceof CallFault) || thrown.code !== "TIMEOUT") return false;
  const { details } = thrown.error;
  return !(details instanceof Object && hasOwn(details, "waitedMs"));
}

/** A caller that lowers the deadline, sends slowly, takes slowly or brings the program can let any tool time out. */
function isCallersMatter({ call, tool, body, flow }: Started): boolean {
  const brings = body !== undefined || flow !== undefined || tool.manifest.program !== undefined;
  return brings || call.options.bounds?.timeoutMs !== undefined;
}

/** A tool for all callers, and for one. */
function failingOf({ call, tool }: Subject): readonly [forAll: Failing, own: Failing] {
  const forAll = { cause: "timeouts", toolHash: tool.hash } as const;
  return [forAll, { ...forAll, caller: call.caller }];
}
