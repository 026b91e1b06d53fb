import { defineTool, type JsonValue } from "@keyhole/kernel/tool";

/** The program of this call; the kernel puts it into this module. */
declare const keyholeProgram: (tools: object, console: object, input: JsonValue) => Promise<unknown>;

const maxLines = 1_000;
const maxLineLength = 2_000;

export default defineTool({
  name: "run_code",
  version: "1.0.0",
  title: "Run a program",
  description:
    "Runs a JavaScript program, the body of an async function. It calls tools with `await tools.NAME(arguments)`, which gives the tool's data or throws an error with `code` and `hint`; " +
    "it prints with `console.log`, reads `input`, and gives back what it returns. There is no network, no file system and no import but through tools.",
  category: "code",
  effects: [],
  determinism: "external",
  tier: 1,
  risk: "medium",
  capabilities: [{ kind: "tool.call", tools: ["*"] }],
  bounds: { timeoutMs: 60_000, networkRequests: 200 },
  program: "code",
  input: {
    type: "object",
    properties: {
      code: {
        type: "string",
        minLength: 1,
        maxLength: 100_000,
        description: 'The body of an async function. Example: return await tools.echo({ message: "hi" });',
      },
      input: { description: "What the program sees as `input`.", default: null },
    },
    required: ["code"],
    additionalProperties: false,
    examples: [
      {
        code: `const { value } = await tools.calculator({ expression: "6 * 7" });
console.log("the calculator says", value);
return (await tools.hash({ data: String(value) })).digest;`,
      },
    ],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        result: { description: "What the program returned; null where it returned nothing." },
        logs: { type: "array", items: { type: "string" }, description: "What it printed, line by line." },
      },
      required: ["result", "logs"],
      additionalProperties: false,
    },
  },
  async execute(given, { tools: { call }, log }) {
    const { input = null } = given as { readonly input?: JsonValue };
    const logs: string[] = [];
    const print = (...values: readonly unknown[]): void => {
      const line = values.map(textOf).join(" ").slice(0, maxLineLength);
      if (logs.length < maxLines) logs.push(line.toWellFormed());
      log(line);
    };
    const console = { log: print, info: print, warn: print, error: print, debug: print };
    const result = await keyholeProgram(byName(call), console, input);
    return { result: (result === undefined ? null : result) as JsonValue, logs };
  },
});

type Call = Parameters<Parameters<typeof defineTool>[0]["execute"]>[1]["tools"]["call"];

/** `tools.NAME(arguments)`. It has no method `then`, so that whoever awaits it calls no tool. */
function byName(call: Call): object {
  return new Proxy(Object.freeze({}), {
    get: (_, name) => {
      if (typeof name !== "string" || name === "then") return undefined;
      return async (args?: unknown) => {
        const answer = await call(name, args);
        if (answer.ok) return answer.bytes ?? answer.data;
        const { message, code, hint, details, retryable } = answer.error;
        throw Object.assign(new Error(message), { name: "ToolFailed", code, hint, details, retryable });
      };
    },
  });
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    const text: string | undefined = JSON.stringify(value);
    return text ?? Object.prototype.toString.call(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
