import type { Answer, Ask } from "../capability/ask.ts";
import type { CapabilityReply, CapabilityRequest } from "../capability/request.ts";
import { databaseGuest } from "../capability/families/db.ts";
import { filesGuest } from "../capability/families/fs.ts";
import { keysGuest } from "../capability/families/kv.ts";
import { fetchGuest } from "../capability/families/net.ts";
import { spawnGuest } from "../capability/families/process-spawn.ts";
import { secretGuest } from "../capability/families/secret-use.ts";
import { toolsGuest } from "../capability/families/tool-call.ts";
import type { CapabilityRefused, Onward, ToolContext } from "../tool/define.ts";
import { bodyOf } from "./body.ts";
import type { GuestCall, GuestTransport } from "./call.ts";
import type { CallSources } from "./sources.ts";

/**
 * The tool's only access to anything outside: it holds the transport where the tool cannot reach
 * it. Parts come into being when the tool first reads them. Each part works alone, taken out of the
 * context.
 *
 * A class, because an accessor in an object literal gives every object a hidden class of its own.
 * That class keeps the whole call in memory until the next full collection: measured at 8 KB and a
 * tenth of the time of a call.
 */
class CallContext implements ToolContext {
  readonly callId: string;
  readonly sessionId: string;
  readonly now: () => number;
  readonly random: () => number;
  /** Declared alone: in an isolate the context has no such member, not even an empty one. */
  declare readonly onward?: Onward;
  declare readonly charge?: NonNullable<ToolContext["charge"]>;
  readonly #seed: string;
  readonly #transport: GuestTransport;
  #body: ToolContext["body"] | undefined;

  constructor(call: GuestCall, transport: GuestTransport, sources: CallSources) {
    this.callId = call.callId;
    this.sessionId = call.sessionId;
    this.now = sources.now;
    this.random = sources.random;
    if (call.onward) {
      this.onward = call.onward;
      this.charge = chargeOf(transport);
    }
    this.#seed = call.seed;
    this.#transport = transport;
  }

  get signal(): AbortSignal {
    return this.#transport.signal;
  }

  get fetch(): ToolContext["fetch"] {
    return fetchGuest(this.#ask);
  }

  get files(): ToolContext["files"] {
    return filesGuest(this.#ask);
  }

  get db(): ToolContext["db"] {
    return databaseGuest(this.#ask);
  }

  get kv(): ToolContext["kv"] {
    return keysGuest(this.#ask);
  }

  get spawn(): ToolContext["spawn"] {
    return spawnGuest(this.#ask);
  }

  get tools(): ToolContext["tools"] {
    return toolsGuest(this.#ask);
  }

  get secret(): ToolContext["secret"] {
    return secretGuest(this.#seed);
  }

  get request(): ToolContext["request"] {
    return this.#ask;
  }

  get body(): ToolContext["body"] {
    return (this.#body ??= bodyOf(this.#transport));
  }

  get log(): ToolContext["log"] {
    return (message, level = "info") => this.#transport.log({ level, message: String(message) });
  }

  get progress(): ToolContext["progress"] {
    return ({ done, total, message }) =>
      this.#transport.progress({
        done,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      });
  }

  get #ask(): Ask {
    return async <Value>(asked: CapabilityRequest): Promise<Answer<Value>> => {
      const reply = await this.#transport.request(asked);
      if (!reply.ok) throw refusal(reply.error);
      const { value, body }: Answer<unknown> = reply;
      // Its broker gives what its kind says.
      return { value: value as Value, ...(body && { body }) };
    };
  }
}
Object.freeze(CallContext.prototype); // Shared by the calls of an isolate.

export function toolContext(call: GuestCall, transport: GuestTransport, sources: CallSources): ToolContext {
  return new CallContext(call, transport, sources);
}

/** Outside of the constructor: a function made there keeps the call in memory as such an accessor does. */
const chargeOf =
  (transport: GuestTransport): NonNullable<ToolContext["charge"]> =>
  (bytes, isRequest = false) =>
    transport.charge?.(bytes, isRequest) !== false;

function refusal(error: Extract<CapabilityReply, { ok: false }>["error"]): CapabilityRefused {
  const thrown = new Error(error.message);
  thrown.name = "CapabilityRefused";
  return Object.assign(thrown, { code: error.code, hint: error.hint });
}
