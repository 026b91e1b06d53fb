import type { DenialReason } from "../../capability/denial.ts";
import * as limits from "../../limits.ts";
import { type DeniedRequest, deniedRequest, type Proof } from "../../policy/proof/proof.ts";

/** The refused requests of one call, also those that the tool handled: each has a proof of its own. */
export class Denials {
  readonly #prove: (request: DeniedRequest) => Proof;
  /** Few, and mostly none. */
  readonly #proofs: Proof[] = [];
  #left: number = limits.provenDenials;
  #unproven = 0;

  /** @param prove makes the proof, and puts it on record */
  constructor(prove: (request: DeniedRequest) => Proof) {
    this.#prove = prove;
  }

  add(kind: string, target: string, reason: DenialReason): void {
    if (this.#left === 0) {
      this.#unproven++;
      return;
    }
    this.#left--;
    this.#record(deniedRequest(kind, target, reason));
  }

  /** The proof of the refusal that ended the call. Past the limit it is made now: this one is never left out. */
  proofOf(kind: string, target: string, reason: DenialReason): Proof {
    const request = deniedRequest(kind, target, reason);
    const key = keyOf(request);
    return this.#proofs.find((proof) => proof.request && keyOf(proof.request) === key) ?? this.#record(request);
  }

  /** The number of refusals without a proof since the last call of this method. */
  takeUnproven(): number {
    const unproven = this.#unproven;
    this.#unproven = 0;
    return unproven;
  }

  #record(request: DeniedRequest): Proof {
    const proof = this.#prove(request);
    this.#proofs.push(proof);
    return proof;
  }
}

const keyOf = ({ kind, target, reason }: DeniedRequest): string => JSON.stringify([kind, target, reason]);
