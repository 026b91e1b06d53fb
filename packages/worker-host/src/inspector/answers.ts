import { type AuditEvent, type Kernel, type Mode, modes, parseJson } from "@keyhole/kernel";
import { membersOf } from "@keyhole/kernel/foreign";

interface InspectorAnswer {
  readonly status: 200 | 400 | 404 | 405 | 429;
  /** JSON. */
  readonly body: unknown;
}

export interface InspectedParts {
  /** The policy document in force, for the page to show. Default: the page shows no policy and no mode. */
  readonly policy?: () => unknown;
  /** Whether the page can set the mode of the kernel, and so end its work with LOCKDOWN. Default `false`: it changes nothing. */
  readonly mayChangeMode?: boolean;
}

/** Events in one answer. */
const mostEvents = 500;
/** Requests that wait for an event at once. */
const mostWaiting = 8;
const defaultWaitMs = 15_000;

/** Where a reader goes on: a sequence number, or `first` for the first event since the kernel was exposed. */
type From = number | "first";

/**
 * The answers of a kernel for an inspector, as the [HTTP API](../../../../docs/http-api.md) has them. A reader asks for each chunk:
 * the kernel buffers nothing for a slow reader, and its calls wait for no reader.
 */
export class InspectorAnswers {
  readonly #kernel: Kernel;
  readonly #parts: InspectedParts;
  readonly #waitMs: number;
  readonly #stop: () => void;
  readonly #waiting = new Set<() => void>();
  #first: number | undefined;
  #last: number | undefined;

  constructor(kernel: Kernel, parts: InspectedParts, waitMs: number = defaultWaitMs) {
    this.#kernel = kernel;
    this.#parts = parts;
    this.#waitMs = waitMs;
    this.#stop = kernel.audit.subscribe(({ seq }) => {
      this.#first ??= seq;
      this.#last = seq;
      this.#release();
    });
  }

  /** @param path with its query: `/v1/audit?from=first` */
  async answer(path: string): Promise<InspectorAnswer> {
    const [name, query = ""] = path.split("?", 2);
    const next: From = this.#last === undefined ? "first" : this.#last + 1;
    switch (name) {
      case "/v1/tools":
        return {
          status: 200,
          body: { tools: this.#kernel.list(), inspector: { next, mayChangeMode: this.#mayChangeMode } },
        };
      case "/v1/policy":
        return this.#policy();
      case "/v1/approvals":
        return { status: 200, body: { approvals: [], standing: this.#kernel.approvals.list() } };
      case "/v1/audit":
        return this.#events(new URLSearchParams(query).get("from") ?? "0");
      default:
        return problem(404, "NOT_FOUND", "An inspector has no such path. It reads, and changes nothing.");
    }
  }

  /** @param json `{ "mode", "reason" }` for `/v1/mode` */
  async change(path: string, json: string): Promise<InspectorAnswer> {
    if (path !== "/v1/mode" || !this.#mayChangeMode)
      return problem(405, "METHOD_NOT_ALLOWED", "An inspector reads, and changes nothing.");
    const asked = readModeChange(json);
    if (asked === undefined) return problem(400, "INVALID_REQUEST", "The body is not a mode with its reason.");
    await this.#kernel.setMode(asked.mode, asked.reason);
    return { status: 200, body: { mode: this.#kernel.mode } };
  }

  get #mayChangeMode(): boolean {
    return this.#parts.mayChangeMode === true;
  }

  /** Waiting requests get an answer without events. */
  close(): void {
    this.#stop();
    this.#release();
  }

  #policy(): InspectorAnswer {
    const policy = this.#parts.policy?.();
    if (policy === undefined) return problem(404, "NOT_FOUND", "The program shows no policy to inspectors.");
    const { mode, policyHash } = this.#kernel;
    return { status: 200, body: { mode, policyHash, policy } };
  }

  async #events(asked: string): Promise<InspectorAnswer> {
    const from = readFrom(asked);
    if (from === undefined) return problem(400, "INVALID_REQUEST", "`from` is neither a sequence number nor `first`.");
    const start = from === "first" ? this.#first : from;
    const last = this.#last;
    const events = start === undefined ? [] : await this.#kernel.audit.read(start, mostEvents);
    if (events.length > 0) return page(events, from);
    if (this.#waiting.size >= mostWaiting)
      return problem(429, "TOO_MANY_REQUESTS", `${mostWaiting} requests wait for events already.`);
    // One may have come during the reading of the log.
    if (this.#last === last) await this.#untilEvent();
    const next = start ?? this.#first;
    if (next === undefined) return page([], "first");
    return page(await this.#kernel.audit.read(next, mostEvents), next);
  }

  async #untilEvent(): Promise<void> {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const timer = setTimeout(release, this.#waitMs);
    this.#waiting.add(release);
    await released;
    clearTimeout(timer);
    this.#waiting.delete(release);
  }

  #release(): void {
    for (const release of this.#waiting) release();
  }
}

function page(events: readonly AuditEvent[], from: From): InspectorAnswer {
  const last = events.at(-1);
  return { status: 200, body: { events, next: last === undefined ? from : last.seq + 1 } };
}

const mostOfReason = 500;

function readModeChange(json: string): { readonly mode: Mode; readonly reason: string } | undefined {
  const parsed = parseJson(json);
  const { mode: name, reason } = membersOf(parsed.ok ? parsed.value : undefined);
  const mode = modes.find((each) => each === name);
  if (mode === undefined || typeof reason !== "string" || reason.length > mostOfReason) return undefined;
  return { mode, reason };
}

function readFrom(text: string): From | undefined {
  if (text === "first") return text;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function problem(status: 400 | 404 | 405 | 429, code: string, detail: string): InspectorAnswer {
  return { status, body: { code, detail } };
}
