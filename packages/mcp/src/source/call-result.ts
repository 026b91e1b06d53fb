import { type JsonObject, type JsonValue, visible } from "@keyhole/kernel";
import {
  type CallToolResult,
  isInputRequiredResult,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from "@modelcontextprotocol/client";

const MOST_LENGTH = 1_500;

/** The answer of a server, as the output of the kernel's tool. @throws Error where the server says that the call failed */
export function outputOf(result: CallToolResult): JsonValue {
  if (isInputRequiredResult(result)) throw inputRefused();
  const { content, structuredContent, isError } = result;
  if (isError === true) throw new Error(textOf(content));
  return { content, ...(structuredContent !== undefined && { structuredContent }) } as unknown as JsonObject;
}

export const inputRefused = (): Error =>
  new Error("The server asked its client for input. Keyhole refuses requests of a server.");

/** The server's own words: they are shown, and nothing follows from them. */
function textOf(content: CallToolResult["content"]): string {
  const words = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return words === "" ? "The server says that the call failed, and not why." : shortened(words);
}

/** A person reads an error in a log or a terminal. */
const shortened = (text: string): string => visible(text.slice(0, MOST_LENGTH));

/** The first cause: what the server answered, or else the act that ended its connection. */
export function causeOf(error: unknown, fault: Error | undefined): unknown {
  return error instanceof ProtocolError ? error : (fault ?? error);
}

/** Why a request has no result, in our own words where they are known. */
export function callFault(error: unknown, timeoutMs: number): Error {
  if (error instanceof ProtocolError)
    return new Error(shortened(`The server refused the request (${error.code}): ${error.message}`));
  if (!(error instanceof SdkError))
    return error instanceof Error ? error : new Error("The request to the server failed.");
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return new Error(`The server did not answer within ${timeoutMs} ms.`);
    case SdkErrorCode.ConnectionClosed:
      return new Error("The server ended during the request.");
    default: {
      const status = error instanceof SdkHttpError ? ` (status ${error.status})` : "";
      return new Error(shortened(`The request to the server failed${status}: ${error.message}`));
    }
  }
}
