import { builtInFamilies } from "@keyhole/kernel";
import type { Broker, BrokerReply, Capability, Need, Tool, ToolContext } from "@keyhole/kernel";
import { toolOf } from "./kernel.ts";

/** Kinds of needs that a tool has by asking its context. */
export type AskedNeed = Exclude<
  Need,
  { readonly kind: "tool.call" | "secret.use" | "clock" | "random" | "mqtt.publish" }
>;

const verbs: { readonly [Kind in AskedNeed["kind"]]: (context: ToolContext, place: string) => Promise<unknown> } = {
  "net.read": ({ fetch }, place) => fetch(`https://a.example/${place}`),
  "net.write": ({ fetch }, place) => fetch(`https://a.example/${place}`, { method: "POST" }),
  "fs.read": ({ files }, place) => files.read(place),
  "fs.write": ({ files }, place) => files.write(place, ""),
  "db.read": ({ db }, place) => db("d").query(place),
  "db.write": ({ db }, place) => db("d").run(place),
  "kv.read": ({ kv }, place) => kv.get(place),
  "kv.write": ({ kv }, place) => kv.put(place, ""),
  "process.spawn": ({ spawn }, place) => spawn("c", [place]),
  "browser.page": ({ request }, place) =>
    request({ kind: "browser.page", operation: "open", arguments: { url: `https://a.example/${place}` } }),
};

const replies: { readonly [Kind in AskedNeed["kind"]]: BrokerReply } = {
  "net.read": { ok: true, value: { url: "https://a.example/", status: 200, headers: [] } },
  "net.write": { ok: true, value: { url: "https://a.example/", status: 200, headers: [] } },
  "fs.read": { ok: true, value: null, body: new Uint8Array() },
  "fs.write": { ok: true, value: null },
  "db.read": { ok: true, value: { columns: [], rows: [] } },
  "db.write": { ok: true, value: { changes: 0, lastInsertRowId: null } },
  "kv.read": { ok: true, value: { found: false } },
  "kv.write": { ok: true, value: null },
  "process.spawn": { ok: true, value: { exitCode: 0, stderr: "" }, body: new Uint8Array() },
  "browser.page": { ok: true, value: { url: "https://a.example/" } },
};

const isAsked = (kind: string): kind is AskedNeed["kind"] => Object.hasOwn(replies, kind);

/** A tool that makes requests with exactly these needs, one after the other, and the broker that serves them. */
export function asking(
  needs: readonly AskedNeed[],
  declared: readonly Capability[],
  more: object = {},
): { readonly tool: Tool<never, unknown>; readonly broker: Broker } {
  const kinds = Object.keys(replies).filter(isAsked);
  const tool = toolOf(
    async (_: never, context: ToolContext) => {
      for (const [place, { kind }] of needs.entries()) await verbs[kind](context, String(place));
      return needs.length;
    },
    { determinism: "external", effects: kinds, capabilities: declared, ...more },
  );
  const broker: Broker = {
    families: [...builtInFamilies].filter(({ kind }) => kinds.some((each) => each === kind)),
    needs({ arguments: given }) {
      const need = needs[Number(/\d+/.exec(JSON.stringify(given))?.[0])];
      if (!need) throw new Error("there is no such need");
      return { ok: true, needs: [need] };
    },
    async serve({ kind }, { spend }) {
      const error = kind.startsWith("net.") ? spend({ networkRequests: 1 }) : undefined;
      if (error) return { ok: false, error };
      return isAsked(kind) ? replies[kind] : expectNever(kind);
    },
  };
  return { tool, broker };
}

function expectNever(kind: string): never {
  throw new Error(`nothing asks for ${kind}`);
}
