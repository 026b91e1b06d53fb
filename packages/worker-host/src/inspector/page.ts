import { parseUrl } from "@keyhole/kernel";

/**
 * @param example an origin, for the message
 * @throws Error where the text is no origin
 */
export function originOf(text: string, example: string): string {
  // A page without an origin of its own, such as one in a sandboxed frame, calls it "null".
  const origin = parseUrl(text)?.origin;
  if (origin !== text || origin === "null")
    throw new Error(`Got the origin "${text}"; expected one such as "${example}".`);
  return origin;
}

/** The page of an origin, set up for the kernel at this address. */
export function linkOf(origin: string, address: string, token: string): string {
  return `${origin}/#edge=${encodeURIComponent(address)}&token=${token}`;
}
