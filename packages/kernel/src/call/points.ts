import type { ContentReference } from "../bytes/content-reference.ts";
import type { AskForApproval, Allowed } from "./steps/authorize.ts";
import type { Answered, AnswerPorts, Reused } from "./steps/answer.ts";
import type { Decided } from "./steps/decide.ts";
import type { Normalized } from "./steps/normalize.ts";
import type { RunPorts } from "./steps/run.ts";
import type { BrokersOfCall, Started } from "./steps/start.ts";
import type { Checked } from "./steps/validate-output.ts";
import type { CallFault } from "./faults/fault.ts";
import type { MaybePromise } from "../support/maybe-promise.ts";
import type { CallRecord } from "./record/record.ts";

/** The way out of a wait, for a call that is suspended. */
export interface Departure {
  /** Aborts when the wait here ends. */
  readonly aside: AbortSignal;
  /** Resolves when the snapshot is made and on record, or when there is none. */
  put(): Promise<CallFault>;
}

/**
 * The points at which extensions enter the pipeline. At a point an extension continues
 * (`undefined`), answers with an outcome of the kernel, or throws a fault. It cannot allow a call,
 * because only steps make states. An unused point is absent, and costs nothing.
 */
export interface Points {
  onArrival?(call: CallRecord): void;
  /** Between steps 4 and 5, again for edited arguments. A known outcome needs no approval. */
  afterDecision?(decided: Decided): MaybePromise<Reused | undefined>;
  /** Step 5, where the policy asks. */
  readonly ask?: AskForApproval;
  /** In step 5: the way of an open question into another process. */
  onQuestion?(decided: Decided): Departure | undefined;
  /** Between steps 5 and 6: an answer that needs no slot. */
  afterAllow?(allowed: Allowed): MaybePromise<Reused | undefined>;
  /** Before step 8: brokers that serve this call alone. */
  readonly brokersOf?: BrokersOfCall;
  /** In step 8: the run's way to its gate, where it can be suspended. */
  readonly onRun?: NonNullable<RunPorts["onRun"]>;
  /** Around steps 8 and 9. `attempt` runs the tool once, and is the only source of a result. */
  aroundRun?(started: Started, attempt: (started: Started) => Promise<Checked>): Promise<Checked>;
  /** Between steps 10 and 11: an output is stored before the log says that it exists. */
  beforeConclude?(normalized: Normalized): MaybePromise<ContentReference | undefined>;
  /** The same for the output of another call. */
  readonly beforeReuse?: NonNullable<AnswerPorts["beforeReuse"]>;
  /** After the end is on record and everything is released, before the caller gets the answer. */
  onEnd?(answered: Answered): MaybePromise<void>;
}
