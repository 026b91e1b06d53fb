/**
 * Runs a task on demand: at once, then at most once in each `gapMs`, and never twice at a
 * time. Any number of asks in between are one run.
 */
export class Paced {
  readonly #task: () => void | Promise<void>;
  readonly #gapMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isBusy = false;
  #isAsked = false;

  /** @param task rejects never */
  constructor(task: () => void | Promise<void>, gapMs: number) {
    this.#task = task;
    this.#gapMs = gapMs;
  }

  ask(): void {
    this.#isAsked = true;
    if (!this.#isBusy && this.#timer === undefined) this.#run();
  }

  /** Runs what was asked for without the rest of the gap. */
  flush(): void {
    if (!this.#isAsked || this.#isBusy) return;
    clearTimeout(this.#timer);
    this.#run();
  }

  /** Nothing runs later. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#isAsked = false;
    this.#isBusy = true;
  }

  #run(): void {
    this.#isAsked = false;
    const done = this.#task();
    if (done === undefined) return this.#rest();
    this.#isBusy = true;
    void done.then(() => {
      this.#isBusy = false;
      this.#rest();
    });
  }

  #rest(): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#isAsked) this.#run();
    }, this.#gapMs);
  }
}
