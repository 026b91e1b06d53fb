import { type ContentStore, hashBytes } from "@keyhole/kernel";
import { encodeBase64 } from "@keyhole/kernel/context";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { ProtocolError, ProtocolErrorCode, ResourceTemplate } from "@modelcontextprotocol/server";
import type { ExchangeLine } from "./tool-call.ts";
import type { OutputLinks } from "./output-links.ts";

/** The size limit of one answer, in bytes: base64 makes a third more of it, and clients refuse messages of more than 10 MB. */
const MOST_BYTES = 6_291_456;

/** Reads the output at an address that its caller was given. */
export type ReadContent = (uri: string) => Promise<{ readonly contents: (TextPart | BlobPart)[] }>;

type TextPart = { readonly uri: string; readonly text: string };
type BlobPart = { readonly uri: string; readonly blob: string };

/** Lets a caller read the outputs that it was given links to, as long as the kernel would allow their calls. */
export function serveContent(line: ExchangeLine, store: ContentStore, links: OutputLinks): ReadContent {
  const template = new ResourceTemplate("keyhole-content://{algorithm}/{hex}/{link}", { list: undefined });
  const config = { title: "Large output", description: "An output of a tool that was too large for its result." };
  const read: ReadContent = async (uri) => {
    const opened = await links.find(uri, line)?.open(line.caller);
    if (!opened) throw new Error("There is no such output. Call the tool again.");
    if (!opened.ok) {
      const { code, message, hint } = opened.error;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${code}: ${message} ${hint}`, opened.error);
    }
    const digest = opened.value;
    const bytes = await store.get(digest);
    if (!bytes) throw new Error("The store has deleted the output.");
    if (bytes.length > MOST_BYTES)
      throw new Error(`The output has ${bytes.length} bytes. An answer holds at most ${MOST_BYTES}.`);
    const own = digest.startsWith("sha256:") ? sha256Hash.bytes(bytes) : hashBytes(bytes);
    if (own !== digest) throw new Error("The store holds other bytes than it was given.");
    return { contents: [{ uri, ...partOf(bytes) }] };
  };
  line.server.registerResource("content", template, config, (uri) => read(uri.href));
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
