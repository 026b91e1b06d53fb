import { globSync, readFileSync } from "node:fs";
import { parseSync, Visitor } from "vite";
import { describe, expect, it } from "vitest";
import { root } from "./support/sources.ts";

const own = "packages/edge/src/isolate/remote.ts";

/** What makes a stub, and what holds one. */
const makers = new Set(["getEntrypoint", "getByName", "getDurableObjectClass", "get"]);
const bindings = new Set(["SANDBOX", "REGISTRY", "KERNEL"]);
/** Types by which the platform would give a stub its methods: nothing would stand between it and whoever forgets. */
const typed = new Set(["DurableObjectNamespace", "DurableObjectStub", "Service", "Rpc", "WorkerStub"]);

/** Each place where a stub could be called past `remote`. */
function faults(path: string, text: string): string[] {
  const { program, errors } = parseSync(path, text);
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  const found: string[] = [];
  const fault = (what: string, { start }: { readonly start: number }): void => {
    found.push(`${path}:${text.slice(0, start).split("\n").length} ${what}`);
  };
  const textOf = ({ start, end }: { readonly start: number; readonly end: number }): string => text.slice(start, end);
  new Visitor({
    TSAsExpression(node) {
      const inner = node.expression.type === "TSAsExpression" ? node.expression.typeAnnotation : undefined;
      if (inner?.type === "TSUnknownKeyword") fault("casts past a type", node);
    },
    TSTypeReference(node) {
      if (typed.has(textOf(node.typeName)) && node.typeArguments) fault("names the methods of a stub", node);
    },
    CallExpression(node) {
      const { callee } = node;
      if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
      const { name } = callee.property;
      const { object } = callee;
      if (makers.has(name) && node.typeArguments) fault("names the methods of a stub", node);
      if (name === "fetch") return; // HTTP: its answer is a stream, and ends with its body.
      const called =
        object.type === "CallExpression" && object.callee.type === "MemberExpression" ? object.callee : undefined;
      if (called?.property.type === "Identifier" && called.property.name !== "get" && makers.has(called.property.name))
        fault(`calls ${name} on a stub`, node);
      const holder = object.type === "MemberExpression" ? object.property : object;
      if (holder.type === "Identifier" && bindings.has(holder.name) && !makers.has(name))
        fault(`calls ${name} on a binding`, node);
    },
  }).visit(program);
  return found;
}

const paths = globSync("packages/edge/src/**/*.ts", { cwd: root }).sort();

describe("a stub is called through remote() alone", () => {
  it("in all of the edge", () => {
    expect(paths.length).toBeGreaterThan(20);
    expect(paths).toContain(own);
    const found = paths
      .filter((path) => path !== own)
      .flatMap((path) => faults(path, readFileSync(root + path, "utf8")));
    expect(found).toEqual([]);
  });

  it.each([
    ["a cast past the type of a stub", `const a = worker.getEntrypoint() as unknown as Shell;`],
    ["a stub that brings its methods", `let a: DurableObjectNamespace<Registry>;`],
    ["an entrypoint that brings its methods", `const a = worker.getEntrypoint<Shell>();`],
    ["a method of a new stub", `const a = await env.REGISTRY.getByName("registry").load(1);`],
    ["a method of an entrypoint", `const a = await worker.getEntrypoint().call(1);`],
    ["a method of a binding", `const a = await env.SANDBOX.ping();`],
    ["a method of a binding that was taken out", `const a = await SANDBOX.ping();`],
  ])("and this is found: %s", (_, text) => {
    expect(faults("x.ts", text)).toHaveLength(1);
  });

  it.each([
    `const a = remote<Shell>(worker.getEntrypoint(), ["load"]);`,
    `const a = sandboxLoader(env.SANDBOX, "registry");`,
    `const a = await env.KERNEL.getByName(tenant).fetch(request);`,
    `const a = new Map().get("x").size;`,
  ])("and this is not: %s", (text) => {
    expect(faults("x.ts", text)).toEqual([]);
  });
});
