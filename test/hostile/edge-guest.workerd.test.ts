import { edgeHost } from "@keyhole/edge";
import type { CallPort, IsolateCall, IsolateHost, IsolateOutcome, RegisteredTool } from "@keyhole/kernel";
import { echo } from "@keyhole/worker-host/tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CallChannel } from "../../packages/edge/src/isolate/call-channel.ts";
import { bindings } from "../edge/bindings.ts";
import { uncheckedCode, usurper } from "../edge/unchecked-code.ts";
import { type HeardPort, heardPort } from "../support/heard-port.ts";
import { registered } from "../support/registered.ts";

const honest = `export default { code: { execute: () => "honest" } };`;

/** A tool cannot import the shell, see test/realm/describe-imports.ts, nor change it if it could. Here it has taken its place. */
const { loader, nameOf, nameOfShell } = uncheckedCode(bindings.LOADER);

/** A guest that speaks to the kernel itself. */
const guest = (deed: string): string =>
  nameOfShell(
    usurper(`
      const line = (more) => pack({ type: "log", level: "info", message: "x", ...more });
      const ask = (more) => pack({ type: "request", kind: "fs.read", operation: "read", arguments: '{"path":"a"}', ...more });
      const json = (text) => pack({ kind: "returned", output: { form: "json", text } });
      const done = json("1");
      ${deed}`),
  );

let host: IsolateHost;
let template: RegisteredTool;
beforeAll(() => {
  host = edgeHost({ loader, preempts: false });
  template = registered(echo);
});
afterAll(() => host.close());

const callWith = (more: Partial<IsolateCall> = {}): IsolateCall => ({
  callId: "the-call",
  sessionId: "session",
  inputText: "{}",
  outputKind: "json",
  outputBytes: 1_000,
  seed: "0".repeat(64),
  nowMs: 0,
  real: { clock: false, random: false },
  ...more,
});

async function run(
  code: string,
  heard: HeardPort,
  more: Partial<IsolateCall> = {},
): Promise<{ outcome: IsolateOutcome; alive: boolean }> {
  const isolate = await host.open({ ...template, body: { source: "module", code } });
  const outcome = await isolate.call(callWith(more), heard);
  const { alive } = isolate;
  isolate.terminate("the test is over");
  return { outcome, alive };
}

describe("a guest that usurps the line", () => {
  it("is answered like the shell as long as it speaks like it", async () => {
    const heard = heardPort();
    const deed =
      "await target.say(line({ callId })); const reply = await target.request(ask({ callId, request: 0 })); return json(JSON.stringify(unpack(reply)));";
    const { outcome, alive } = await run(guest(deed), heard);
    expect(outcome).toEqual({ kind: "returned", output: { form: "json", text: '{"ok":true,"value":null}' } });
    expect([heard.logs.length, heard.requests.length, alive]).toEqual([1, 1, true]);
  });

  it("cannot send more than a call may", async () => {
    const heard = heardPort();
    const { outcome } = await run(
      guest("for (let i = 0; i < 1001; i++) await target.say(line({ callId })); return done;"),
      heard,
    );
    expect(outcome).toEqual({ kind: "too-large", what: "messages", limit: 1_000 });
    expect(heard.logs).toHaveLength(1_000);
  });

  it("cannot ask for more at the same time than a call may", async () => {
    let waiting = 0;
    const heard: HeardPort = {
      ...heardPort(),
      request: () => {
        waiting += 1;
        return new Promise(() => {});
      },
    };
    const { outcome } = await run(
      guest(
        "for (let i = 0; i < 33; i++) target.request(ask({ callId, request: i })).catch(() => {}); await new Promise(() => {});",
      ),
      heard,
    );
    expect(outcome).toEqual({ kind: "too-large", what: "messages", limit: 32 });
    expect(waiting).toBe(32);
  });

  it("cannot return more than a call may", async () => {
    const { outcome } = await run(guest(`return json('"' + 'x'.repeat(2000) + '"');`), heardPort());
    expect(outcome).toEqual({ kind: "too-large", what: "output", limit: 1_000 });
  });

  it("cannot return what no message can hold", async () => {
    const { outcome } = await run(guest("return json('x'.repeat(40 << 20));"), heardPort());
    expect(outcome.kind).toBe("lost");
  });

  it.each(["end", "broken", "outcomeOf", "heard", "constructor", "__proto__", "then", "dispose"])(
    "finds no way to the line's %s",
    async (name) => {
      const heard = heardPort();
      const deed = `let said = "nothing"; try { said = String(await target[${JSON.stringify(name)}]({ kind: "returned" })); } catch (error) { said = error.name; }
      return json(JSON.stringify(said));`;
      const { outcome } = await run(guest(deed), heard);
      expect(outcome).toMatchObject({ kind: "returned" });
      expect(JSON.stringify(outcome)).toMatch(/TypeError|Error|undefined|object/);
      expect([heard.logs, heard.requests]).toEqual([[], []]);
    },
  );

  it("has no say once the call is over", async () => {
    const heard = heardPort();
    const deed =
      "const kept = target.dup ? target.dup() : target; globalThis.late = (async () => { await target.next(); await kept.say(line({ callId })); await kept.request(ask({ callId, request: 0 })); })().catch(() => {}); return done;";
    const { outcome } = await run(guest(deed), heard);
    expect(outcome.kind).toBe("returned");
    await run(honest, heardPort());
    expect([heard.logs, heard.requests]).toEqual([[], []]);
  });

  it("has no say once it was terminated", async () => {
    const spoken = Promise.withResolvers<void>();
    const heard: HeardPort = { ...heardPort(), log: () => spoken.resolve() };
    const isolate = await host.open({
      ...template,
      body: {
        source: "module",
        code: guest(
          "await target.say(line({ callId })); await target.next(); for (let i = 0; i < 50; i++) await target.request(ask({ callId, request: i }));",
        ),
      },
    });
    const pending = isolate.call(callWith(), heard);
    await spoken.promise;
    isolate.terminate("deadline");
    expect(await pending).toEqual({ kind: "lost", reason: "deadline" });
    await run(honest, heardPort());
    expect(heard.requests).toEqual([]);
  });

  it("hears of the cancellation once, and then of the end", async () => {
    const heard = heardPort();
    heard.abort();
    const deed =
      "const first = await target.next(); const rest = target.next().then(() => 'over'); const second = await Promise.race([rest, target.say(line({ callId })).then(() => 'still open')]); return json(JSON.stringify([first, second]));";
    expect((await run(guest(deed), heard)).outcome).toMatchObject({ output: { text: '["cancelled","still open"]' } });
  });
});

describe("a module", () => {
  it.each([
    ["a syntax error", "export default {"],
    ["an exception", "throw new Error('at load')"],
    ["an exception that is null", "throw null"],
    ["an import that is not there", "import './elsewhere.js'; export default {}"],
    ["an import of Node's", "import 'node:fs'; export default {}"],
    ["an import from a URL", "import 'https://example.com/x.js'; export default {}"],
  ])("with %s is the tool's own fault", async (_, code) => {
    await expect(host.open({ ...template, body: { source: "module", code } })).rejects.toMatchObject({
      name: "IsolateFailure",
      code: "TOOL_ERROR",
    });
  });

  it("that answers in the shell's place is not believed", async () => {
    const shell = `import { WorkerEntrypoint } from "cloudflare:workers";
      export default class extends WorkerEntrypoint { load() { return { type: "admin" }; } };`;
    await expect(
      host.open({ ...template, body: { source: "module", code: nameOfShell(shell) } }),
    ).rejects.toMatchObject({ name: "IsolateFailure" });
  });
});

describe("a tool that has obtained the shell", () => {
  /** Its module's own words, and what its call gives. */
  const given = async (top: string, expression: string): Promise<unknown> => {
    const code = nameOf(`${top} export default { code: { execute: async () => (${expression}) } };`);
    const { outcome } = await run(code, heardPort(), { outputBytes: 100_000 });
    return outcome.kind === "returned" && outcome.output.form === "json" ? JSON.parse(outcome.output.text) : outcome;
  };

  it("can change nothing of it, and nothing that it stands on", async () => {
    const open = `Object.entries({ ...shell, ...workers })
      .flatMap(([name, value]) => (typeof value === "function" ? [[name, value], [name + ".prototype", value.prototype]] : []))
      .filter(([, value]) => value !== undefined && !Object.isFrozen(value))
      .map(([name]) => name)`;
    const top = `import * as shell from "./shell.js"; import * as workers from "cloudflare:workers";`;
    expect(await given(top, open)).toEqual([]);
    expect(await given(top, "Object.keys(shell)")).toEqual(["default"]);
    // The language is as it is on every host.
    expect(await given(top, "[Object.prototype, Function.prototype].map(Object.isFrozen)")).toEqual([false, false]);
  });

  it.each([
    ["its call", "Shell.prototype.call = theirs"],
    ["its start", "Shell.prototype.load = theirs"],
    ["its context", `Object.defineProperty(Shell.prototype, "ctx", { get: theirs })`],
    ["the context of all", `Object.defineProperty(workers.WorkerEntrypoint.prototype, "ctx", { get: theirs })`],
    ["its parent", "Object.setPrototypeOf(Shell.prototype, { call: theirs })"],
    ["its parent's parent", "Object.setPrototypeOf(Shell, theirs)"],
    ["a stub's ways", `Object.defineProperty(workers.RpcStub.prototype, "dup", { value: theirs })`],
  ])("still has it run its calls, whatever it tries: %s", async (_, deed) => {
    const top = `import Shell from "./shell.js"; import * as workers from "cloudflare:workers";
      const theirs = async () => ({ kind: "returned", output: { form: "json", text: '"theirs"' } });
      let said = "changed"; try { ${deed}; } catch (error) { said = error.name; }`;
    expect(await given(top, "said")).toBe("TypeError");
  });
});

/** Counts the listeners that wait on its signal. */
function countedPort() {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal) as (...given: unknown[]) => void;
  Object.assign(signal, {
    addEventListener: (...given: unknown[]) => {
      listeners++;
      add(...given);
    },
  });
  const callPort: CallPort = {
    signal,
    request: async () => ({ ok: true, value: null }),
    log: () => {},
    progress: () => {},
  };
  return { callPort, abort: () => controller.abort(), listeners: () => listeners };
}

describe("a guest that asks for the next message", () => {
  it("a thousand times loses its call, and its listeners are removed", async () => {
    const { callPort, listeners } = countedPort();
    const line = new CallChannel(callWith(), callPort);
    const answers = Array.from({ length: 1_000 }, () => line.next());
    expect(await line.broken).toEqual({ kind: "lost", reason: "protocol: it polls without end" });
    expect(await Promise.all(answers)).toEqual(Array(1_000).fill("ended"));
    expect(listeners()).toBe(4);
  });

  it("receives the cancellation, and then the end", async () => {
    const { callPort, abort } = countedPort();
    const line = new CallChannel(callWith(), callPort);
    const first = line.next();
    abort();
    expect(await first).toBe("cancelled");
    const second = line.next();
    line.end();
    expect(await second).toBe("ended");
  });
});

/** Runs an expression inside a hardened dynamic Worker and gives what it came to. */
async function inside(expression: string): Promise<unknown> {
  const code = `export default { code: { execute: async () => { try { return { came: String(await (${expression})) }; } catch (error) { return { threw: String(error && error.message || error) }; } } } };`;
  const { outcome } = await run(nameOf(code), heardPort(), { outputBytes: 100_000 });
  if (outcome.kind !== "returned" || outcome.output.form !== "json") return outcome;
  return JSON.parse(outcome.output.text);
}

describe("the way out of a dynamic Worker", () => {
  it("is shut: a socket of workerd's own", async () => {
    const result = await inside(
      "import('cloudflare:sockets').then(async ({ connect }) => { const socket = connect('127.0.0.1:1'); await socket.opened; return 'open'; })",
    );
    expect(result).toHaveProperty("threw");
  });

  it("has nothing bound to it", async () => {
    expect(await inside("import('cloudflare:workers').then(({ env }) => JSON.stringify(env))")).toEqual({ came: "{}" });
  });

  it("does not lead through what workerd exports", async () => {
    const result = await inside(
      "import('cloudflare:workers').then(({ exports }) => Object.keys(exports ?? {}).join())",
    );
    // Its own shell, and nothing of the kernel.
    expect(JSON.stringify(result)).not.toMatch(/Kernel|Registry|Sandbox/);
  });
});
