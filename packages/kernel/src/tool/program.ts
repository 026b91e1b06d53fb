import type { Hash } from "../hash/hash.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import type { RegisteredTool } from "./package.ts";

/**
 * The tool of one call that brings a program: the program stands in the tool's own module, as the
 * async function `keyholeProgram(tools, console, input)`, and runs where the tool runs. So no realm
 * needs a way to make code out of text, and the kernel's never does. Code of the program outside of
 * that function has the same isolate and the same authority. Every program is its own module,
 * without the state of another one.
 */
export function withProgram(tool: RegisteredTool, input: JsonValue, hash: Hash): RegisteredTool {
  const { program } = tool.manifest;
  if (program === undefined || tool.body.source !== "module") return tool;
  const given = isJsonObject(input) ? input[program] : undefined; // It is an object: its schema says so.
  const text = typeof given === "string" ? given : "";
  const code = `const keyholeProgram = async (tools, console, input) => {\n${text}\n};\n${tool.body.code}`;
  return {
    ...tool,
    hash: hash.text(JSON.stringify([tool.hash, text])),
    composedOf: tool.hash,
    body: { source: "module", code },
  };
}
