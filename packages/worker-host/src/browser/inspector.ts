import { knownOptions, membersOf } from "@keyhole/kernel/foreign";
import type { Kernel } from "@keyhole/kernel";
import { type InspectedParts, InspectorAnswers } from "../inspector/answers.ts";
import { Asks, readAsk } from "../inspector/messages.ts";
import { linkOf, originOf } from "../inspector/page.ts";

export interface PageInspectorOptions extends InspectedParts {
  /**
   * The page that may read: `https://playground.example`. With another origin than this page a person opens it from here, by the link. With this page's own
   * origin it can be opened anywhere in this browser.
   */
  readonly origin: string;
}

export interface PageInspector {
  /** The address of the page, set up for this kernel. It holds the token. Open it with `window.open(link)`. */
  readonly link: string;
  close(): void;
}

/** Readers over ports. A page needs one; a reload leaves one behind. */
const mostReaders = 16;

/**
 * Lets a playground in this browser watch a kernel of this page: its tools, its policy and every call. A reader needs a new token, and over windows the
 * named origin. It changes nothing, unless `mayChangeMode` says so.
 *
 * @throws Error where the origin is none
 * @example
 * const { link } = exposeInspector(kernel, { origin: "https://playground.example", policy: () => policy });
 * button.onclick = () => window.open(link);
 */
export function exposeInspector(kernel: Kernel, given: PageInspectorOptions): PageInspector {
  const options = knownOptions(given, { origin: true, policy: true, mayChangeMode: true }, "exposeInspector");
  const origin = originOf(options.origin, "https://playground.example");
  const token = tokenOf();
  const answers = new InspectorAnswers(kernel, options);
  const isSame = origin === location.origin;
  const stop = isSame ? overChannel(answers, token) : overWindows(answers, { origin, token });
  const address = isSame ? `channel:${channelOf(token)}` : `window:${location.origin}`;
  return {
    link: linkOf(origin, address, token),
    close() {
      answers.close();
      stop();
    },
  };
}

/** Pages of one origin can read each other anyway: the token keeps a page from reading a kernel that it was not given. */
function overChannel(answers: InspectorAnswers, token: string): () => void {
  const channel = new BroadcastChannel(channelOf(token));
  const asks = new Asks(answers, (answer) => channel.postMessage(answer));
  channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    const ask = readAsk(data);
    if (ask !== undefined && hasToken(data, token)) void asks.take(ask);
  });
  return () => {
    asks.close();
    channel.close();
  };
}

interface Readers {
  readonly origin: string;
  readonly token: string;
}

/** The page that was opened sends a port. The holder of its other end reads the log, so the kernel closes a port without the token. */
function overWindows(answers: InspectorAnswers, { origin, token }: Readers): () => void {
  const readers = new Map<MessagePort, Asks>();
  const leave = (port: MessagePort): void => {
    readers.get(port)?.close();
    readers.delete(port);
    port.close();
  };
  const take = (event: MessageEvent<unknown>): void => {
    const [port] = event.ports;
    if (event.origin !== origin || port === undefined || !isAttach(event.data)) return;
    if (!hasToken(event.data, token)) return port.close();
    for (const oldest of readers.keys()) if (readers.size >= mostReaders) leave(oldest);
    const asks = new Asks(answers, (answer) => port.postMessage(answer));
    readers.set(port, asks);
    port.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
      const ask = readAsk(data);
      if (ask !== undefined) void asks.take(ask);
    });
    port.start();
  };
  addEventListener("message", take);
  return () => {
    removeEventListener("message", take);
    for (const port of readers.keys()) leave(port);
  };
}

function isAttach(foreign: unknown): boolean {
  return membersOf(foreign)["inspectorAttach"] === true;
}

function hasToken(foreign: unknown, token: string): boolean {
  return membersOf(foreign)["token"] === token;
}

/** 256 bits, as hexadecimal digits. */
function tokenOf(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The name is no secret, and differs for each kernel. */
function channelOf(token: string): string {
  return `keyhole-inspector-${token.slice(0, 16)}`;
}
