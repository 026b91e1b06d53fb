import { type AuditEvent, type CallOptions, readVersionedId } from "@keyhole/kernel";
import { knownOptions } from "@keyhole/kernel/foreign";
import type { AgentKernel } from "./agent-tools.ts";

export type { AgentKernel };

type Functions = Readonly<Record<string, unknown>>;

/** Functions under one name, as Cloudflare's codemode hands them to an executor. */
export interface CodemodeProvider {
  readonly name: string;
  readonly fns: Functions;
  /** JavaScript that runs in the isolate before the program. */
  readonly prelude?: string;
}

export interface CodemodeResult {
  result: unknown;
  error?: string;
  logs?: string[];
}

/** `Executor` of `@cloudflare/codemode`. */
export interface CodemodeExecutor {
  execute(
    code: string,
    providers: readonly CodemodeProvider[] | Functions,
    options?: { readonly connectors?: readonly unknown[] },
  ): Promise<CodemodeResult>;
}

export interface CodemodeOptions extends Pick<CallOptions, "caller" | "sessionId" | "grants" | "signal"> {
  /** The tool that runs programs. Default `run_code`. */
  readonly program?: string;
}

const identifier = /^[A-Za-z_$][\w$]*$/;

/**
 * Runs the programs of Cloudflare's codemode in an isolate of the kernel, in a page, at the edge and on Node. Each function of a provider stands for the kernel's tool of the same name: the
 * kernel decides, bounds and records its call. The functions themselves never run, and one without such a tool is refused. A program that calls another tool ends before that tool
 * runs. Behind a wire, the tool can have run: there bound the program by its grant of `tool.call`. Never rejects.
 *
 * @example
 * const codemode = createCodeTool({ tools, executor: codemodeExecutor(kernel, { caller: "agent" }) });
 */
export function codemodeExecutor(
  kernel: Pick<AgentKernel, "list" | "call">,
  options: CodemodeOptions = {},
): CodemodeExecutor {
  const { program = "run_code", ...callOptions } = knownOptions(
    options,
    { program: true, caller: true, sessionId: true, grants: true, signal: true },
    "codemodeExecutor",
  );
  return {
    async execute(code, given, { connectors = [] } = {}) {
      const providers: readonly CodemodeProvider[] = Array.isArray(given)
        ? (given as readonly CodemodeProvider[])
        : [{ name: "codemode", fns: given as Functions }];
      const { caller } = callOptions;
      const listed = await kernel.list(caller === undefined ? {} : { caller });
      const fault = faultOf(providers, new Set(listed.map(({ manifest }) => manifest.name)), connectors.length);
      if (fault !== undefined) return { result: undefined, error: fault };
      const calls = new GivenCalls(providers, callOptions.signal);
      const input = { code: programOf(code, providers) };
      const result = await kernel.call(program, input, { ...callOptions, signal: calls.signal, onEvent: calls.hear });
      if (calls.fault !== undefined) return { result: undefined, error: calls.fault };
      if (!result.ok) return { result: undefined, error: `${result.error.message} ${result.error.hint}`.trim() };
      return result.data as { result: unknown; logs: string[] };
    },
  };
}

/** Ends a program that calls a tool of no provider. Its text cannot keep it from the names around it; the kernel tells of a call before the tool runs. */
class GivenCalls {
  fault: string | undefined;
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #names: ReadonlySet<string>;
  #program: string | undefined;

  constructor(providers: readonly CodemodeProvider[], signal: AbortSignal | undefined) {
    this.#names = new Set(providers.flatMap(({ fns }) => Object.keys(fns)));
    this.signal = AbortSignal.any([...(signal ? [signal] : []), this.#controller.signal]);
  }

  /** Takes each event of the program and of the calls below it. A tool may call what its own grant gives. */
  readonly hear = ({ callId, payload }: AuditEvent): void => {
    if (callId === null || !("parentCallId" in payload)) return;
    if (payload.parentCallId === null) this.#program = callId;
    else if (payload.parentCallId === this.#program && !this.#names.has(readVersionedId(payload.tool).name)) {
      this.fault ??= `The program called ${payload.tool}, which is a function of no provider. Call the functions of the providers.`;
      this.#controller.abort();
    }
  };
}

function faultOf(
  providers: readonly CodemodeProvider[],
  tools: ReadonlySet<string>,
  connectors: number,
): string | undefined {
  if (connectors > 0) return "Connectors are bindings of Workers. Register their methods as tools of the kernel.";
  const names = providers.map(({ name }) => name);
  const wrong = names.find((name, at) => !identifier.test(name) || names.indexOf(name) !== at);
  if (wrong !== undefined) return `The provider ${JSON.stringify(wrong)} has no name of its own that JavaScript takes.`;
  const missing = providers.flatMap(({ fns }) => Object.keys(fns)).find((name) => !tools.has(name));
  if (missing !== undefined) return `The kernel lists no tool ${JSON.stringify(missing)} for this caller. Register it.`;
  return undefined;
}

/** The body of an async function for `run_code`: the code is an expression that gives a function. */
function programOf(code: string, providers: readonly CodemodeProvider[]): string {
  const objects = providers.map(({ fns }) => {
    const names = Object.keys(fns);
    // Codemode writes `_` behind a name that is a word of JavaScript. A tool's own name goes before such a name.
    const written = [
      ...names.map((name) => [`${name}_`, name] as const),
      ...names.map((name) => [name, name] as const),
    ];
    const members = written.map(([member, name]) => `${JSON.stringify(member)}: tools[${JSON.stringify(name)}]`);
    return `{ ${members.join(", ")} }`;
  });
  const preludes = providers.map(({ prelude = "" }) => prelude).join("\n");
  const names = providers.map(({ name }) => name);
  // The parameters of `run_code` that a program of codemode does not have.
  const parameters = [...names, ...["tools", "input"].filter((name) => !names.includes(name))];
  const expression = code.trim().replace(/;+$/, "");
  return `return await (async (${parameters.join(", ")}) => {
${preludes}
const given = (${expression}
);
return typeof given === "function" ? await given() : given;
})(${objects.join(", ")});`;
}
