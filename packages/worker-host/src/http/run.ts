import type { Isolate, JsonObject, JsonValue, OutputContract, RegisteredTool, ToolContext } from "@keyhole/kernel";
import { runCall } from "@keyhole/kernel/guest";
import { stoppable } from "../stoppable.ts";
import type { HttpRequestPlan } from "./compile.ts";
import { outputOf, ReplyError } from "./reply.ts";

/** The request of a call with a known input. */
interface PreparedRequest {
  readonly url: URL;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | undefined;
}

/** A tool that is a request, as the kernel sees an isolate. */
export function openRequests({ manifest }: RegisteredTool, plan: HttpRequestPlan): Isolate {
  return stoppable(async (call, port) => {
    let passes = false;
    const code = {
      check(input: JsonObject): string | undefined {
        const request = prepare(plan, input, () => "x");
        return typeof request === "string" ? request : undefined;
      },
      async execute(input: JsonObject, context: ToolContext): Promise<unknown> {
        try {
          return await request(plan, input, context, manifest.output);
        } catch (error) {
          passes = error instanceof ReplyError && error.retryable && manifest.idempotent === true;
          throw error;
        }
      },
    };
    const outcome = await runCall({ code }, call, port);
    return outcome.kind === "threw" && passes ? { ...outcome, retryable: true } : outcome;
  }, "the tool is gone");
}

async function request(
  plan: HttpRequestPlan,
  input: JsonObject,
  { fetch, secret }: ToolContext,
  output: OutputContract,
): Promise<unknown> {
  const prepared = prepare(plan, input, secret);
  if (typeof prepared === "string") throw new TypeError(prepared);
  const { url, headers, body } = prepared;
  const response = await fetch(url, { method: plan.method, headers, ...(body !== undefined && { body }) });
  const { status } = response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  const reply = { host: url.host, status, headers: new Map(response.headers), bytes, input };
  return outputOf(reply, plan.responses, output);
}

/** A text says what is wrong with the input. */
function prepare(
  { url, headers, body, secrets }: HttpRequestPlan,
  input: JsonObject,
  secret: (name: string) => string,
): PreparedRequest | string {
  const ownUrl = url.expand(input, secret);
  if (typeof ownUrl === "string") return ownUrl;
  const ownHeaders: [string, string][] = [];
  for (const header of headers) {
    const expanded = header.expand(input, secret);
    if (!expanded.ok) return expanded.message;
    if (expanded.value !== undefined) ownHeaders.push([header.name, expanded.value]);
  }
  if (!body) return { url: ownUrl, headers: ownHeaders, body: undefined };
  const known: JsonObject = Object.fromEntries(secrets.map((name) => [name, secret(name)]));
  const expanded = body.expand(
    new Map<string, JsonValue>([
      ["input", input],
      ["secret", known],
    ]),
  );
  if (!expanded.ok) return expanded.message;
  if (expanded.text !== undefined && !ownHeaders.some(([name]) => name === "content-type"))
    ownHeaders.push(["content-type", body.mediaType]);
  return { url: ownUrl, headers: ownHeaders, body: expanded.text };
}
