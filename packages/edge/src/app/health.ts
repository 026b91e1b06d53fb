import type { Kernel, ToolHealth } from "@keyhole/kernel";
import type { Identity } from "./auth.ts";
import { HttpRefusal } from "./problem.ts";

/** So long an answer stands: a monitor that asks more often makes nothing run. */
const standsMs = 5_000;
/** Remembered answers. Beyond, the oldest is forgotten. */
const remembered = 1_000;

/**
 * The health of tools, for callers with the scope. A question runs code of the tool, outside its budgets. A caller that asks again, at the same time or soon after, gets the same
 * answer. Each caller has one isolate of a tool for it.
 */
export class HealthDesk {
  readonly #kernel: Kernel;
  readonly #answers = new Map<string, { readonly untilMs: number; readonly health: Promise<ToolHealth> }>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** @throws {HttpRefusal} `NOT_FOUND` */
  async answer(name: string, { subject }: Identity): Promise<Response> {
    if (!this.#kernel.list().some(({ manifest }) => manifest.name === name))
      throw new HttpRefusal("NOT_FOUND", `There is no tool ${JSON.stringify(name.slice(0, 128))}.`);
    const health = await this.#ask(name, subject);
    const headers = "retryAfterMs" in health ? { "retry-after": String(Math.ceil(health.retryAfterMs / 1_000)) } : {};
    return Response.json(health, { status: health.state === "healthy" ? 200 : 503, headers });
  }

  #ask(name: string, caller: string): Promise<ToolHealth> {
    const key = JSON.stringify([name, caller]);
    const known = this.#answers.get(key);
    if (known && known.untilMs > Date.now()) return known.health;
    this.#answers.delete(key);
    const health = this.#kernel.health(name, { caller, sessionId: "health" });
    this.#answers.set(key, { untilMs: Date.now() + standsMs, health });
    if (this.#answers.size > remembered) this.#answers.delete(this.#answers.keys().next().value!);
    return health;
  }
}
