import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { watchKernel } from "../../packages/edge/src/dev/kernel-watch.ts";

/** What each part answers, and after how long. */
interface Answers {
  readonly causes: readonly object[];
  readonly sandboxMs: number;
}

let answers: Answers;
let restarts: number;
let end: () => void;
beforeEach(() => {
  vi.useFakeTimers();
  restarts = 0;
  vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
    const late = new AbortController();
    setTimeout(() => late.abort(), ms);
    return late.signal;
  });
  vi.stubGlobal("fetch", (url: string, { signal }: RequestInit) => {
    const { causes, sandboxMs } = answers;
    const isKernel = url.startsWith("http://kernel");
    const answer = Response.json({ causes }, { status: isKernel && causes.length > 0 ? 503 : 200 });
    return new Promise((resolve, reject) => {
      setTimeout(() => resolve(answer), isKernel ? 0 : sandboxMs);
      signal?.addEventListener("abort", () => reject(new Error("late")));
    });
  });
  const restart = async (): Promise<void> => void restarts++;
  end = watchKernel({ url: "http://kernel", restart }, [{ url: "http://sandbox" }]);
});
afterEach(() => {
  end();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const lost = [{ code: "ISOLATE_LOST", detail: "" }];
const seconds = (count: number): Promise<unknown> => vi.advanceTimersByTimeAsync(count * 1_000 + 500);

describe("a kernel that says that it has no sandbox", () => {
  it("is started again at the fifth look at which one answers", async () => {
    answers = { causes: lost, sandboxMs: 100 };
    await seconds(4);
    expect(restarts).toBe(0);
    await seconds(1);
    expect(restarts).toBe(1);
  });

  it("is left alone where no sandbox answers at once: the machine is slow, or they start", async () => {
    answers = { causes: lost, sandboxMs: 400 };
    await seconds(60);
    expect(restarts).toBe(0);
  });

  it("is left alone where it has found one between the looks", async () => {
    for (let i = 0; i < 20; i++) {
      answers = { causes: i % 4 === 3 ? [] : lost, sandboxMs: 0 };
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(restarts).toBe(0);
  });
});

it.each(["MISCONFIGURED", "AUDIT_UNAVAILABLE"])("a kernel with the cause %s is not started again", async (code) => {
  answers = { causes: [{ code, detail: "" }], sandboxMs: 0 };
  await seconds(60);
  expect(restarts).toBe(0);
});
