import { isJsonObject, type JsonValue } from "@keyhole/kernel";
import { type PasskeyCheck, passkeyVerifier } from "@keyhole/kernel/policy";
import { counted, type marks } from "../io.ts";
import { parsedLine } from "../json-file.ts";

interface PasskeyStep {
  readonly name: "passkeys";
  readonly outcome: keyof typeof marks;
  readonly text: string;
}

/** Looks at the approvals of a log while another reader takes its events. */
export class PasskeyWatch {
  readonly #verify: ((event: unknown) => Promise<PasskeyCheck>) | undefined;
  readonly #signed = new Map<string, number>();
  #unchecked = 0;
  #without = 0;
  #others = 0;
  #fault: string | undefined;

  /** @param policy The policy whose passkeys count. Without it the approvals are only counted. */
  constructor(policy: JsonValue | undefined) {
    this.#verify = policy === undefined ? undefined : passkeyVerifier(policy);
  }

  async *over(events: Iterable<unknown> | AsyncIterable<unknown>): AsyncGenerator<unknown, void, undefined> {
    for await (const event of events) {
      await this.#look(event);
      yield event;
    }
  }

  /** None where a passkey was neither asked about nor found. */
  steps(): readonly PasskeyStep[] {
    const step = (outcome: PasskeyStep["outcome"], text: string): PasskeyStep[] => [
      { name: "passkeys", outcome, text },
    ];
    if (this.#fault !== undefined) return step("failed", this.#fault);
    if (!this.#verify)
      return this.#unchecked === 0
        ? []
        : step("skipped", `${approvals(this.#unchecked)} not checked. Name the policy: --policy FILE.`);
    const signed = [...this.#signed].map(
      ([approver, count]) => `${approvals(count)} signed by a passkey of ${approver}.`,
    );
    const rest = [
      ...(this.#without > 0 ? [`${approvals(this.#without)} without a passkey: the policy demanded none.`] : []),
      ...(this.#others > 0 ? [`${approvals(this.#others)} under another policy, not checked.`] : []),
    ];
    const texts = [...signed, ...rest];
    return step(signed.length > 0 ? "passed" : "skipped", texts.join(" ") || "The log has no approval.");
  }

  async #look(item: unknown): Promise<void> {
    // Nearly no line is an approval, and the reader of the log parses each anyway. An escape could spell the word.
    if (typeof item === "string" && !item.includes("approved") && !item.includes("\\u")) return;
    const event = typeof item === "string" ? parsedLine(item) : item;
    if (this.#verify) this.#count(await this.#verify(event), event);
    else if (hasPasskey(event)) this.#unchecked++;
  }

  #count(check: PasskeyCheck, event: unknown): void {
    if (check.outcome === "passed") this.#signed.set(check.approver, (this.#signed.get(check.approver) ?? 0) + 1);
    else if (check.outcome === "without") this.#without++;
    else if (check.outcome === "other-policy") this.#others++;
    else if (check.outcome === "failed") this.#fault ??= `${placeOf(event)}: ${check.reason}`;
  }
}

const approvals = (count: number): string => counted(count, "approval");

const member = (value: unknown, name: string): unknown => (isJsonObject(value) ? value[name] : undefined);

function hasPasskey(event: unknown): boolean {
  const proof = member(member(event, "payload"), "proof");
  return member(member(proof, "approval"), "passkey") !== undefined;
}

function placeOf(event: unknown): string {
  const seq = member(event, "seq");
  return typeof seq === "number" ? `Event ${seq}` : "An approval";
}
