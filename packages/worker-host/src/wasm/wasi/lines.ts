/** The most characters of a log's line, or of an error output's end. */
const SHOWN = 2_000;

/** Lines of a text that comes in bytes, and its end. A text without line ends does not fill memory. */
export class Lines {
  readonly #decoder = new TextDecoder();
  readonly #say: (line: string) => void;
  #line = "";
  #tail = "";

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  add(bytes: Uint8Array): void {
    this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Says what stands behind the last line end. */
  end(): void {
    this.#take(this.#decoder.decode());
    if (this.#line !== "") this.#say(this.#line);
    this.#line = "";
  }

  /** The last of what was written, without white space around it. */
  get tail(): string {
    return this.#tail.trim();
  }

  #take(text: string): void {
    this.#tail = (this.#tail + text).slice(-SHOWN);
    const [first = "", ...more] = text.split("\n");
    this.#line = (this.#line + first).slice(0, SHOWN);
    for (const next of more) {
      this.#say(this.#line);
      this.#line = next.slice(0, SHOWN);
    }
  }
}
