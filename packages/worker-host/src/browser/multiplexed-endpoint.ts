import type { Endpoint } from "comlink";

/** In a worker: the page that started it. */
export function ownPage(): Endpoint {
  return globalThis as unknown as Endpoint;
}

interface LaneMessage {
  readonly lane: string;
  readonly message: unknown;
}

/** One of several conversations over one endpoint, so that a page and its kernel's worker need nothing but each other. */
export function multiplexedEndpoint(endpoint: Endpoint, name: string): Endpoint {
  const adapters = new Map<EventListenerOrEventListenerObject, (event: Event) => void>();
  return {
    postMessage(message: unknown, transfer?: Transferable[]) {
      endpoint.postMessage({ lane: name, message } satisfies LaneMessage, transfer);
    },
    addEventListener(type, listener, options) {
      const adapter = (event: Event): void => {
        const { data, origin } = event as MessageEvent<Partial<LaneMessage> | null>;
        if (data?.lane !== name) return;
        const inner = new MessageEvent("message", { data: data.message, origin });
        if (typeof listener === "function") listener(inner);
        else listener.handleEvent(inner);
      };
      adapters.set(listener, adapter);
      endpoint.addEventListener(type, adapter, options);
    },
    removeEventListener(type, listener, options) {
      const adapter = adapters.get(listener);
      adapters.delete(listener);
      if (adapter !== undefined) endpoint.removeEventListener(type, adapter, options);
    },
    start: () => endpoint.start?.(),
  };
}
