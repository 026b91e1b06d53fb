import type { Clock, JsonObject } from "@keyhole/kernel";
import { readObject } from "../wire/body.ts";
import { headers, kindOf } from "../wire/headers.ts";
import { isToolName, type Subjects } from "../wire/subjects.ts";
import type { Answer, Inbox } from "./inbox.ts";

/** In one discovery. The source ignores kernels that send more. */
const MOST_DEFINITIONS = 10_000;
const MOST_BYTES = 16_777_216;

export type Definition = JsonObject & { readonly name: string };

export interface DiscoveryOptions {
  readonly inbox: Inbox;
  readonly subjects: Subjects;
  readonly clock: Clock;
  readonly discoveryMs: number;
  readonly expect: readonly string[];
}

/**
 * The definitions that kernels on the bus describe: each one once. Two kernels that describe one tool in two ways give two definitions of it.
 *
 * @throws Error where no kernel answers, or a tool that has to be there is missing
 */
export function discover(options: DiscoveryOptions): Promise<readonly Definition[]> {
  return new Promise((resolve, reject) => new Discovery(options, resolve, reject).start());
}

class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #resolve: (definitions: readonly Definition[]) => void;
  readonly #reject: (error: Error) => void;
  readonly #byText = new Map<string, Definition>();
  /** Names, while a kernel has not described all of its tools. */
  readonly #missing: Set<string>;
  readonly #exchange;
  #stopWait: () => void = () => {};
  #hasAnswer = false;
  #count = 0;
  #bytes = 0;

  constructor(
    options: DiscoveryOptions,
    resolve: (definitions: readonly Definition[]) => void,
    reject: (error: Error) => void,
  ) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#missing = new Set(options.expect);
    this.#exchange = options.inbox.open({
      onAnswer: (answer) => this.#take(answer),
      onUnheard: () => this.#unheard(),
      onClose: () => this.#fail(new Error("The source was closed.")),
    });
  }

  start(): void {
    const { inbox, subjects, clock, discoveryMs } = this.#options;
    const { reply, correlation } = this.#exchange;
    this.#stopWait = clock.after(discoveryMs, () => this.#end());
    const own = new Map([
      [headers.kind, "describe"],
      [headers.correlation, correlation],
    ]);
    try {
      inbox.send(subjects.describeAll, { reply, headers: own, body: new Uint8Array() });
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error("The bus took no question."));
    }
  }

  /** Kernels may have heard the question all the same, where they seal what they answer. */
  #unheard(): void {
    if (!this.#hasAnswer && !this.#options.inbox.isSealed) this.#end();
  }

  #take(answer: Answer): void {
    const kind = kindOf(answer);
    if (kind === "described") this.#hasAnswer = true;
    else if (kind === "definition") this.#define(answer);
    const { expect } = this.#options;
    if (this.#hasAnswer && expect.length > 0 && this.#missing.size === 0) this.#end();
  }

  #define({ body }: Answer): void {
    this.#hasAnswer = true;
    this.#count++;
    this.#bytes += body.length;
    const { inbox } = this.#options;
    if (this.#count > MOST_DEFINITIONS || this.#bytes > MOST_BYTES)
      return this.#fail(new RangeError("The kernels on the bus describe too much. None of it was taken."));
    const definition = readObject(body);
    const name = definition?.["name"];
    if (definition === undefined || typeof name !== "string" || !isToolName(name))
      return inbox.report("A definition on the bus is not one of a tool. It was dropped.");
    this.#byText.set(JSON.stringify(definition), { ...definition, name });
    this.#missing.delete(name);
  }

  #end(): void {
    const { discoveryMs, subjects } = this.#options;
    const [missing] = this.#missing;
    if (!this.#hasAnswer)
      return this.#fail(
        new Error(`No kernel described its tools at ${subjects.describeAll} within ${discoveryMs} ms.`),
      );
    if (missing !== undefined)
      return this.#fail(new Error(`No kernel described the tool ${missing} within ${discoveryMs} ms.`));
    this.#close();
    this.#resolve([...this.#byText.values()]);
  }

  #fail(error: Error): void {
    this.#close();
    this.#reject(error);
  }

  #close(): void {
    this.#stopWait();
    this.#exchange.close();
  }
}
