import { decodeBase64Url, encodeBase64Url } from "@keyhole/kernel";

/*
 * The source of a tool in the fragment of an address: deflated, in base64url. No server sees it. What a link brings is shown, and nothing of it runs before a person
 * asks for it.
 */

/** Of the fragment. A browser takes more, and a chat window far less. */
const mostLinkLength = 100_000;
/** Of the source: the inflated text of a short link has a bound, too. */
const mostSourceLength = 500_000;

type LinkRead = { readonly ok: true; readonly source: string } | { readonly ok: false; readonly reason: string };

/** @returns `undefined` for a source that is too long for a link */
export async function writeLink(source: string): Promise<string | undefined> {
  if (source.length > mostSourceLength) return undefined;
  const packed = new Blob([source]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const text = encodeBase64Url(new Uint8Array(await new Response(packed).arrayBuffer()));
  return text.length > mostLinkLength ? undefined : text;
}

/** Never rejects: a link can be anything. */
export async function readLink(text: string): Promise<LinkRead> {
  if (text.length > mostLinkLength) {
    const size = text.length.toLocaleString("en");
    const most = mostLinkLength.toLocaleString("en");
    return {
      ok: false,
      reason: `The link has ${size} characters. This page reads at most ${most}. Send the file instead.`,
    };
  }
  const bytes = decodeBase64Url(text);
  if (bytes === undefined) return { ok: false, reason: "The link is no base64url: it was cut or changed." };
  try {
    return await inflated(bytes);
  } catch {
    return { ok: false, reason: "The link cannot be unpacked: it was cut or changed." };
  }
}

async function inflated(bytes: Uint8Array): Promise<LinkRead> {
  const stream = new Blob([new Uint8Array(bytes)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > mostSourceLength) {
      await reader.cancel();
      return { ok: false, reason: `The link unpacks to more than ${mostSourceLength.toLocaleString("en")} bytes.` };
    }
    pieces.push(value);
  }
  const whole = new Uint8Array(await new Blob(pieces).arrayBuffer());
  return { ok: true, source: new TextDecoder("utf-8", { fatal: true }).decode(whole) };
}
