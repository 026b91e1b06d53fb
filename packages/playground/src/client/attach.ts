import { membersOf } from "@keyhole/kernel/foreign";
import type { EdgeSettings } from "@keyhole/worker-host/edge-protocol";
import { channelOf, openerOf } from "./edge-address.ts";
import { openEdgeClient } from "./edge-client.ts";
import { ClientFault, type KernelClient } from "./kernel-client.ts";

/** A way to one inspector in another page of this browser. */
export interface Line {
  readonly send: (message: object) => void;
  readonly listen: (listener: (foreign: unknown) => void) => void;
  readonly close: () => void;
}

/** An answer waits at most half of that for an event. */
const silenceMs = 30_000;

/** Watches the kernel of the page that opened this one, or of another page of this origin. Rejects with a {@link ClientFault}. */
export async function openPageClient(settings: EdgeSettings): Promise<KernelClient> {
  const line = lineTo(settings);
  try {
    const client = await openEdgeClient(settings, { fetch: fetchOver(line, settings.address) });
    if (client.isWatched !== true)
      throw new ClientFault("protocol", "The page shows no kernel to watch.", "Does it call exposeInspector?");
    return { ...client, close: line.close };
  } catch (error) {
    line.close();
    throw error;
  }
}

function lineTo({ address, token }: EdgeSettings): Line {
  const name = channelOf(address);
  if (name !== undefined) return channelLine(new BroadcastChannel(name), token);
  const origin = openerOf(address);
  const opener = globalThis.window.opener as Window | null;
  if (origin === undefined || opener === null)
    throw new ClientFault(
      "unreachable",
      "The page that opened this one is gone.",
      "Open this page again from there. A page that keeps its windows apart (Cross-Origin-Opener-Policy) cannot be watched.",
    );
  const { port1, port2 } = new MessageChannel();
  // The browser delivers it to that origin alone.
  opener.postMessage({ inspectorAttach: true, token }, origin, [port2]);
  return {
    send: (message) => port1.postMessage(message),
    listen: (listener) => {
      port1.addEventListener("message", ({ data }: MessageEvent<unknown>) => listener(data));
      port1.start();
    },
    close: () => port1.close(),
  };
}

function channelLine(channel: BroadcastChannel, token: string): Line {
  return {
    send: (message) => channel.postMessage({ ...message, token }),
    listen: (listener) => channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => listener(data)),
    close: () => channel.close(),
  };
}

/** The transport of an edge over a line, so that its answers meet the same bounds and guards. */
export function fetchOver(line: Line, address: string): (url: string, init: RequestInit) => Promise<Response> {
  const waiting = new Map<number, (response: Response) => void>();
  let last = 0;
  line.listen((foreign) => {
    const answer = readAnswer(foreign);
    const resolve = answer && waiting.get(answer.id);
    if (answer === undefined || resolve === undefined) return;
    waiting.delete(answer.id);
    resolve(new Response(answer.text, { status: answer.status, headers: { "content-type": "application/json" } }));
  });
  return (url, { body }) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      const timer = setTimeout(() => {
        waiting.delete(id);
        reject(new Error("The page does not answer."));
      }, silenceMs);
      waiting.set(id, (response) => {
        clearTimeout(timer);
        resolve(response);
      });
      line.send({ inspectorAsk: id, path: url.slice(address.length), ...(typeof body === "string" && { body }) });
    });
}

interface Answer {
  readonly id: number;
  readonly status: number;
  readonly text: string;
}

/** On a channel any page of this origin can speak. */
function readAnswer(foreign: unknown): Answer | undefined {
  const { inspectorAnswer: id, status, text } = membersOf(foreign);
  if (typeof id !== "number" || typeof status !== "number" || typeof text !== "string") return undefined;
  return Number.isInteger(status) && status >= 200 && status <= 599 ? { id, status, text } : undefined;
}
