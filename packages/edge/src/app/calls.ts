import {
  type Approver,
  type AuditEvent,
  type CallError,
  type CallOptions,
  type CallResult,
  type Capability,
  type Kernel,
  limits,
} from "@keyhole/kernel";
import type { BodyReader } from "@keyhole/kernel/foreign";
import type { ApprovalDesk } from "@keyhole/worker-host/approval-desk";
import { assertSubject, type Identity } from "./auth.ts";
import { type BodySender, isOfType, readBody, readHeader } from "./body.ts";
import { checkOf } from "./check.ts";
import { eventStream } from "./event-stream.ts";
import { outputEvents } from "./output-events.ts";
import { callProblem, HttpRefusal } from "./problem.ts";
import type { Uploads } from "./upload.ts";
import { wireResult } from "./wire.ts";

export interface CallSurroundings {
  readonly kernel: Kernel;
  readonly desk: ApprovalDesk;
  readonly identity: Identity;
  readonly bodies: BodyReader;
  readonly uploads: Uploads;
}

const senderOf = ({ bodies, identity: { subject } }: CallSurroundings): BodySender => ({ bodies, subject });

const name = { type: "string", minLength: 1, maxLength: 256 } as const;

/** `grants` and `bounds` are only carried: the kernel checks them, with the same errors on every surface. */
const callBody = checkOf(
  {
    type: "object",
    properties: {
      input: {},
      version: name,
      caller: name,
      sessionId: name,
      correlationId: name,
      grants: { type: "array", items: { type: "object" } },
      bounds: { type: "object" },
      waitMs: { type: "integer", minimum: 0, maximum: limits.longestWaitMs },
      cache: { type: "boolean" },
      raw: { type: "boolean" },
      references: { type: "boolean" },
      output: { type: "boolean" },
    },
    required: ["input"],
    additionalProperties: false,
  },
  `Put the tool's arguments under "input".`,
);

type CallBody = ReturnType<typeof callBody>;

/**
 * Answers with the decision about a call: always 200. The body is that of a call.
 *
 * @throws {HttpRefusal}
 */
export async function previewRoute(around: CallSurroundings, tool: string, request: Request): Promise<Response> {
  const { kernel, identity } = around;
  const call = await readBody(request, callBody, senderOf(around));
  const preview = await kernel.preview(tool, call.input, callOptions(call, identity, request));
  return Response.json(
    preview.decision === "deny" ? { ...preview, error: errorFor(identity, preview.error) } : preview,
  );
}

/**
 * Calls a tool: 200 with the result, or a problem with the code's status. A client that accepts `text/event-stream` gets each event on the way,
 * and the result as the last event, also a failure. A client that goes away cancels. A request of bytes is the body of the call; all else is in a header then.
 */
export async function callRoute(around: CallSurroundings, tool: string, request: Request): Promise<Response> {
  const isBytes = isOfType(request, bytesType);
  const call = isBytes
    ? await readHeader(request, "keyhole-call", callBody, noInput)
    : await readBody(request, callBody, senderOf(around), ["application/json", bytesType]);
  const options = callOptions(call, around.identity, request);
  const inEvents = accepts(request, "text/event-stream");
  if (call.output === true && !inEvents)
    throw new HttpRefusal(
      "INVALID_REQUEST",
      "`output` is available as events only. Send the header Accept: text/event-stream.",
    );
  const answer = inEvents ? streamCall : accepts(request, bytesType) ? bytesCall : answerCall;
  const upload = isBytes ? around.uploads.open(around.identity.subject, request, inEvents) : undefined;
  const run = async (more: CallOptions = {}): Promise<CallResult> => {
    const body = upload && { body: upload.stream };
    try {
      const all = { signal: request.signal, ...options, ...body, ...more };
      return resultFor(around.identity, await around.kernel.call(tool, call.input, all));
    } finally {
      await upload?.drain();
    }
  };
  return answer(run, around, request.signal, call);
}

function resultFor(identity: Identity, result: CallResult): CallResult {
  return result.ok ? result : { ...result, error: errorFor(identity, result.error) };
}

/** Removes the operator's hint for tokens without `policy:read`: such a caller can pass the complete answer to a model. */
function errorFor({ scopes }: Identity, error: CallError): CallError {
  return scopes.includes("policy:read") ? error : { ...error, operatorHint: "" };
}

/** The call, and what its answer comes after. */
type Run = (more?: CallOptions) => Promise<CallResult>;

const bytesType = "application/octet-stream";
/** `{"input":{}}` */
const noInput = ":eyJpbnB1dCI6e319:";

async function answerCall(run: Run): Promise<Response> {
  const result = await run();
  return result.ok ? Response.json(wireResult(result)) : callProblem(result);
}

function streamCall(run: Run, { desk }: CallSurroundings, clientGone: AbortSignal, call: CallBody): Response {
  return eventStream(clientGone, async (line) => {
    const { send, signal } = line;
    const approver: Approver = (asked, until) => {
      send("approval", asked);
      return desk.approver(asked, until);
    };
    const result = await run({
      signal,
      ...(call.output === true && { output: outputEvents(line) }),
      onEvent: (event) => send("audit", event),
      onLog: (entry) => send("log", entry),
      onProgress: (progress) => send("progress", progress),
      approver,
      nestedApprover: approver, // Each question goes to the desk.
    });
    send("result", wireResult(result));
  });
}

/**
 * The bytes of a stream as they come, and nothing else. The status is known with the first of them: what fails before is a problem, what fails later breaks the body off, which
 * no client takes for its end.
 */
async function bytesCall(run: Run): Promise<Response> {
  const begun = Promise.withResolvers<"begun">();
  // Room for one chunk: the first one has to come through before a reader reads.
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(
    {
      transform(piece, controller) {
        controller.enqueue(piece);
        begun.resolve("begun");
      },
      flush: async () => void (await ended),
    },
    undefined,
    { highWaterMark: 1 },
  );
  let callId = "";
  const onEvent = (event: AuditEvent): void => void (callId ||= event.callId ?? "");
  const ended = run({ output: writable, onEvent });
  const first = await Promise.race([begun.promise, ended]);
  if (first !== "begun" && !first.ok) return callProblem(first);
  // The bytes went to an earlier call under the same key; what is left is what the kernel knows of them.
  if (first !== "begun" && first.meta.cached) return Response.json(wireResult(first));
  return new Response(readable, { headers: { "content-type": bytesType, "keyhole-call-id": callId } });
}

function callOptions(call: CallBody, identity: Identity, request: Request): CallOptions {
  const { input: _, output: _asEvents, grants, caller, ...options } = call;
  assertSubject(identity, caller);
  const traceparent = request.headers.get("traceparent");
  const idempotencyKey = idempotencyKeyOf(request);
  return {
    ...options,
    ...(grants && { grants: grants as readonly object[] as readonly Capability[] }),
    caller: identity.subject,
    ...(traceparent !== null && { traceparent }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
}

/** A String of RFC 9651, as the IETF draft of the header has it; many clients leave the quotation marks out. Its bounds are the kernel's. */
function idempotencyKeyOf(request: Request): string | undefined {
  const header = request.headers.get("idempotency-key") ?? undefined;
  const quoted = header === undefined ? undefined : /^"((?:[^"\\]|\\["\\])*)"$/.exec(header)?.[1];
  if (quoted !== undefined) return quoted.replaceAll(/\\(["\\])/g, "$1");
  // Two headers of one name arrive as one, with a comma between them.
  if (header?.includes(",") === true)
    throw new HttpRefusal(
      "INVALID_REQUEST",
      "The header idempotency-key has more than one key.",
      {},
      "Send it once. Put a key that has a comma between quotation marks.",
    );
  return header;
}

function accepts(request: Request, type: "text/event-stream" | typeof bytesType): boolean {
  const asked = (request.headers.get("accept") ?? "").toLowerCase().split(",");
  return asked.some((each) => each.replace(/;.*/, "").trim() === type);
}
