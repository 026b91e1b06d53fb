import { install } from "./install.ts";

type Listener = ((event: GuestEvent) => void) | { handleEvent(event: GuestEvent): void };
interface Registered {
  readonly listener: Listener;
  readonly once: boolean;
}

class GuestEvent {
  readonly type: string;
  readonly cancelable: boolean;
  readonly bubbles: boolean;
  target: unknown = null;
  currentTarget: unknown = null;
  defaultPrevented = false;
  #stopped = false;

  constructor(type: unknown, { bubbles = false, cancelable = false }: EventInit = {}) {
    this.type = String(type);
    this.bubbles = Boolean(bubbles);
    this.cancelable = Boolean(cancelable);
  }

  get timeStamp(): number {
    return 0;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  preventDefault(): void {
    if (this.cancelable) this.defaultPrevented = true;
  }

  stopPropagation(): void {}

  stopImmediatePropagation(): void {
    this.#stopped = true;
  }
}

class GuestCustomEvent extends GuestEvent {
  readonly detail: unknown;

  constructor(type: unknown, init: CustomEventInit = {}) {
    super(type, init);
    this.detail = init.detail ?? null;
  }
}

class GuestEventTarget {
  readonly #listeners = new Map<string, Registered[]>();

  addEventListener(type: unknown, listener: Listener | null, options: boolean | AddEventListenerOptions = {}): void {
    if (listener === null || listener === undefined) return;
    const list = this.#listeners.get(String(type)) ?? [];
    if (list.some((each) => each.listener === listener)) return;
    const once = typeof options === "object" && options.once === true;
    this.#listeners.set(String(type), [...list, { listener, once }]);
  }

  removeEventListener(type: unknown, listener: Listener | null): void {
    const list = this.#listeners.get(String(type)) ?? [];
    this.#listeners.set(
      String(type),
      list.filter((each) => each.listener !== listener),
    );
  }

  dispatchEvent(event: GuestEvent): boolean {
    event.target = this;
    event.currentTarget = this;
    const handler: unknown = Reflect.get(this, `on${event.type}`);
    if (typeof handler === "function") Reflect.apply(handler, this, [event]);
    for (const { listener, once } of this.#listeners.get(event.type) ?? []) {
      if (event.stopped) break;
      if (once) this.removeEventListener(event.type, listener);
      try {
        if (typeof listener === "function") Reflect.apply(listener, this, [event]);
        else listener.handleEvent(event);
      } catch {
        // No report: there is no console behind a listener.
      }
    }
    return !event.defaultPrevented;
  }
}

let trusted = false;

class GuestAbortSignal extends GuestEventTarget {
  onabort: ((event: GuestEvent) => void) | null = null;
  #aborted = false;
  #reason: unknown = undefined;

  constructor() {
    super();
    if (!trusted) throw new TypeError("Illegal constructor");
  }

  static abort(reason?: unknown): GuestAbortSignal {
    const controller = new GuestAbortController();
    controller.abort(reason);
    return controller.signal;
  }

  static any(signals: Iterable<GuestAbortSignal>): GuestAbortSignal {
    const controller = new GuestAbortController();
    for (const signal of signals) {
      if (signal.aborted) controller.abort(signal.reason);
      else signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
    }
    return controller.signal;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  /** Only a controller has it. */
  static end(signal: GuestAbortSignal, reason: unknown): void {
    if (signal.#aborted) return;
    signal.#aborted = true;
    signal.#reason = reason === undefined ? new DOMException("This operation was aborted", "AbortError") : reason;
    signal.dispatchEvent(new GuestEvent("abort"));
  }
}

const { end } = GuestAbortSignal;
Reflect.deleteProperty(GuestAbortSignal, "end");

class GuestAbortController {
  readonly signal: GuestAbortSignal;

  constructor() {
    trusted = true;
    this.signal = new GuestAbortSignal();
    trusted = false;
  }

  abort(reason?: unknown): void {
    end(this.signal, reason);
  }
}

install({
  Event: GuestEvent,
  CustomEvent: GuestCustomEvent,
  EventTarget: GuestEventTarget,
  AbortSignal: GuestAbortSignal,
  AbortController: GuestAbortController,
  self: globalThis,
});
