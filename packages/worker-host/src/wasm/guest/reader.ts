/** The shell that reads a manifest: it loads one tool into the realm that tools have, and posts what the tool says of itself. The shell calls no function of the tool. */
import { host } from "./host.ts";
// Before everything that takes these names when it is loaded.
import "./platform/index.ts";
import { manifestOf, type Tool } from "@keyhole/kernel";
import { snapshot } from "@keyhole/kernel/guest";
import { hardenRealm } from "../../guest/harden/realm.ts";

const { stringify } = JSON;

hardenRealm(globalThis);

host.ready((code) => void post(code));

async function post(code: string): Promise<void> {
  host.post(stringify(await read(code)));
}

async function read(code: string): Promise<object> {
  let exported: unknown;
  try {
    exported = (await host.evaluate(code)).default;
  } catch (error) {
    return refused(`it throws when it is loaded: ${textOf(error)}`);
  }
  const tool = toolOf(exported);
  if (typeof tool === "string") return refused(tool);
  try {
    const { ok, ...taken } = snapshot(manifestOf(tool, "module"));
    if ("value" in taken) return { ok, manifest: taken.value };
    const { path, message } = taken.error;
    return refused(`its manifest is refused at "${path}": ${message}`);
  } catch (error) {
    return refused(`its manifest cannot be read: ${textOf(error)}`);
  }
}

/** A thrown value can be a proxy that throws when it is looked at. */
function textOf(error: unknown): string {
  try {
    return String(error);
  } catch {
    return "a value that cannot be read";
  }
}

function refused(reason: string): object {
  return { ok: false, reason };
}

/** The tool, or what keeps a default export from being one. */
function toolOf(value: unknown): Tool<never, unknown> | string {
  const definition = isObject(value) && "definition" in value ? value.definition : undefined;
  const code = isObject(value) && "code" in value ? value.code : undefined;
  if (!isObject(definition) || !isObject(code))
    return "its default export is not a tool; it should be the result of defineTool";
  if (!("input" in definition) || !isObject(definition.input)) return lacking("input");
  if (!("output" in definition) || !isObject(definition.output)) return lacking("output");
  if (!("execute" in code) || typeof code.execute !== "function") return lacking("execute");
  return value as Tool<never, unknown>;
}

const lacking = (member: "input" | "output" | "execute"): string =>
  `its tool has no \`${member}\`, which defineTool asks for`;

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
