import type { RegisteredTool } from "../../tool/package.ts";
import { applyAll, noChanges, type StateChange } from "../../state/change.ts";
import type { IsolateFailure } from "../port.ts";
import type { Failing, Quarantine, QuarantineBegun, Rest, ToolQuarantine } from "./quarantine.ts";
import type { Slot } from "./slot.ts";

/** The reports to the kernel of what failed, and of what went well. */
export interface FailureReports {
  readonly onQuarantine?: (tool: RegisteredTool, failing: Failing, begun: QuarantineBegun) => void;
  /** The state that changes with an isolate that did not fail. */
  readonly onChange?: (changes: readonly StateChange[]) => void;
}

/** A tool whose calls bring programs fails as one: as many programs as calls would never make three in a row. */
const losingOf = ({ hash, composedOf = hash }: RegisteredTool, caller: string): Failing => ({
  toolHash: composedOf,
  caller,
});

const ownOf = ({ hash }: RegisteredTool, caller: string): Failing => ({ toolHash: hash, caller });

/** Counts the isolates that failed, for each caller and tool. */
export class Failures {
  readonly #quarantine: Quarantine;
  readonly #reports: FailureReports;

  constructor(quarantine: Quarantine, reports: FailureReports) {
    this.#quarantine = quarantine;
    this.#reports = reports;
  }

  rest(tool: RegisteredTool, caller: string): Rest | undefined {
    const own = this.#quarantine.rest(ownOf(tool, caller));
    return own ?? (tool.composedOf === undefined ? undefined : this.#quarantine.rest(losingOf(tool, caller)));
  }

  get quarantined(): ReadonlyMap<string, ToolQuarantine> {
    return this.#quarantine.tools;
  }

  notOpened(slot: Slot, { blame }: IsolateFailure): void {
    this.#failed(slot, (blame === "code" ? ownOf : losingOf)(slot.tool, slot.caller));
  }

  lost(slot: Slot, cause?: QuarantineBegun["cause"]): void {
    this.#failed(slot, losingOf(slot.tool, slot.caller), cause);
  }

  succeeded({ tool, caller }: Slot): void {
    const { onChange = applyAll } = this.#reports;
    const changes = this.#quarantine.succeeded(losingOf(tool, caller));
    const own = tool.composedOf === undefined ? noChanges : this.#quarantine.succeeded(ownOf(tool, caller));
    onChange(own.length === 0 ? changes : [...changes, ...own]);
  }

  #failed(slot: Slot, failing: Failing, cause?: QuarantineBegun["cause"]): void {
    slot.stopped = true; // Its other calls end with it, and it failed once.
    const begun = this.#quarantine.failed(failing, cause);
    if (!begun) return;
    if (this.#reports.onQuarantine) this.#reports.onQuarantine(slot.tool, failing, begun);
    else applyAll(begun.changes);
  }
}
