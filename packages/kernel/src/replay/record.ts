import type { CapabilityReply, CapabilityRequest } from "../capability/broker.ts";
import type { IsolateHost, IsolateOutcome } from "../isolate/port.ts";
import { Flow } from "../normalize/flow.ts";
import { blake3Hash, type Hash } from "../normalize/hash.ts";
import type { JsonObject } from "../normalize/json.ts";
import { encodeBase64 } from "../normalize/base64.ts";
import { snapshot } from "../normalize/snapshot.ts";
import type { RunEntry } from "./run.ts";
import { hashInTurns, tell, tellLong, type Told } from "./told.ts";
import { turns } from "./turns.ts";

/** Calls whose attempts are counted. */
const REMEMBERED = 10_000;

/**
 * A host that runs tools on another one and writes down all that they could observe. Calls may overlap; entries come in the order of what happened.
 *
 * @example
 * const entries: RunEntry[] = [];
 * const kernel = await createKernel({ host: recordingHost(host, (entry) => entries.push(entry)) });
 *
 * @param by The kernel's algorithm. Default BLAKE3.
 */
export function recordingHost(host: IsolateHost, write: (entry: RunEntry) => void, by: Hash = blake3Hash): IsolateHost {
  const attempts = new Map<string, number>();
  /** A call that is tried again is so soon: the oldest are forgotten. */
  const attemptOf = (callId: string): number => {
    const attempt = (attempts.get(callId) ?? 0) + 1;
    attempts.delete(callId);
    attempts.set(callId, attempt);
    if (attempts.size > REMEMBERED) attempts.delete(attempts.keys().next().value!);
    return attempt;
  };
  return {
    name: host.name,
    sources: host.sources,
    enforces: host.enforces,
    preempts: host.preempts,
    brokers: host.brokers,
    ...(host.check && { check: (tool) => host.check?.(tool) }),
    close: () => host.close(),
    async open(tool, isWanted) {
      const isolate = await host.open(tool, isWanted);
      return {
        get alive() {
          return isolate.alive;
        },
        terminate: (reason) => isolate.terminate(reason),
        async call(call, port) {
          const { callId, sessionId, inputText, outputKind, outputBytes, seed, nowMs, hasBody, real = [] } = call;
          const shape = { callId, sessionId, inputText, outputKind, outputBytes, seed, nowMs, real };
          const attempt = attemptOf(callId);
          write({
            kind: "call",
            tool: tool.id,
            toolHash: tool.hash,
            ...(tool.composedOf !== undefined && { packageHash: tool.composedOf }),
            ...(attempt > 1 && { attempt }),
            ...(hasBody && { hasBody }),
            ...shape,
          });
          let next = 0;
          let hasEnded = false;
          const turn = turns();
          const noted = async <T>(asked: Asked, answer: () => Promise<T>, said: (given: T) => Said): Promise<T> => {
            if (hasEnded) return answer();
            const index = next++;
            write({ kind: "request", callId, index, ...requestParts(asked, by) });
            const given = await answer();
            // Before it goes on: then its memory is another's.
            const reply = said(given);
            await turn();
            // What the tool did not wait for, it did not observe.
            if (!hasEnded) write({ kind: "reply", callId, index, ...reply });
            return given;
          };
          const flow = new Flow(outputBytes, by);
          const outcome = await isolate.call(call, {
            get signal() {
              return port.signal;
            },
            log: (entry) => port.log(entry),
            progress: (progress) => port.progress(progress),
            used: (usage) => port.used?.(usage),
            async write(piece) {
              // Before it goes on: then its memory is another's.
              if (!hasEnded) await flow.keep(piece);
              return (await port.write?.(piece)) ?? false;
            },
            request: (request) => noted(request, () => port.request(request), split),
            read: () => noted(bodyRead, async () => port.read?.(), givenBody),
          });
          hasEnded = true;
          write({ kind: "outcome", callId, ...(await outcomeParts(outcome, by, flow)) });
          return outcome;
        },
      };
    },
  };
}

type Asked = Omit<CapabilityRequest, "kind"> & { readonly kind: string };
type Said = Pick<Extract<RunEntry, { kind: "reply" }>, "reply" | "body">;

/** How a run says that the tool read on in its body: like any other request, though none of a capability. */
export const bodyRead: Asked = { kind: "body", operation: "read", arguments: {} };

function givenBody(piece: Uint8Array | undefined): Said {
  return { reply: { ok: piece !== undefined, value: null }, body: piece ? encodeBase64(piece) : null };
}

/** As the kernel reads it: what is refused for its arguments is told as that. */
export function requestParts(
  { kind, operation, arguments: asked, body }: Asked,
  by: Hash,
): {
  readonly request: JsonObject;
  readonly requestHash: string;
} {
  const plain = snapshot(asked);
  const given = plain.ok ? plain.value : asked;
  const { what, hash } = tell({ kind, operation, arguments: given, body: body ? by.bytes(body) : null }, by);
  return { request: what, requestHash: hash };
}

/** @param flow what was written before; of a stream the outcome says only that it is whole */
export async function outcomeParts(
  outcome: IsolateOutcome,
  by: Hash,
  flow: Flow,
): Promise<{
  readonly outcome: string;
  readonly result: JsonObject;
  readonly outcomeHash: string;
}> {
  const { what, hash } = await resultOf(outcome, by, flow);
  return { outcome: outcome.kind, result: what, outcomeHash: hash };
}

async function resultOf(outcome: IsolateOutcome, by: Hash, flow: Flow): Promise<Told> {
  if (outcome.kind !== "returned") return tell(outcome, by);
  const { output } = outcome;
  switch (output.form) {
    case "stream":
      return ofBytes(output.form, flow.byteLength, flow.digest);
    case "binary":
      return ofBytes(output.form, output.bytes.length, await hashInTurns(output.bytes, by));
    default:
      return tellLong({ form: output.form, text: output.text }, by);
  }
}

function ofBytes(form: string, byteLength: number, hash: Told["hash"]): Told {
  return { what: { form, byteLength, hash }, hash };
}

function split(reply: CapabilityReply): Said {
  if (!reply.ok) return { reply: { ok: false, error: { ...reply.error } }, body: null };
  return { reply: { ok: true, value: reply.value }, body: reply.body ? encodeBase64(reply.body) : null };
}
