import type { ToolPackage } from "@keyhole/kernel";

export interface PackRequest {
  /** TypeScript of the tool, or the manifest of a module as JSON. */
  readonly source: string;
  /** A WebAssembly module. */
  readonly module?: Uint8Array;
}

export type PackAnswer =
  | { readonly ok: true; readonly package: ToolPackage; readonly tookMs: number }
  /** `reason`: for the author of the tool. */
  | { readonly ok: false; readonly reason: string; readonly tookMs: number };

/** A tool whose module never ends during the reading of its manifest ends here, and the worker with it. */
const mostMs = 60_000;

let worker: Worker | undefined;

/** Packs one tool, in a worker that starts with the first one. Never rejects. */
export function packTool(request: PackRequest): Promise<PackAnswer> {
  worker ??= new Worker(new URL("./packer.worker.ts", import.meta.url), { type: "module", name: "packer" });
  const current = worker;
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    const end = (answer: PackAnswer): void => {
      clearTimeout(timer);
      port1.close();
      resolve(answer);
    };
    const fail = (reason: string): void => {
      current.terminate();
      if (worker === current) worker = undefined;
      end({ ok: false, reason, tookMs: 0 });
    };
    const timer = setTimeout(() => fail("The packer did not end. It was stopped."), mostMs);
    port1.onmessage = ({ data }: MessageEvent<PackAnswer>) => end(data);
    current.addEventListener("error", (event) => fail(event.message || "The packer does not start."), { once: true });
    current.postMessage(request, [port2]);
  });
}
