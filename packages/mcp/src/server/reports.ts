import { type CallOptions, visible } from "@keyhole/kernel";
import type { LoggingLevel } from "@modelcontextprotocol/server";
import type { ExchangeContext } from "./exchange-context.ts";

/** Progress and log lines of one exchange, on their way to its client. */
export class Reports {
  readonly #ctx: ExchangeContext;
  readonly #sent: Promise<void>[] = [];
  #lastDone = -Infinity;

  constructor(ctx: ExchangeContext) {
    this.#ctx = ctx;
  }

  /** The functions with which a call reports. */
  get listeners(): Pick<CallOptions, "onProgress" | "onLog"> {
    const { mcpReq } = this.#ctx;
    const progressToken = mcpReq._meta?.progressToken;
    return {
      onLog: ({ level, message }) => this.#send(mcpReq.log(levels[level], visible(message))),
      ...(progressToken !== undefined && {
        onProgress: ({ done, total, message }) => {
          // Of MCP's progress each has to be more than the one before.
          if (done <= this.#lastDone) return;
          this.#lastDone = done;
          const more = {
            ...(total !== undefined && { total }),
            ...(message !== undefined && { message: visible(message) }),
          };
          const params = { progressToken, progress: done, ...more };
          this.#send(mcpReq.notify({ method: "notifications/progress", params }));
        },
      }),
    };
  }

  /** Resolves after the last message: a result that overtakes them loses them. */
  async sent(): Promise<void> {
    if (this.#sent.length > 0) await Promise.all(this.#sent);
  }

  #send(sending: Promise<void>): void {
    this.#sent.push(sending.catch(() => {})); // The client is gone: its call ends by its signal.
  }
}

const levels = {
  debug: "debug",
  info: "info",
  warn: "warning",
  error: "error",
} as const satisfies Record<string, LoggingLevel>;
