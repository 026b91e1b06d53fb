import type { OwnRequest } from "../capability/request.ts";
import { isKind } from "../support/kind.ts";
import { bytesOf, membersOf } from "../support/foreign.ts";
import type { JsonObject } from "../json/json.ts";
import { snapshot } from "../json/snapshot.ts";

/*
 * What the code of a tool says through its host, read once. An inline tool shares the realm, so no message was checked on the way.
 */

const none = { kind: "", operation: "", arguments: {} } as const;

/** A request on its way to the gate, which refuses it where it has a fault. */
export function readRequest(foreign: unknown): OwnRequest {
  try {
    const { kind, operation, arguments: asked, body, fault } = membersOf(foreign);
    // The recorder of runs has read it before.
    if (typeof fault === "string") return { ...none, fault };
    if (typeof kind !== "string" || !isKind(kind) || typeof operation !== "string")
      return { ...none, fault: "The request has no kind and no operation." };
    const plain = snapshot(asked);
    if (!plain.ok) return { ...none, fault: `The request's arguments are not JSON: ${plain.error.message}.` };
    const request = { kind, operation, arguments: plain.value as JsonObject };
    if (body === undefined) return request;
    const bytes = bytesOf(body);
    return bytes ? { ...request, body: bytes } : { ...none, fault: "The request's body is not a Uint8Array." };
  } catch {
    return { ...none, fault: "The request is unreadable." };
  }
}
