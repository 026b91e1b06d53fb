import type { ToolCode } from "../tool/define.ts";
import type { IsolateOutcome } from "../isolate/port.ts";
import type { GuestCall, GuestTransport } from "./call.ts";
import { toolContext } from "./context.ts";
import { outputOf } from "./output.ts";
import { type CallSources, callSources } from "./sources.ts";
import { streamOutput } from "./stream.ts";
import { boundedMessage, thrownOutcome } from "./thrown.ts";

/** A realm whose globals follow the call. Returns the way out of it. */
export interface CallRealm {
  enter(sources: CallSources & { readonly log: GuestTransport["log"] }): () => void;
}

/**
 * Runs one call of a tool inside its isolate: `setup` (once per isolate), `check`, `execute`, and
 * the snapshot of what it returned. Never rejects. The host stops a tool that never yields.
 *
 * @param tool the default export of the tool's module, not yet looked at
 * @param realm gives the sealed globals (`Date`, `Math.random`, `console`) this call's clock, seed and log
 */
export async function runCall(
  tool: unknown,
  call: GuestCall,
  transport: GuestTransport,
  realm?: CallRealm,
): Promise<IsolateOutcome> {
  const sources = callSources(call);
  try {
    const code = codeOf(tool);
    if (!ready.has(code)) await setUp(code);
    const leave = realm?.enter({ ...sources, log: transport.log });
    try {
      if (call.asks === "health") return (await objectionOf("health", code.health?.())) ?? well;
      const input: unknown = JSON.parse(call.inputText);
      if (code.check) {
        const objection = await objectionOf("check", code.check(input));
        if (objection) return objection;
      }
      const value: unknown = await code.execute(input, toolContext(call, transport, sources));
      const { outputKind } = call;
      if (outputKind === "stream") return await streamOutput(value, call, transport);
      return outputOf(value, { ...call, outputKind });
    } finally {
      leave?.();
    }
  } catch (thrown) {
    return thrownOutcome(thrown);
  }
}

/** The outcome of a health check without objections. */
export const well: IsolateOutcome = { kind: "returned", output: { form: "json", text: "null" } };

/** The objection of a function that returns a sentence or nothing. */
async function objectionOf(name: string, given: unknown): Promise<IsolateOutcome | undefined> {
  const objection: unknown = await given;
  if (typeof objection === "string") return { kind: "refused", message: boundedMessage(objection) };
  if (objection !== undefined) throw new TypeError(`${name} returned a value that is neither a string nor undefined`);
  return undefined;
}

function codeOf(tool: unknown): ToolCode<unknown, unknown> {
  const code = (tool as { code?: unknown } | null | undefined)?.code as
    | Partial<ToolCode<unknown, unknown>>
    | null
    | undefined;
  if (typeof code?.execute !== "function") throw new TypeError("the module's default export is not a tool");
  return code as ToolCode<unknown, unknown>;
}

const setups = new WeakMap<ToolCode<unknown, unknown>, Promise<void>>();
/** Those whose `setup` has succeeded. */
const ready = new WeakSet<ToolCode<unknown, unknown>>();

/** Every call waits for the one `setup`; one that failed fails each call, because the tool is not ready for any. */
function setUp(code: ToolCode<unknown, unknown>): Promise<void> {
  let setup = setups.get(code);
  if (setup === undefined) {
    setup = (async () => {
      await code.setup?.();
      ready.add(code);
    })();
    setups.set(code, setup);
  }
  return setup;
}
