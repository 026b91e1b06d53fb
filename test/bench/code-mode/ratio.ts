import { createKernel, type IsolateHost, type Kernel } from "@keyhole/kernel";
import { builtinTools, runCode } from "@keyhole/worker-host/tools";
import { registerAny } from "../../support/registered.ts";

const calls = 100;
const rounds = 15;

export interface CodeModeFigures {
  readonly oneByOneMs: number;
  readonly programMs: number;
}

/** The same 100 calls of an isolated tool: by the kernel one by one, and from one program. They take turns, each round in a kernel of its own: calls in an hour are bounded. */
export async function codeModeFigures(makeHost: () => Promise<IsolateHost>): Promise<CodeModeFigures> {
  const oneByOneMs: number[] = [];
  const programMs: number[] = [];
  for (let round = -2; round < rounds; round++) {
    const kernel = await kernelOn(await makeHost());
    await oneByOne(kernel, 2);
    await fromProgram(kernel, 2);
    const own = await timeOf(() => oneByOne(kernel, calls));
    const program = await timeOf(() => fromProgram(kernel, calls));
    await kernel.close();
    if (round < 0) continue;
    oneByOneMs.push(own);
    programMs.push(program);
  }
  return { oneByOneMs: median(oneByOneMs), programMs: median(programMs) };
}

const session = { caller: "bench", sessionId: "bench" };

async function kernelOn(host: IsolateHost): Promise<Kernel> {
  const grants = [{ tool: "run_code", capability: { kind: "tool.call", tools: ["echo"] } }];
  const kernel = await createKernel({ host, policy: { version: "1", posture: "permissive", grants } });
  for (const tool of [...builtinTools, runCode]) registerAny(kernel, tool);
  return kernel;
}

async function oneByOne(kernel: Kernel, count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    const result = await kernel.call("echo", { message: `call ${at}` }, session);
    if (!result.ok) throw new Error(result.error.message);
  }
}

async function fromProgram(kernel: Kernel, count: number): Promise<void> {
  const code = `for (let at = 0; at < ${count}; at++) await tools.echo({ message: "call " + at });`;
  const result = await kernel.call("run_code", { code }, session);
  if (!result.ok) throw new Error(result.error.message);
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
