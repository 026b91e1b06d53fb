import type { JsonValue, Proof } from "@keyhole/kernel";
import type { ClientCall } from "../client/kernel-client.ts";

/** One question of the call or of a call within it, or the edit that answered one. */
interface Step {
  readonly callId: string;
  readonly input: JsonValue;
  /** Absent for an edit: the kernel checks it first. */
  readonly argsHash?: string;
}

/** The arguments of a call. An approver, here or elsewhere, can put others in the place of those that were sent. */
export class Arguments {
  readonly #sent: JsonValue;
  readonly #steps: Step[] = [];

  constructor(sent: JsonValue) {
    this.#sent = sent;
  }

  /** Hears the questions and the answers of the call. */
  heardBy(approve: ClientCall["approve"]): ClientCall["approve"] {
    const hears: typeof approve = async (request, signal) => {
      const { callId, input, argsHash } = request;
      this.#steps.push({ callId, input, argsHash });
      const answer = await approve(request, signal);
      if (answer.answer === "edit") this.#steps.push({ callId, input: answer.input as JsonValue });
      return answer;
    };
    // The page lists the questions.
    return Object.assign(hears, { concurrent: true });
  }

  /**
   * The latest arguments, those that the call runs with.
   *
   * @param proof Of the end of the call: of an edit that the kernel refused there is none.
   * @returns `null` where the page does not know them: an approver elsewhere wrote them
   */
  of(callId: string, proof?: Proof): JsonValue {
    const own = this.#steps.filter((step) => step.callId === callId);
    const last = own.findLast(({ argsHash }) => argsHash !== undefined && argsHash === proof?.inputHash) ?? own.at(-1);
    if (last === undefined) return this.#sent;
    if (last.argsHash === undefined) return last.input;
    if (proof && proof.inputHash !== last.argsHash) return null;
    // The first question is about the input as it was sent, with its defaults.
    return last.argsHash === own[0]?.argsHash ? this.#sent : last.input;
  }
}
