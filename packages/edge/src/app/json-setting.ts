import { jsonTextFault } from "@keyhole/kernel/foreign";
import { Misconfigured } from "./problem.ts";

/**
 * The value of a setting that is JSON. Of a name twice in one object every reader takes another member, so a deny could get lost. No part of the value goes into the answer: the caller
 * is still unknown.
 *
 * @throws {Misconfigured}
 */
export function readJsonSetting(setting: string, text: string): unknown {
  const fault = jsonTextFault(text);
  if (fault === undefined) return JSON.parse(text);
  if (fault.reason === "syntax") throw new Misconfigured(`${setting} is not JSON.`);
  if (fault.reason === "inexact-number") throw new Misconfigured(`${setting} has a number that a double cannot hold.`);
  throw new Misconfigured(`${setting} has a name twice in one object. Remove one of the two.`);
}
