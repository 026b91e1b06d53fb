// 10 MB from the frame's worker to the page: bare, through an isolate's port, and through the whole kernel; and through the kernel the other way.
import { type CallPort, createKernel, hashBytes, type IsolateCall, type ToolPackage } from "@keyhole/kernel";
import { browserHost, domFrameContainer } from "@keyhole/worker-host/browser";
import bytesPackage from "keyhole:./bytes.ts";
import handedOverPackage from "keyhole:./handed-over.ts";
import piecesPackage from "keyhole:./pieces.ts";
import swallowPackage from "keyhole:./swallow.ts";
import { randomFrom } from "../../support/random.ts";
import { registered } from "../../support/registered.ts";

const BYTES = 10_000_000;
const rounds = 40;
const chunk = new Uint8Array(BYTES).fill(7);

/** It makes its bytes for every message, as the tools do. */
const bareScript = `onmessage = ({ ports: [port] }) => {
  postMessage('started');
  port.onmessage = ({ data: { length, keeps } }) => {
    const bytes = new Uint8Array(length).fill(7);
    port.postMessage(bytes, keeps ? [] : [bytes.buffer]);
  };
};`;

/** @param keeps whether the sender has its bytes still, as a tool has */
async function bareTransfer(keeps: boolean): Promise<() => Promise<void>> {
  const { port1, port2 } = new MessageChannel();
  const opened = await domFrameContainer({}, bareScript).open("bare bulk", port2, "module");
  if (!opened.ok) throw new Error(opened.message);
  return () =>
    new Promise((resolve, reject) => {
      port1.onmessage = ({ data }: MessageEvent<Uint8Array>) =>
        data.length === BYTES ? resolve() : reject(new Error(`${data.length} bytes`));
      port1.postMessage({ length: BYTES, keeps });
    });
}

let calls = 0;
const callOf = (outputKind: IsolateCall["outputKind"], more: Partial<IsolateCall> = {}): IsolateCall => ({
  callId: `bulk-${calls++}`,
  sessionId: "bench",
  inputText: JSON.stringify({ length: BYTES }),
  outputKind,
  outputBytes: BYTES,
  seed: "0".repeat(64),
  nowMs: 0,
  real: { clock: false, random: false },
  ...more,
});

async function isolateTrips(): Promise<Record<"binary" | "handedOver" | "stream", () => Promise<void>>> {
  const host = await browserHost();
  const open = (pkg: ToolPackage) => host.open(registered(pkg));
  const [binary, handedOver, stream] = await Promise.all([
    open(bytesPackage),
    open(handedOverPackage),
    open(piecesPackage),
  ]);
  let taken = 0;
  const port: CallPort = {
    signal: new AbortController().signal,
    request: async () => ({ ok: true, value: null }),
    log: () => {},
    progress: () => {},
    async write(piece) {
      taken += piece.length;
      return true;
    },
  };
  return {
    async binary() {
      const outcome = await binary.call(callOf("binary"), port);
      if (outcome.kind !== "returned") throw new Error(outcome.kind);
    },
    async handedOver() {
      const outcome = await handedOver.call(callOf("binary", { outputTransfer: true }), port);
      if (outcome.kind !== "returned") throw new Error(outcome.kind);
    },
    async stream() {
      taken = 0;
      const outcome = await stream.call(callOf("stream"), port);
      if (outcome.kind !== "returned" || taken !== BYTES) throw new Error(outcome.kind);
    },
  };
}

type KernelTrip = "kernelBinary" | "kernelHandedOver" | "kernelStream" | "kernelBody";

async function kernelTrips(): Promise<Record<KernelTrip, () => Promise<void>>> {
  const kernel = await createKernel({
    host: await browserHost(),
    policy: { version: "1", posture: "permissive" },
    cache: false,
  });
  for (const pkg of [bytesPackage, handedOverPackage, piecesPackage, swallowPackage]) kernel.register(pkg);
  const input = { length: BYTES };
  return {
    async kernelBinary() {
      const result = await kernel.call("bytes", input, { sessionId: "bench" });
      if (!result.ok) throw new Error(result.error.message);
    },
    async kernelHandedOver() {
      const result = await kernel.call("handed_over", input, { sessionId: "bench" });
      if (!result.ok) throw new Error(result.error.message);
    },
    async kernelStream() {
      const output = new WritableStream<Uint8Array>();
      const result = await kernel.call("pieces", input, { sessionId: "bench", output });
      if (!result.ok) throw new Error(result.error.message);
    },
    async kernelBody() {
      const body = new Blob([chunk]).stream();
      const result = await kernel.call("swallow", {}, { sessionId: "bench", body });
      if (!result.ok || result.data !== BYTES) throw new Error("it did not get all of it");
    },
  };
}

/** `quarter`: the lower quartile, which has least of what else the machine did. */
export interface Spread {
  readonly medianMs: number;
  readonly quarterMs: number;
}

function spreadOf(figures: number[]): Spread {
  const sorted = figures.toSorted((a, b) => a - b);
  return { medianMs: sorted[sorted.length >> 1]!, quarterMs: sorted[sorted.length >> 2]! };
}

export type BulkRow = "bare" | "bareKept" | "hash" | "binary" | "handedOver" | "stream" | KernelTrip;

/** All of them in each round, so that what else the machine does hits all, and each round in another order, so that none pays for the garbage of the same other. */
export async function bulkTransfers(): Promise<Record<BulkRow, Spread>> {
  const bytes = new Uint8Array(BYTES).fill(7);
  const trips: Record<BulkRow, () => Promise<void>> = {
    bare: await bareTransfer(false),
    bareKept: await bareTransfer(true),
    hash: async () => void hashBytes(bytes),
    ...(await isolateTrips()),
    ...(await kernelTrips()),
  };
  const names = Object.keys(trips) as BulkRow[];
  const figures = new Map(names.map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds + 3; round++) {
    for (const name of shuffled(names)) {
      const startMs = performance.now();
      await trips[name]();
      if (round >= 3) figures.get(name)!.push(performance.now() - startMs);
    }
  }
  return Object.fromEntries([...figures].map(([name, each]) => [name, spreadOf(each)])) as Record<BulkRow, Spread>;
}

const random = randomFrom(7);

function shuffled<Item>(items: readonly Item[]): Item[] {
  const places = items.map((item) => [random(), item] as const);
  return places.toSorted(([a], [b]) => a - b).map(([, item]) => item);
}
