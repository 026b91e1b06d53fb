import {
  type ApprovalRequest,
  type CallFailure,
  type CallResult,
  type CallSuccess,
  type JsonObject,
  type ModelError,
  modelError,
} from "@keyhole/kernel";
import { encodeBase64 } from "@keyhole/kernel/context";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import { mcpOutputType, outputSchemaOf } from "../mcp-output.ts";
import type { ListedTool } from "./catalogue.ts";
import type { McpApprovals } from "./options.ts";

/** Bytes that a stream gave, where it was small enough to be held. */
export interface HeldStream {
  readonly bytes: Uint8Array;
}

export interface ResultParts {
  readonly held?: HeldStream | undefined;
  /** Where the client can read an output that is too large for a result. */
  readonly linkTo?: ((digest: string) => string) | undefined;
}

/** The result of a call as MCP has it. An error of the kernel is a result that the model reads; the operator's hint stays here. */
export function toolResult(tool: ListedTool, result: CallResult, parts: ResultParts = {}): CallToolResult {
  return result.ok ? successResult(tool, result, parts) : failureResult(result);
}

function failureResult(failure: CallFailure): CallToolResult {
  return errorResult(modelError(failure.error), failure);
}

export function errorResult(
  own: ModelError,
  { callId, proof, effects = [] }: Pick<CallFailure, "callId"> & Partial<Pick<CallFailure, "proof" | "effects">>,
): CallToolResult {
  const { details } = own;
  const { unchecked } = typeof details === "object" && details && "unchecked" in details ? details : {};
  const text = [
    `${own.code}: ${own.message} ${own.hint}`.trim(),
    ...(effects.length > 0 ? [`The call used ${effects.join(", ")}.`] : []),
    ...(typeof unchecked === "string" ? [`Its value, unchecked: ${unchecked}`] : []),
  ].join(" ");
  return {
    isError: true,
    content: [{ type: "text", text }],
    _meta: {
      "keyhole/callId": callId,
      ...(proof && { "keyhole/decision": proof.decision }),
      "keyhole/error": { ...own },
      ...(effects.length > 0 && { "keyhole/effects": effects }),
    },
  };
}

/** For the model of a client that cannot lead its user to a page. The question stays open, and so does the call. */
export function stillOpen(question: ApprovalRequest | undefined, approvals: McpApprovals | undefined): CallToolResult {
  const url = question && approvals?.url(question);
  const place = url === undefined ? "a person has to answer it." : `a person answers it at ${url}`;
  const error: ModelError = {
    code: "APPROVAL_EXPIRED",
    message: `No person has answered yet. The question is open: ${place}`,
    details: {},
    retryable: true,
    hint: "Tell the user. After the answer, call the tool again with the same arguments: that call takes the answer.",
  };
  return errorResult(error, { callId: question?.callId ?? "" });
}

function successResult(tool: ListedTool, result: CallSuccess, { held, linkTo }: ResultParts): CallToolResult {
  const { data, reference, hash, callId, proof } = result;
  const _meta = { "keyhole/callId": callId, "keyhole/decision": proof.decision, "keyhole/hash": hash };
  const { manifest, definition } = tool;
  const { kind, mediaType } = manifest.output;
  if (reference && linkTo) {
    const link = {
      uri: linkTo(reference.digest),
      name: `${definition.name} ${reference.digest}`,
      size: reference.byteLength,
    };
    const mimeType = reference.mediaType ?? mediaTypes[kind];
    return { content: [{ type: "resource_link", ...link, mimeType }], _meta };
  }
  const bytes = held?.bytes ?? (data instanceof Uint8Array ? data : undefined);
  if (bytes) return { content: [bytesBlock(bytes, mediaType ?? mediaTypes[kind], hash)], _meta };
  if (mediaType === mcpOutputType) return { ...(data as JsonObject), _meta } as unknown as CallToolResult;
  const text = typeof data === "string" ? data : JSON.stringify(data);
  const isStructured = kind === "json" && outputSchemaOf(manifest) !== undefined;
  return {
    content: [{ type: "text", text }],
    ...(isStructured && { structuredContent: data }),
    _meta,
  };
}

const mediaTypes = {
  json: "application/json",
  text: "text/plain",
  binary: "application/octet-stream",
  stream: "application/octet-stream",
} as const;

/** A picture or a sound as what it is, text as text, and everything else as a resource that stands in the result. */
function bytesBlock(bytes: Uint8Array, mimeType: string, hash: string): ContentBlock {
  const type = /^(image|audio)\//.exec(mimeType)?.[1] as "image" | "audio" | undefined;
  if (type) return { type, data: encodeBase64(bytes), mimeType };
  const uri = `keyhole:${hash}`;
  if (mimeType.startsWith("text/")) {
    try {
      return {
        type: "resource",
        resource: { uri, mimeType, text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes) },
      };
    } catch {
      // It says that it is text, and is not in UTF-8.
    }
  }
  return { type: "resource", resource: { uri, mimeType, blob: encodeBase64(bytes) } };
}
