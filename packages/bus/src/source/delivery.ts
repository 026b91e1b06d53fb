/** Evidence that nothing ran, in a call without a result. */
export type Proof =
  /** The call is sealed and has no key: a kernel starts it only after the caller's sealed `take`. */
  | "no take"
  /** The call is sealed and has a key: the kernel that owns the key starts it with any request. */
  | "no request"
  /** Nothing is sealed: any peer can forge a result as well, so the word of the bus counts. */
  | "unheard";

/** The requests of one call, and whether one of them can have started the tool. Only acts of the caller and answers of kernels are evidence where callers seal. */
export class Delivery {
  readonly #proof: Proof;
  #isUnderWay = false;
  #isAnswered = false;
  /** Whether a kernel may have started the call, but for the request in progress. */
  #mayRun = false;

  constructor(proof: Proof) {
    this.#proof = proof;
  }

  requested(): void {
    this.#mayRun ||= this.#proof === "no request" || (this.#proof === "unheard" && this.#isUnderWay);
    this.#isUnderWay = true;
  }

  /** A kernel has the call. */
  answered(): void {
    this.#isAnswered = true;
  }

  /** The caller took the offer of a kernel. */
  took(): void {
    this.#mayRun = true;
  }

  /** The bus says that no one heard the request. `false` where that is no news: each request has one such report, and none after an answer. */
  unheard(): boolean {
    if (!this.#isUnderWay || this.#isAnswered) return false;
    this.#isUnderWay = false;
    return true;
  }

  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  get ran(): "no" | "unknown" {
    return this.#mayRun || (this.#proof === "unheard" && this.#isUnderWay) ? "unknown" : "no";
  }
}
