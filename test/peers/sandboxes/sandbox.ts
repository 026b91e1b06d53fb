/** What each of the sandboxes is asked for. */
export interface Sandbox {
  /** A new isolate. */
  open(): Promise<Opened>;
}

export interface Opened {
  /** Returns the value. */
  call(value: unknown): Promise<unknown>;
  /** Runs a loop without end that may take {@link SPIN_LIMIT_MS}; settles when it is stopped. The isolate is lost. */
  spin(): Promise<unknown>;
  /** Where each program has an isolate of its own: one program that goes on until it is closed. */
  hold?(): Promise<void>;
  close(): unknown;
}

/** 1 KB as JSON. */
const value = {
  text: "x".repeat(700),
  numbers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  nested: { a: 1, b: true, c: null, d: { e: "y".repeat(200) } },
};

export const SPIN_LIMIT_MS = 100;
/** A round ends with the first of the two. */
const CALLS = 50;
const ROUND_MS = 400;
const ROUNDS = 9;
/** Isolates that are open at once where memory is measured. */
export const HELD = 10;

export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

async function timedMs(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

async function called({ call }: Opened): Promise<void> {
  const answer = (await call(value)) as Partial<typeof value> | undefined;
  if (answer?.nested?.d.e !== value.nested.d.e) throw new Error(`A sandbox answered ${JSON.stringify(answer)}.`);
}

export async function cold(sandbox: Sandbox): Promise<number> {
  let opened: Opened | undefined;
  const coldMs = await timedMs(async () => called((opened = await sandbox.open())));
  await opened?.close();
  return coldMs;
}

export async function warm(sandbox: Sandbox): Promise<number> {
  const opened = await sandbox.open();
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    let calls = 0;
    let ms = 0;
    for (; calls < CALLS && ms < ROUND_MS; calls++) ms += await timedMs(() => called(opened));
    if (round >= 2) rounds.push((ms * 1_000) / calls);
  }
  await opened.close();
  return median(rounds);
}

/** How long after its limit a loop is stopped. */
export async function stopped(sandbox: Sandbox): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const opened = await sandbox.open();
    await called(opened);
    times.push((await timedMs(() => opened.spin())) - SPIN_LIMIT_MS);
    await opened.close();
  }
  return median(times);
}

/** So many that stay open, and have answered where they can. */
export async function held(sandbox: Sandbox, count: number): Promise<readonly Opened[]> {
  const all: Opened[] = [];
  for (let index = 0; index < count; index++) {
    const opened = await sandbox.open();
    await (opened.hold?.() ?? called(opened));
    all.push(opened);
  }
  return all;
}
