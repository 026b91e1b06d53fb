import type { ToolContext } from "@keyhole/kernel";
import type { RequestId } from "@modelcontextprotocol/client";

type Context = Pick<ToolContext, "charge" | "log">;

/** Options of the SDK's client for each request. */
export interface RequestLimits {
  /** Of the call that the request serves. */
  readonly relatedRequestId: RequestId;
  readonly signal: AbortSignal;
  readonly timeout: number;
}

/** A call of the kernel that requests to a server serve. Its grants pay for them. */
export class ServedCall {
  /** None after the end: a server can be late. */
  #context: Context | undefined;
  #requests = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Before each request: the kernel has charged the first with the arguments. `false`: do not send it. */
  request(bytes: number): boolean {
    if (!this.#context) return false;
    return this.#requests++ === 0 || this.#charge(bytes, true);
  }

  /** `false`: the call ends, and gets nothing more. */
  receive(bytes: number): boolean {
    return this.#charge(bytes);
  }

  readonly log: Context["log"] = (message, level) => this.#context?.log(message, level);

  end(): void {
    this.#context = undefined;
  }

  #charge(bytes: number, isRequest = false): boolean {
    return this.#context?.charge?.(bytes, isRequest) ?? true;
  }
}

/** The calls of one connection that have not ended. */
export class RunningCalls {
  readonly #calls = new Map<RequestId, ServedCall>();
  #count = 0;

  /** @param work its requests carry the id as `relatedRequestId` */
  async run<Value>(context: Context, work: (id: RequestId) => Promise<Value>): Promise<Value> {
    const id = this.#count++;
    const call = new ServedCall(context);
    this.#calls.set(id, call);
    try {
      return await work(id);
    } finally {
      this.#calls.delete(id);
      call.end();
    }
  }

  of(id: RequestId | undefined): ServedCall | undefined {
    return id === undefined ? undefined : this.#calls.get(id);
  }

  /** A message without an owner belongs to a call where there is just one. */
  get only(): ServedCall | undefined {
    const [call, ...others] = this.#calls.values();
    return others.length === 0 ? call : undefined;
  }
}
