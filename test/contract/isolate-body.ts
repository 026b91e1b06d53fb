import { type CallPort, type IsolateCall, type IsolateHost, type IsolateOutcome, limits } from "@keyhole/kernel";
import { expect, it } from "vitest";
import { runsWhole } from "../support/part.ts";
import { registered } from "../support/registered.ts";
import { joined } from "../support/streams.ts";
import { poured } from "./isolate-stream.ts";
import { drinkFor, type HostTraits } from "./isolate-subject.ts";
import { isolatesOf } from "./isolate-warm.ts";

let calls = 0;

function callOf(deed: string): IsolateCall {
  return {
    callId: `body-${calls++}`,
    sessionId: "session",
    inputText: JSON.stringify({ deed }),
    outputKind: "stream",
    hasBody: true,
    outputBytes: 10_000_000,
    seed: "5eed".repeat(16),
    nowMs: 1_700_000_000_000,
    real: { clock: false, random: false },
  };
}

interface Giver extends CallPort {
  readonly pieces: Uint8Array[];
  /** Pieces that were asked for. */
  readonly asked: () => number;
  readonly abort: () => void;
}

const end = new Uint8Array();

/** @param give piece number i; without a byte the end, `undefined` where it breaks off */
function giver(give: (i: number) => Uint8Array | undefined | Promise<Uint8Array | undefined>): Giver {
  const controller = new AbortController();
  const pieces: Uint8Array[] = [];
  let asked = 0;
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    pieces,
    asked: () => asked,
    log: () => {},
    progress: () => {},
    request: async () => ({ ok: true, value: null, body: new TextEncoder().encode("content") }),
    async write(piece) {
      pieces.push(piece);
      return true;
    },
    read: async () => give(asked++),
  };
}

/** A body of so many pieces, as `poured` says. */
const bodyOf = (pieces: number, length: number): Giver =>
  giver((i) => (i < pieces ? new Uint8Array(length).fill(i & 255) : new Uint8Array(end)));
const never = (): Promise<Uint8Array> => new Promise(() => {});
const whole: IsolateOutcome = { kind: "returned", output: { form: "stream" } };
const said = ({ pieces }: Giver): unknown => JSON.parse(new TextDecoder().decode(joined(pieces)));

/** What a host must do with a body, at its own port. */
export function bodyPortContract(makeHost: () => Promise<IsolateHost>, { part }: HostTraits): void {
  const isolates = isolatesOf(makeHost, (host) => registered(drinkFor(host)));

  it.each(["echo", "ask meanwhile"])("gives all of a body, in order: %s", (deed) =>
    isolates.warm(async (isolate) => {
      const port = bodyOf(20, 1_000);
      expect(await isolate.call(callOf(deed), port)).toEqual(whole);
      expect(joined(port.pieces)).toEqual(poured(20, 1_000));
      expect(isolate.alive).toBe(true);
    }),
  );

  it("gives the largest pieces as they are", () =>
    isolates.warm(async (isolate) => {
      const port = bodyOf(2, limits.pieceBytes);
      expect(await isolate.call(callOf("take the lengths"), port)).toEqual(whole);
      expect(said(port)).toEqual([1, 2, 3, 4].map(() => limits.pieceBytes));
    }));

  it("lets go of a tool that waits for a body when its call is cancelled", () =>
    isolates.warm(async (isolate) => {
      const port = giver(never);
      const outcome = isolate.call(callOf("echo"), port);
      await expect.poll(port.asked).toBe(1);
      port.abort();
      // Inline the port itself holds the tool; the kernel's lets go of it.
      if (!isolates.host.sources.includes("module")) return;
      expect(await outcome).toMatchObject({ kind: "threw", name: "AbortError" });
      expect(await isolate.call(callOf("count"), bodyOf(1, 1))).toEqual(whole);
    }));

  it("keeps bodies of calls at the same time apart", () =>
    isolates.warm(async (isolate) => {
      const [one, other] = [bodyOf(30, 500), bodyOf(20, 700)];
      const outcomes = [isolate.call(callOf("echo"), one), isolate.call(callOf("echo"), other)];
      expect(await Promise.all(outcomes)).toEqual([whole, whole]);
      expect(joined(one.pieces)).toEqual(poured(30, 500));
      expect(joined(other.pieces)).toEqual(poured(20, 700));
    }));

  it("ends a body with its isolate", () =>
    isolates.warm(async (isolate) => {
      const port = giver(never);
      const outcome = isolate.call(callOf("echo"), port);
      await expect.poll(port.asked).toBe(1);
      isolate.terminate("enough");
      expect(await outcome).toEqual({ kind: "lost", reason: "enough" });
    }));

  // From here on nothing depends on the engine.
  if (!runsWhole(part)) return;

  it("gives an empty body, and nothing behind the end", () =>
    isolates.warm(async (isolate) => {
      const empty = bodyOf(0, 0);
      expect(await isolate.call(callOf("count"), empty)).toEqual(whole);
      expect([said(empty), empty.asked()]).toEqual([0, 1]);
      const twice = bodyOf(3, 10);
      await isolate.call(callOf("read on after the end"), twice);
      expect([said(twice), twice.asked()]).toEqual([[30, 0], 4]);
    }));

  it("asks for a piece when the tool reads, and for no other", () =>
    isolates.warm(async (isolate) => {
      const [left, tasted] = [bodyOf(9, 10), bodyOf(9, 10)];
      expect(await isolate.call(callOf("leave"), left)).toEqual(whole);
      expect(left.asked()).toBe(0);
      expect(await isolate.call(callOf("taste"), tasted)).toEqual(whole);
      expect([joined(tasted.pieces), tasted.asked()]).toEqual([poured(1, 10), 1]);
    }));

  it("lets a tool hear of a body that breaks off", () =>
    isolates.warm(async (isolate) => {
      const port = giver((i) => (i === 0 ? new Uint8Array(10) : undefined));
      expect(await isolate.call(callOf("catch what happens"), port)).toEqual(whole);
      expect(said(port)).toBe("AbortError");
      const uncaught = giver(() => undefined);
      expect(await isolate.call(callOf("echo"), uncaught)).toMatchObject({ kind: "threw", name: "AbortError" });
      expect(isolate.alive).toBe(true);
    }));

  it("has none in a call without one", () =>
    isolates.warm(async (isolate) => {
      const { read: _, ...port } = bodyOf(1, 1);
      const { hasBody: __, ...call } = callOf("leave");
      expect(await isolate.call(call, port)).toEqual(whole);
    }));
}
