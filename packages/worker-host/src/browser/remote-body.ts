import type { CallOptions } from "@keyhole/kernel";

type Source = NonNullable<CallOptions["body"]>;

/** The page's end of a body: the kernel's worker asks for the chunks one by one. */
export class PageBody {
  readonly #reader: ReadableStreamDefaultReader<unknown> | undefined;

  constructor(body: Source) {
    try {
      this.#reader = body.getReader();
    } catch {
      // A foreign option. The kernel refuses the call.
    }
  }

  get isUsable(): boolean {
    return this.#reader !== undefined;
  }

  /** The kernel checks the value. */
  async read(): Promise<unknown> {
    const step = await this.#reader?.read();
    if (!step || step.done) return undefined;
    return step.value ?? null;
  }

  leave(): void {
    // It may have broken off; that is the caller's own.
    this.#reader?.cancel("The call has ended.").catch(() => {});
  }
}

/** The worker's end. */
export function remoteBody(page: { read(): Promise<unknown>; leave(): unknown }): Source {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = await page.read();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk as Uint8Array);
      },
      cancel: () => void page.leave(),
    },
    { highWaterMark: 0 },
  );
}
