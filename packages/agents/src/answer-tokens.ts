/** More than a token has in any text of sense: an endless or uncounted answer costs at least this. */
const charactersOfToken = 16;

/** Deeper than any message of a framework. */
const mostDepth = 64;

/**
 * The tokens of one turn. The provider reports those of a step with its end, so an answer that is cut has no report: it costs an estimate of all that the model read and wrote.
 */
export class AnswerTokens {
  readonly #conversation: number;
  #read: number;
  #written = 0;
  #steps = 0;
  #reports = 0;

  /** @param conversation as the model gets it in the first step */
  constructor(conversation: readonly unknown[]) {
    this.#read = this.#conversation = charactersOf(conversation);
  }

  /** @param told the answers of this turn, which the model reads in the step */
  begin(told: readonly unknown[]): undefined {
    this.#steps++;
    this.#read = this.#conversation + charactersOf(told);
  }

  write(characters: number): void {
    this.#written += characters;
  }

  /** The least that the step in progress costs. */
  get least(): number {
    return tokensIn(this.#read + this.#written);
  }

  /** The cost of a step that ended. @param tokens 0 where the provider counts none */
  report(tokens: number): number {
    const cost = tokens > 0 ? Math.max(tokens, tokensIn(this.#written)) : this.least;
    this.#reports++;
    this.#written = 0;
    return cost;
  }

  /** The cost of the step that has no report. A framework that names no steps makes one. */
  end(): number {
    return this.#written > 0 || Math.max(this.#steps, 1) > this.#reports ? this.least : 0;
  }
}

const tokensIn = (characters: number): number => Math.floor(characters / charactersOfToken);

/** Of all texts. The bytes of a file are none, in whichever form they are sent. */
function charactersOf(value: unknown, depth = 0): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object") return 1;
  if (value === null || ArrayBuffer.isView(value) || depth === mostDepth) return 0;
  const { type } = value as { readonly type?: unknown };
  if (type === "file" || type === "image") return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + charactersOf(each, depth + 1), 0);
}
