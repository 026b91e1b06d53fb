import type { Isolate } from "@keyhole/kernel";
import type { Attempt, AttemptGroup, Layer, Platform } from "./attempt.ts";
import { puttingBack } from "./put-back.ts";

/** What a platform brings to the battery. */
export interface Bench {
  readonly platform: Platform;
  /** Origin of the canary. */
  readonly canary: string;
  /** An isolate with this module as its tool. */
  open(code: string): Promise<Isolate>;
  /** An isolate whose guest is not the shell. `deed` is the body of an async function that has `send` and `callId`. */
  usurp(deed: string): Promise<Isolate>;
  /** A frame that knows these expressions. */
  frame?(expressions: Readonly<Record<string, string>>): Promise<RawFrame>;
}

export interface RawFrame {
  /** `refused`, `nothing`, or `GOT` and what. */
  ask(name: string, tag: string, token?: string): Promise<string>;
  close(): void;
}

/** Of a pair: which of the two isolates, or frames. */
export type Part = "first" | "second";

/** One attempt in its frame. */
export interface FramedAttempt {
  ask(token?: string): Promise<string>;
  isAlive(): Promise<boolean>;
}

/** Where the attempts of one group run: each in an isolate or a frame of its own, or, where they leave each other in peace, in one that they share. */
export interface Room {
  /** Whether other attempts may have been in an isolate that is not fresh. */
  shares(part: Part): boolean;
  /** The isolate stays for the next attempt, which a fresh one is not given, unless `use` comes to `undefined`. */
  inIsolate<T>(
    asked: { readonly part: Part; readonly isFresh: boolean },
    id: string,
    use: (isolate: Isolate, inputFor: (token?: string) => unknown) => Promise<T>,
  ): Promise<T>;
  inFrame(part: Part, id: string): Promise<FramedAttempt>;
  close(): void;
}

/** More than anything that ends by itself needs on any machine. */
const PATIENT_MS = 30_000;

/** `undefined`: it did not end in time. */
export async function inTime<T>(promise: Promise<T>, ms = PATIENT_MS): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), ms);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}

export async function using<T>(opening: Promise<Isolate>, use: (isolate: Isolate) => Promise<T>): Promise<T> {
  const isolate = await opening;
  try {
    return await use(isolate);
  } finally {
    isolate.terminate("the attempt is over");
  }
}

/** First segment of the canary's addresses. */
export function tagOf(platform: Platform, id: string): string {
  return `${platform}-${id}`;
}

const codeOf = ({ code, second = "" }: Attempt, part: Part): string => (part === "first" ? code : second);

type Place = readonly [bench: Bench, layer: Layer, attempts: readonly Attempt[], isShared: boolean];

export function roomFor(bench: Bench, { layer }: AttemptGroup, attempts: readonly Attempt[], isShared: boolean): Room {
  const isolates = isolatesOf(bench, layer, attempts, isShared);
  const frames = framesOf(bench, layer, attempts, isShared);
  return {
    ...isolates,
    ...frames,
    close() {
      isolates.close();
      frames.close();
    },
  };
}

function isolatesOf(...[bench, layer, attempts, isShared]: Place): Pick<Room, "shares" | "inIsolate" | "close"> {
  const isolates = new Map<Part, Isolate>();
  // What the first one of a pair leaves has to stay.
  const shares = (part: Part): boolean => isShared && !(layer === "pair" && part === "first");
  const giveUp = (part: Part): void => {
    isolates.get(part)?.terminate("the attempt is over");
    isolates.delete(part);
  };
  return {
    shares,
    async inIsolate({ part, isFresh }, id, use) {
      let isolate = isolates.get(part);
      if (isFresh || !shares(part) || isolate?.alive !== true) {
        giveUp(part);
        const these = shares(part) ? attempts : attempts.filter((each) => each.id === id);
        isolate = await bench.open(moduleWith(these, part, layer, shares(part)));
        isolates.set(part, isolate);
      }
      const at = `${bench.canary}/${tagOf(bench.platform, id)}/`;
      const came = await use(isolate, (token) => ({ id, at, token }));
      if (came === undefined) giveUp(part);
      return came;
    },
    close() {
      for (const part of isolates.keys()) giveUp(part);
    },
  };
}

/** After that a shared frame is given up, and each attempt that is left has one of its own: nothing depends on it but how long that takes. */
const STUCK_MS = 20_000;

/** A frame that never answers gave nothing away. Firefox queues a worker behind others and then reports neither a message nor an error. */
const SILENT_MS = 60_000;

function framesOf(...[bench, layer, attempts, isShared]: Place): Pick<Room, "inFrame" | "close"> {
  const frames = new Map<Part | `own ${Part}`, RawFrame>();
  /** What the attempts of a shared frame came to: all are asked at once, so that they wait at the same time for what never comes. */
  const asked = new Map<string, Promise<string>>();
  const tag = (id: string): string => tagOf(bench.platform, id);
  const isOwn = ({ isAlone }: Attempt): boolean => !isShared || isAlone === true;
  let isStuck = false;

  const open = async (part: Part, these: readonly Attempt[]): Promise<RawFrame> => {
    const expressions = Object.fromEntries(these.map((each) => [each.id, codeOf(each, part)]));
    const frame = await bench.frame?.({ ...expressions, alive: "'still here'" });
    if (frame === undefined) throw new Error("There are no frames here.");
    return frame;
  };

  const sharedFrame = async (part: Part): Promise<RawFrame> => {
    const known = frames.get(part);
    if (known !== undefined) return known;
    const these = attempts.filter((each) => !isOwn(each));
    const frame = await open(part, these);
    frames.set(part, frame);
    if (layer === "frame") for (const { id } of these) asked.set(id, frame.ask(id, tag(id)));
    return frame;
  };

  const ownFrame = async (part: Part, attempt: Attempt): Promise<RawFrame> => {
    frames.get(`own ${part}`)?.close();
    const frame = await open(part, [attempt]);
    frames.set(`own ${part}`, frame);
    return frame;
  };

  return {
    async inFrame(part, id) {
      const attempt = attempts.find((each) => each.id === id)!;
      let frame = await (isOwn(attempt) || isStuck ? ownFrame(part, attempt) : sharedFrame(part));
      return {
        async ask(token) {
          const first = isStuck ? undefined : asked.get(id);
          const text = first && (await inTime(first, STUCK_MS));
          if (text !== undefined) return text;
          if (first !== undefined) {
            isStuck = true;
            frame = await ownFrame(part, attempt);
          }
          return (await inTime(frame.ask(id, tag(id), token), SILENT_MS)) ?? "nothing";
        },
        isAlive: async () => (await frame.ask("alive", tag(id))) === "GOT still here",
      };
    },
    close() {
      for (const frame of frames.values()) frame.close();
    },
  };
}

/** Of a shared module: what shows that it still serves. */
export const answer = "answer";

/** A tool that runs one of these bodies, which its input names. */
function moduleWith(attempts: readonly Attempt[], part: Part, layer: Layer, isShared: boolean): string {
  const bodies = attempts.map(
    (each) => `${JSON.stringify(each.id)}: async function (context, at, token) { ${codeOf(each, part)} }`,
  );
  return `let kept;
    const bodies = { ${bodies.join(",\n")}, ${answer}: async () => "an answer" };
    const putBack = ${isShared && layer !== "output" ? `(${puttingBack})()` : "() => true"};
    let isSpoiled = false;
    const asked = async ({ id, at: origin, token }, context) => {
      const at = (name) => origin + name;
      try {
        const got = await bodies[id].call(undefined, context, at, token);
        return got === undefined || got === null ? "nothing" : "GOT " + (typeof got === "string" ? got : typeof got);
      } catch { return "refused"; }
    };
    const execute = ${
      layer === "output"
        ? "({ id }, context) => bodies[id].call(undefined, context)"
        : `async (input, context) => {
      if (isSpoiled) throw new Error("spoiled");
      const text = await asked(input, context);
      isSpoiled = !putBack();
      return text;
    }`
    };
    export default { code: { execute } };`;
}
