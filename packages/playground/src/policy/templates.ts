import type { JsonObject, PolicyDocument } from "@keyhole/kernel";

/** A change that people make often. It stands in the draft for the person to fill in, and holds only after the application. */
export interface Template {
  readonly name: string;
  readonly hint: string;
  readonly add: (document: PolicyDocument) => PolicyDocument;
}

export const templates: readonly Template[] = [
  {
    name: "Let a tool read one host",
    hint: "A grant of net.read with one host and one path.",
    add: withGrant({ tool: "http_fetch", capability: { kind: "net.read", hosts: ["example.com"], paths: ["/docs"] } }),
  },
  {
    name: "Let a tool write one folder",
    hint: "A grant of fs.write below workspace.",
    add: withGrant({ tool: "write_file", capability: { kind: "fs.write", paths: ["workspace/notes/**"] } }),
  },
  {
    name: "Ask before changes over HTTP",
    hint: "A rule that asks where the method is neither GET nor HEAD.",
    add: withRule("ask-before-changes", {
      effect: "ask",
      when: { tool: ["http_fetch"], arguments: [{ at: "/method", notIn: ["GET", "HEAD"] }] },
      reason: "The request changes data.",
    }),
  },
  {
    name: "Ask before each effect outside",
    hint: "A rule that asks for every tool that can write, send or delete.",
    add: withRule("ask-before-effects", {
      effect: "ask",
      when: { effects: ["net.write", "fs.write", "kv.write", "db.write"] },
      reason: "The tool can change something.",
    }),
  },
  {
    name: "Deny a host to all",
    hint: "A rule that refuses each request to one host and the hosts below it.",
    add: withRule("deny-host", {
      effect: "deny",
      when: { host: ["example.net", "*.example.net"] },
      reason: "No tool reaches this host.",
    }),
  },
  {
    name: "At most ten calls a minute",
    hint: "A rule that refuses the eleventh call of a caller within a minute.",
    add: withRule("ten-a-minute", {
      effect: "deny",
      when: { count: { windowMs: 60_000, moreThan: 10 } },
      reason: "More than ten calls within a minute.",
    }),
  },
];

function withGrant(grant: JsonObject): Template["add"] {
  return (document) => withMember(document, "grants", grant);
}

function withRule(id: string, rule: JsonObject): Template["add"] {
  return (document) => {
    const taken = new Set((document.rules ?? []).map((each) => each.id));
    let free = id;
    for (let count = 2; taken.has(free); count++) free = `${id}-${count}`;
    return withMember(document, "rules", { id: free, ...rule });
  };
}

/** What is added is checked with the whole draft, as everything in it. */
function withMember(document: PolicyDocument, member: "grants" | "rules", added: JsonObject): PolicyDocument {
  const before: readonly unknown[] = document[member] ?? [];
  return { ...document, [member]: [...before, added] };
}
