import { createKernel, defineTool, type IsolateHost, type Kernel } from "@keyhole/kernel";
import { builtinTools, runCode } from "@keyhole/worker-host/tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectSoundLog } from "../support/kernel.ts";
import { registerAny } from "../support/registered.ts";

const ask = defineTool({
  name: "ask_first",
  version: "1.0.0",
  description: "Needs a yes.",
  approval: "always",
  input: { type: "object" },
  output: { kind: "text" },
  execute: () => "allowed",
});

/** What a program can do and cannot, on every host that runs packages in isolates. */
export function describeCodeMode(name: string, makeHost: () => Promise<IsolateHost>): void {
  describe(`code mode on ${name}`, () => {
    let kernel: Kernel;
    beforeAll(async () => {
      const grants = [
        { tool: "run_code", capability: { kind: "tool.call", tools: ["echo", "calculator", "ask_first", "run_code"] } },
      ];
      kernel = await createKernel({
        host: await makeHost(),
        policy: { version: "1", posture: "permissive", grants },
        approver: async () => ({ answer: "allow", scope: "once", approver: "tester" }),
      });
      for (const tool of [...builtinTools, runCode, ask]) expect(registerAny(kernel, tool)).toMatchObject({ ok: true });
    });
    afterAll(async () => {
      await expectSoundLog(kernel);
      await kernel.close();
    });

    const run = async (code: string, more: object = {}): Promise<unknown> => {
      const result = await kernel.call("run_code", { code, ...more });
      return result.ok ? result.data : result.error;
    };

    it("runs a program that calls tools, one after the other and at the same time", async () => {
      const code = `
        const { message } = await tools.echo({ message: input.greeting });
        const sums = await Promise.all([1, 2, 3].map((n) => tools.calculator({ expression: n + "+1" })));
        console.log("done", { sums: sums.length });
        return { message, sums: sums.map(({ value, result }) => value ?? result) };
      `;
      const result = await kernel.call("run_code", { code, input: { greeting: "hi" } });
      expect(result).toMatchObject({ ok: true, data: { result: { message: "hi" }, logs: ['done {"sums":3}'] } });
      const children = (await kernel.audit.read()).filter(
        ({ type, payload }) =>
          type === "call.invoked" && "parentCallId" in payload && payload.parentCallId === result.callId,
      );
      expect(children).toHaveLength(4);
    });

    it("leaves out members of a result that are undefined", async () => {
      const code = `const o = await tools.echo({ message: "hi" }); return { message: o.message, price: o.price };`;
      expect(await run(code)).toEqual({ result: { message: "hi" }, logs: [] });
    });

    it("asks for each call that needs a yes", async () => {
      expect(await run(`return await tools.ask_first();`)).toMatchObject({ result: "allowed" });
    });

    it("gives a tool's failure to the program as an error", async () => {
      const code = `try { await tools.echo({}); } catch ({ name, code }) { return [name, code]; }`;
      expect(await run(code)).toMatchObject({ result: ["ToolFailed", "INVALID_INPUT"] });
    });

    it("refuses a tool that the policy does not let it call", async () => {
      expect(await run(`return await tools.hash({ data: "x" }).catch(({ code }) => code);`)).toMatchObject({
        result: "CAPABILITY_DENIED",
      });
      expect(await run(`return await tools.hash({ data: "x" });`)).toMatchObject({ code: "CAPABILITY_DENIED" });
    });

    it("tells what is wrong with a program that does not compile, or throws", async () => {
      expect(await run(`return (;`)).toMatchObject({ code: "TOOL_ERROR" });
      expect(await run(`null.x;`)).toMatchObject({ code: "TOOL_ERROR" });
      expect(await run(`return () => 1;`)).toMatchObject({ code: "NOT_NORMALIZABLE" });
      expect(await run(`console.log("only this")`)).toMatchObject({ result: null, logs: ["only this"] });
    });

    it.each([
      ["a global of another program", `return typeof globalThis.left;`, "undefined"],
      ["fetch", `return typeof fetch;`, "undefined"],
      ["awaiting the tools themselves", `return typeof (await tools);`, "object"],
    ])("gives no program %s", async (_, code, expected) => {
      await run(`globalThis.left = 1; return 0;`);
      expect(await run(code)).toMatchObject({ result: expected });
    });

    it("makes no code out of text", async () => {
      for (const made of [`new Function("return typeof fetch")()`, `(0, eval)("typeof fetch")`])
        expect(await run(`try { return ${made}; } catch { return "refused"; }`)).toMatchObject({ result: "refused" });
    });

    it("gives a program that breaks out of its function nothing that it had not before", async () => {
      const code = `}; export const more = 1; const rest = () => { return typeof fetch;`;
      const result = await kernel.call("run_code", { code });
      expect(JSON.stringify(result)).not.toContain('"function"');
    });

    it("ends a program that runs programs", async () => {
      const code = `return await tools.run_code({ code: input, input });`;
      expect(JSON.stringify(await run(code, { input: code }))).toContain("hold every slot of run_code");
    });
  });
}
