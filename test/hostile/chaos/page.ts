import { browserHost, type BrowserHostOptions } from "@keyhole/worker-host/browser";
import { expect } from "vitest";
import { newFrames } from "../../support/new-frames.ts";
import { sized } from "../../support/size.ts";
import { chaos } from "./chaos.ts";
import { reportText } from "./report.ts";
import type { Sampled } from "./waiting.ts";

const bareScript = `
  const text = "onmessage = ({ data }) => postMessage(data)";
  const echo = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  let times = [];
  let isOver = true;
  const sample = async () => {
    while (!isOver) {
      const startedMs = performance.now();
      await new Promise((resolve) => { echo.onmessage = resolve; echo.postMessage("x"); });
      times.push(performance.now() - startedMs);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    postMessage(times);
    times = [];
  };
  onmessage = ({ data }) => {
    isOver = data === "stop";
    if (!isOver) sample();
  };
`;

/** From one worker of this page to another and back, neither of them in a frame. */
function bareWorkers(): { readonly sample: () => Sampled; readonly close: () => void } {
  const worker = new Worker(URL.createObjectURL(new Blob([bareScript], { type: "text/javascript" })));
  const stop = (): Promise<readonly number[]> =>
    new Promise((resolve) => {
      worker.onmessage = ({ data }: MessageEvent<readonly number[]>) => resolve(data);
      worker.postMessage("stop");
    });
  return {
    sample() {
      worker.postMessage("start");
      return { stop };
    },
    close: () => worker.terminate(),
  };
}

/** `npm run chaos` asks for more. */
const { KEYHOLE_CHAOS_ROUNDS: asked } = (import.meta as { readonly env?: Readonly<Record<string, string>> }).env ?? {};

/** In a page, where two sessions at once are enough: what a browser does not stop at once spins on beside them. */
export async function chaosInPage(options: BrowserHostOptions): Promise<void> {
  const framesLeft = newFrames();
  const bare = bareWorkers();
  const report = await chaos(await browserHost(options), {
    seed: 20_261_121,
    rounds: asked === undefined ? sized(undefined, 25) : Number(asked),
    lanes: 2,
    // What Chromium was told to stop spins on for two seconds.
    restMs: asked === undefined ? undefined : 2_500,
    bare: bare.sample,
  });
  bare.close();
  // oxlint-disable-next-line no-console -- it is what the person asked for, and a page has no other way out
  if (asked !== undefined) console.info(reportText(report));
  expect(framesLeft()).toHaveLength(0);
}
