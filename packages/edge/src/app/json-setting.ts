import { doubledName } from "./json-text.ts";
import { Misconfigured } from "./problem.ts";

/**
 * The value of a setting that is JSON. Of a name twice in one object every reader takes another member, so a deny could get lost. No part of the value goes into the answer: the caller
 * is still unknown.
 *
 * @throws {Misconfigured}
 */
export function readJsonSetting(setting: string, text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Misconfigured(`${setting} is not JSON.`);
  }
  if (doubledName(text) === undefined) return value;
  throw new Misconfigured(`${setting} has a name twice in one object. Remove one of the two.`);
}
