import type { Clock } from "@keyhole/kernel";
import { TokenBucket } from "@keyhole/kernel/foreign-tools";
import type { BusMessage, BusPort } from "../port.ts";
import { headers, kindOf } from "../wire/headers.ts";
import { sealed } from "../wire/seal.ts";
import type { Subjects } from "../wire/subjects.ts";
import { newToken } from "../wire/token.ts";
import type { BusCallers, KnownCaller } from "./callers.ts";
import type { Offers } from "./offers.ts";
import { replyOf } from "./replies.ts";
import { returnAddress } from "./request.ts";

/** Each answer is as long as all definitions: one question must not cost much more than its sender pays. */
const answerRate = { most: 20, everyMs: 100 };
/** Callers with counted questions. Beyond, the one that has been quiet longest starts anew. */
const MOST_CALLERS = 1_000;

export interface DescribePorts {
  readonly port: BusPort;
  readonly subjects: Subjects;
  readonly callers: BusCallers;
  readonly offers: Offers;
  readonly clock: Clock;
  readonly onError: (error: Error) => void;
}

/** Tells callers the tools that they could call. */
export class DescribeServer {
  readonly #ports: DescribePorts;
  /** By caller. The one that has been quiet longest comes first. */
  readonly #answers = new Map<string, TokenBucket>();
  readonly #kernel = newToken();

  constructor(ports: DescribePorts) {
    this.#ports = ports;
  }

  answer(message: BusMessage): void {
    const { port, subjects, callers, offers, onError } = this.#ports;
    const address = returnAddress(message, subjects);
    const from = callers(message);
    if (!address || !from || kindOf(message) !== "describe") return;
    if (!this.#mayAsk(from))
      return onError(
        new Error(`The caller ${from.caller.caller} asks too often for definitions. It was not answered.`),
      );
    const asked = message.subject.split(".").at(-2);
    const all = offers.of(from.caller.caller);
    const isAll = message.subject === subjects.describeAll;
    const told = isAll ? all : all.filter(({ manifest }) => manifest.name === asked);
    const kernel = [headers.kernel, this.#kernel] as const;
    const { correlation, reply } = address;
    try {
      for (const { definition } of told) {
        const answer = replyOf("definition", correlation, definition, [kernel]);
        if (answer.body.length <= port.bodyBytes) port.publish(reply, sealed(reply, answer, from.credential));
      }
      const end = replyOf("described", correlation, undefined, [kernel, [headers.count, String(told.length)]]);
      port.publish(reply, sealed(reply, end, from.credential));
    } catch (error) {
      onError(error instanceof Error ? error : new Error("The bus took no answer."));
    }
  }
  /** A caller that asks without end takes no answer from another one. */
  #mayAsk(from: KnownCaller): boolean {
    const owner = from.caller.caller;
    const bucket = this.#answers.get(owner) ?? new TokenBucket(this.#ports.clock, answerRate);
    this.#answers.delete(owner);
    this.#answers.set(owner, bucket);
    const [quietest] = this.#answers.keys();
    if (this.#answers.size > MOST_CALLERS && quietest !== undefined) this.#answers.delete(quietest);
    return bucket.take();
  }
}
