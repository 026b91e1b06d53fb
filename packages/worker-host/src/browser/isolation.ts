import { IsolateFailure, type ToolManifest } from "@keyhole/kernel";

/**
 * `worker`: the browser runs the tool at its full speed. `interpreter`: QuickJS under WebAssembly
 * runs it, some fifty times slower, with exact bounds for fuel and memory. A page whose tools all
 * run so needs no `blob:` in its `script-src`.
 */
export type Isolation = "worker" | "interpreter";

/**
 * The isolation of each tool. Any other value would run tools with less isolation than somebody meant.
 *
 * @throws TypeError for what is none; the result throws IsolateFailure where a function returns none
 */
export function readIsolation(
  given: Isolation | ((tool: ToolManifest) => Isolation),
): (tool: ToolManifest) => Isolation {
  if (isIsolation(given)) return () => given;
  if (typeof given !== "function") throw new TypeError(`\`isolation\` ${wrong(given)}`);
  return (tool) => {
    const chosen: unknown = given(tool);
    if (isIsolation(chosen)) return chosen;
    throw new IsolateFailure("UNSUPPORTED_HOST", `\`isolation\` for ${tool.name} ${wrong(chosen)}`, {}, "host");
  };
}

const isIsolation = (given: unknown): given is Isolation => given === "worker" || given === "interpreter";

function wrong(given: unknown): string {
  const shown = typeof given === "string" ? JSON.stringify(given.slice(0, 40)) : `a value of type ${typeof given}`;
  return `is ${shown}. Use "worker", "interpreter", or a function that returns one of them at once.`;
}
