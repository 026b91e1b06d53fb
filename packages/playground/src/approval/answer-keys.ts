export type Armed = "once" | "session";

/** The part of a question that a key is for. `typed`: the key belongs to another field. */
export type KeyAct = "arm" | "deny" | "edit" | "typed" | Armed | undefined;

const arming: ReadonlyMap<string, Armed> = new Map([
  ["a", "once"],
  ["s", "session"],
]);

/** They move or modify. Every other key is text, also one that this list does not know. */
const neutral = /^(?:Tab|Shift|Control|Alt|AltGraph|Meta|CapsLock|Escape|Arrow\w+|Home|End|Page(?:Up|Down)|F\d+)$/;

/**
 * The keys of one question. The question takes the focus while a person types to another field, and nobody looks at a screen at each letter. So its keys count only after the
 * person turned to it, by a press on it or with Tab. Each letter that is no command takes that back: then it was text.
 */
export class AnswerKeys {
  #isTurned = false;
  #armed: Armed | undefined;

  /** A pause before a letter is no sign: a person who types pauses to think. */
  get isTurned(): boolean {
    return this.#isTurned;
  }

  /** The answer that Enter gives now. */
  get armed(): Armed | undefined {
    return this.#armed;
  }

  /** The person moved the focus into the question, or pressed on it. */
  turn(): void {
    this.#isTurned = true;
    this.#armed = undefined;
  }

  /** The person pressed elsewhere. */
  leave(): void {
    this.#isTurned = false;
    this.#armed = undefined;
  }

  disarm(): void {
    this.#armed = undefined;
  }

  /** @param allowed the answers that are possible for now */
  press(name: string, allowed: (answer: Armed) => boolean): KeyAct {
    const armed = this.#armed;
    this.#armed = undefined;
    if (neutral.test(name)) return undefined;
    const key = name.toLowerCase();
    if (this.#isTurned && armed !== undefined && key === "enter") return armed;
    // A letter behind a letter is a word.
    if (this.#isTurned && armed === undefined) {
      if (key === "d") return "deny";
      if (key === "e") return "edit";
      const wanted = arming.get(key);
      if (wanted !== undefined && allowed(wanted)) {
        this.#armed = wanted;
        return "arm";
      }
    }
    this.leave();
    return "typed";
  }
}
