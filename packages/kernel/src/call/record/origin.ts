import type { OfKind, OwnNeed } from "../../capability/family.ts";
import type { CarriedPart } from "./carried-part.ts";

/** UTF-16 units of the requests of one call that are remembered. */
const mostUnits = 16_384;

/** A grant that a call from within used. */
interface UsedWithin {
  readonly tool: string;
  readonly kind: string;
}

/** Few, because their keys have a bound. */
interface Remembered<Value> {
  readonly key: string;
  readonly value: Value;
}

/** {@link Origin} as a snapshot of the call has it. */
interface OriginData {
  readonly authority: string | undefined;
  readonly needs: readonly OfKind[];
  readonly within: readonly UsedWithin[];
  readonly labels: readonly string[];
  readonly isWhole: boolean;
  readonly hasCalls: boolean;
}

/** The answers that a suspended call had received, and their authority. */
export const originPart: CarriedPart<OriginData> = { name: "origin" };

/**
 * The requests and labels behind a result. They decide whether another call can reuse the result.
 */
export class Origin {
  readonly #labels: string[] = [];
  readonly #needs: Remembered<OwnNeed>[] = [];
  readonly #within: Remembered<UsedWithin>[] = [];
  #units = 0;
  #isWhole = true;
  #hasCalls = false;
  /** The authority that decided about the call, as one text; `undefined` before its start. */
  authority: string | undefined;
  /** The labels of the session at the decision. */
  sessionLabels: readonly string[] = [];

  /** Labels of all that ran for it, calls from within included. */
  get labels(): readonly string[] {
    return this.#labels;
  }

  /** The call's own granted requests. */
  get needs(): readonly OwnNeed[] {
    return this.#needs.map(({ value }) => value);
  }

  get usedWithin(): readonly UsedWithin[] {
    return this.#within.map(({ value }) => value);
  }

  /** Whether {@link needs} are all that it asked for: no calls from within, not too much to remember. */
  get isToldByNeeds(): boolean {
    return this.#isWhole && !this.#hasCalls;
  }

  /** Whether nothing was forgotten. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  get data(): OriginData {
    const needs = this.needs.map(({ json }) => json);
    const { authority, usedWithin: within, labels } = this;
    return { authority, needs, within, labels, isWhole: this.#isWhole, hasCalls: this.#hasCalls };
  }

  /** @param needOf `undefined` for a request that this kernel does not know: then it is forgotten */
  restore(data: OriginData, needOf: (json: OfKind) => OwnNeed | undefined): void {
    this.authority = data.authority;
    this.learn(data.labels);
    if (data.hasCalls) this.called();
    if (!data.isWhole) this.forget();
    for (const { tool, kind } of data.within)
      this.#remember(this.#within, JSON.stringify([tool, kind]), { tool, kind });
    for (const json of data.needs) {
      const need = needOf(json);
      if (need) this.asked(need);
      else this.forget();
    }
  }

  learn(labels: readonly string[]): void {
    for (const label of labels) if (!this.#labels.includes(label)) this.#labels.push(label);
  }

  called(): void {
    this.#hasCalls = true;
  }

  forget(): void {
    this.#isWhole = false;
  }

  asked(need: OwnNeed): void {
    if (this.#remember(this.#needs, JSON.stringify(need.json), need)) return;
    this.forget();
  }

  askedWithin(tool: string, { kind }: OwnNeed): void {
    if (this.#remember(this.#within, JSON.stringify([tool, kind]), { tool, kind })) return;
    this.forget();
  }

  #remember<Value>(all: Remembered<Value>[], key: string, value: Value): boolean {
    if (all.some((each) => each.key === key)) return true;
    this.#units += key.length;
    if (this.#units > mostUnits) return false;
    all.push({ key, value });
    return true;
  }
}
