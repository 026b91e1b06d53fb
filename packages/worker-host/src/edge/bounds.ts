import { limits } from "@keyhole/kernel";
import { EdgeFault } from "./fault.ts";

/** The most that a client takes of an edge. A hostile edge can send anything; an edge that runs Keyhole stays below. */
export const mostOfEdge: {
  readonly answerBytes: number;
  readonly tools: number;
  readonly approvals: number;
  readonly events: number;
  readonly messages: number;
  readonly questions: number;
  readonly passkeys: number;
  readonly answers: number;
  readonly characters: number;
  readonly outputBytes: number;
} = {
  /** Of an answer that is no stream. */
  answerBytes: 16 << 20,
  tools: 1_000,
  /** In a list. */
  approvals: 1_000,
  /** Of the log, in one call: what a call and the calls within it put on record. */
  events: 20_000,
  /** Log lines, progress reports and unknown events, in one call. */
  messages: 10 * limits.messagesPerCall,
  /** In one call. */
  questions: 100,
  /** That may answer one question. */
  passkeys: 100,
  /** To one question, of which the edge takes none. */
  answers: 10,
  /** UTF-16 units of all that a call sends beside its output and its result. */
  characters: 64 << 20,
  /** Of one stream. A page keeps it, so a larger bound of the tool does not count. */
  outputBytes: 1 << 30,
};

/** Counts what an edge sends in the course of one call. */
export class EdgeTally {
  readonly #takesOutput: boolean;
  readonly #left: Record<keyof typeof names, number> = { ...mostOfEdge };

  constructor(takesOutput: boolean) {
    this.#takesOutput = takesOutput;
  }

  /**
   * Of one event. The result comes once, and the bytes of a stream are counted by the one who takes them.
   *
   * @throws {EdgeFault} past the bound
   */
  take(event: string, data: string): void {
    if (event === "result" || (event === "output" && this.#takesOutput)) return;
    this.#count(kinds.get(event) ?? "messages", 1);
    this.#count("characters", data.length);
  }

  #count(what: keyof typeof names, amount: number): void {
    this.#left[what] -= amount;
    if (this.#left[what] < 0) throw tooMuch(`${mostOfEdge[what].toLocaleString("en")} ${names[what]} in one call`);
  }
}

const kinds: ReadonlyMap<string, "events" | "questions"> = new Map([
  ["audit", "events"],
  ["approval", "questions"],
]);

const names = {
  events: "events",
  messages: "messages",
  questions: "questions",
  characters: "characters",
} as const;

/** @param bound of what, and how much */
export function tooMuch(bound: string): EdgeFault {
  return new EdgeFault(
    "EDGE_TOO_MUCH",
    `The edge sent more than ${bound}.`,
    "The client takes no more. The audit log of the edge has the rest.",
  );
}
