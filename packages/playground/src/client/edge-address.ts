import { parseUrl } from "@keyhole/kernel";
import { isLoopback, readAddress } from "@keyhole/worker-host/edge-protocol";

/*
 * Where a kernel is that the page does not run itself: an edge by its origin, the page that opened this one as `window:ORIGIN`, and another page of this origin as
 * `channel:NAME`.
 */

const channelName = /^channel:[\w-]{1,80}$/;
const windowPrefix = "window:";

/** The address in its one spelling; `undefined` for what is none. */
export function readKernelAddress(typed: string): string | undefined {
  const text = typed.trim();
  if (text.startsWith("channel:")) return channelName.test(text) ? text : undefined;
  if (!text.startsWith(windowPrefix)) return readAddress(text);
  const origin = readAddress(text.slice(windowPrefix.length));
  return origin === undefined || origin !== text.slice(windowPrefix.length) ? undefined : text;
}

/** The origin of the page that opened this one; `undefined` for any other address. */
export function openerOf(address: string): string | undefined {
  return address.startsWith(windowPrefix) ? address.slice(windowPrefix.length) : undefined;
}

export function channelOf(address: string): string | undefined {
  return channelName.test(address) ? address.slice("channel:".length) : undefined;
}

/** A page of this browser, which this page watches and never calls. */
export function isOfPage(address: string): boolean {
  return openerOf(address) !== undefined || channelOf(address) !== undefined;
}

/** The person's name for the edge. */
export function hostOf(address: string): string {
  if (channelOf(address) !== undefined) return "a page of this origin";
  const origin = openerOf(address) ?? address;
  return parseUrl(origin)?.host ?? origin;
}

/** Whether what is there is on this machine. */
export function isHere(address: string): boolean {
  return isOfPage(address) || isLoopback(parseUrl(address)?.hostname ?? "");
}
