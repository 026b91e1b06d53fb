import { type ContentStore, hashBytes } from "@keyhole/kernel";
import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { encodeBase64 } from "./base64url.ts";
import type { McpCaller } from "./caller.ts";
import type { Seal } from "./seal.ts";

/** The size limit of one answer, in bytes: base64 makes a third more of it, and clients refuse messages of more than 10 MB. */
const MOST_BYTES = 6_291_456;

/** The address of an output, good for one caller. A client that knows only the digest cannot read it. */
export function contentUri(digest: string, { caller, tenant = "" }: McpCaller, seal: Seal): string {
  return `keyhole-content://${digest.replace(":", "/")}/${seal.of(digest, ["content", caller, tenant])}`;
}

/** Reads the output at an address that its caller was given. */
export type ReadContent = (uri: string) => Promise<{ readonly contents: (TextPart | BlobPart)[] }>;

type TextPart = { readonly uri: string; readonly text: string };
type BlobPart = { readonly uri: string; readonly blob: string };

/** Lets a caller read the outputs that it was given links to. */
export function serveContent(
  server: McpServer,
  store: ContentStore,
  { caller, tenant = "" }: McpCaller,
  seal: Seal,
): ReadContent {
  const template = new ResourceTemplate("keyhole-content://{algorithm}/{hex}/{seal}", { list: undefined });
  const config = { title: "Large output", description: "An output of a tool that was too large for its result." };
  const read: ReadContent = async (uri) => {
    const [, algorithm = "", hex = "", given = ""] = /^keyhole-content:\/\/([^/]*)\/([^/]*)\/([^/]*)$/.exec(uri) ?? [];
    const digest = `${algorithm}:${hex}`;
    if (!seal.isOf(given, digest, ["content", caller, tenant])) throw new Error("There is no such output.");
    const bytes = await store.get(digest);
    if (!bytes) throw new Error("The store has deleted the output.");
    if (bytes.length > MOST_BYTES)
      throw new Error(`The output has ${bytes.length} bytes. An answer holds at most ${MOST_BYTES}.`);
    if (digest.startsWith("blake3:") && hashBytes(bytes) !== digest)
      throw new Error("The store holds other bytes than it was given.");
    return { contents: [{ uri, ...partOf(bytes) }] };
  };
  server.registerResource("content", template, config, (uri) => read(uri.href));
  return read;
}

/** Whether an address is one of ours: the lookup asks no other server. */
export function isContentUri(uri: unknown): uri is string {
  return typeof uri === "string" && uri.startsWith("keyhole-content:");
}

function partOf(bytes: Uint8Array): { readonly text: string } | { readonly blob: string } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes) };
  } catch {
    return { blob: encodeBase64(bytes) };
  }
}
