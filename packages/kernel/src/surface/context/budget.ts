import type { ModelError } from "../../result.ts";
import { fitDefinition, type ModelDefinition } from "./fit-definition.ts";
import { byteLength } from "./fit-text.ts";
import { leastAnswerBytes } from "./kept-results.ts";

/** How much of a model's context one tool takes. */
export interface ContextBudget {
  /** UTF-8 bytes of the tool's name, description and schema, as JSON. Longer texts are shortened; the schema accepts the same inputs. Default: no limit. */
  readonly definitionBytes?: number;
  /** UTF-8 bytes of an answer that the model reads, at least 512. A longer one is cut, and the model reads on with `read_result`. Default 65,536. */
  readonly answerBytes?: number;
}

/** @throws TypeError for a budget that the definition cannot keep. */
export function definitionWithin(definition: ModelDefinition, { definitionBytes }: ContextBudget): ModelDefinition {
  if (definitionBytes === undefined) return definition;
  const fitted = fitDefinition(definition, definitionBytes);
  if (fitted.ok) return fitted.value;
  throw new TypeError(
    `The definition of ${definition.name} has ${fitted.leastBytes} bytes at least; definitionBytes is ${definitionBytes}. Raise it, or leave the tool out.`,
  );
}

/** @throws TypeError for a budget in which no answer fits. */
export function answerBytesOf({ answerBytes = 65_536 }: ContextBudget): number {
  if (Number.isSafeInteger(answerBytes) && answerBytes >= leastAnswerBytes) return answerBytes;
  throw new TypeError(`answerBytes is ${answerBytes}, expected an integer of at least ${leastAnswerBytes}.`);
}

/** UTF-8 bytes of an escaped character in JSON. */
const mostCharacterBytes = 6;
/** Of an error in JSON, without its message and hint. */
const envelopeBytes = 128;

/** An error whose JSON has at most `limitBytes`: a longer one loses its details, then the ends of its message and hint. */
export function errorWithin(error: ModelError, limitBytes: number): ModelError {
  const fits = (each: ModelError): boolean => byteLength(JSON.stringify({ error: each })) <= limitBytes;
  if (fits(error)) return error;
  const brief = { ...error, details: {} };
  if (fits(brief)) return brief;
  const length = Math.floor((limitBytes - envelopeBytes) / mostCharacterBytes / 2);
  const cut = (text: string): string => text.slice(0, length).toWellFormed();
  return { ...brief, message: cut(brief.message), hint: cut(brief.hint) };
}
