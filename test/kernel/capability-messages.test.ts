import type { Broker, Hints, Kernel, KernelOptions, ToolContext } from "@keyhole/kernel";
import { secretKeeper } from "@keyhole/kernel/secrets";
import { expect, it } from "vitest";
import { errorOf, type Situation } from "../support/error-of.ts";
import { granting, toolOf } from "../support/kernel.ts";
import { fakeNet } from "../support/nested.ts";

/*
 * The texts of the kernel about capabilities, each once. Other tests assert codes and details.
 */

const net = { kind: "net.read", hosts: ["example.com"] } as const;
const use = { kind: "secret.use", names: ["api_key"], hosts: ["example.com"] } as const;
const external = { determinism: "external", effects: ["net.read"] } as const;

const fetching = (url: string, more: object = {}) =>
  toolOf((_, { fetch }: ToolContext) => fetch(url).then(() => 1), { ...external, capabilities: [net], ...more });
const revealing = toolOf(
  ({ given }: { given?: string }, { fetch, secret }: ToolContext) =>
    fetch(`https://example.com/?k=${given ?? secret("api_key")}`).then(() => 1),
  { ...external, capabilities: [net, use] },
);

const served: KernelOptions = { policy: granting(net, use), brokers: [fakeNet()] };
/** Asks for the value of the secret, as the broker of the network does. */
const reveals: Broker = {
  ...fakeNet(),
  serve: async ({ arguments: { url } }, { secrets }) => {
    const revealed = await secrets.reveal(String(url), "example.com");
    return revealed.ok ? { ok: true, value: null } : revealed;
  },
};

/** The grant ends while a request is in flight. */
async function revokedInFlight() {
  const revokes: { kernel?: Kernel } = {};
  const broker: Broker = {
    ...fakeNet(),
    serve: async () => {
      await revokes.kernel?.grants.revoke({ tool: "subject" }, "Enough.");
      return { ok: true, value: null };
    },
  };
  return errorOf({
    tool: fetching("https://example.com/"),
    options: { policy: granting(net), brokers: [broker] },
    before: async (kernel) => void (revokes.kernel = kernel),
  });
}

const whatIsMissing = "Use another tool or other arguments, or tell the user which access is missing.";
const restore = "Restore the grant with `kernel.grants.restore`, or set a milder mode, when the reason has ended.";

it.each<[string, Situation | (() => Promise<unknown>), string, string, Partial<Hints>]>([
  [
    "where a tool asks for a capability that it does not declare",
    { tool: fetching("https://example.com/a", { capabilities: [] }), options: served },
    "CAPABILITY_DENIED",
    "The tool does not declare net.read of GET example.com:443/a.",
    {
      hint: "Use another tool: no grant lets this one do it.",
      operatorHint:
        'Declare it in `capabilities` of the tool\'s manifest: {"kind":"net.read","hosts":["example.com"],"ports":[443],"paths":["/a"],"methods":["GET"],"requests":1}. A grant gives no more than the tool declares.',
    },
  ],
  [
    "where a tool asks for more than its grant",
    {
      tool: fetching("https://evil.example/", { capabilities: [{ ...net, hosts: ["*"] }] }),
      options: served,
    },
    "CAPABILITY_DENIED",
    "The policy does not grant net.read of GET evil.example:443/.",
    { hint: "Granted: net.read example.com." },
  ],
  [
    "where a tool asks for a kind that no broker serves",
    { tool: fetching("https://example.com/a"), options: { policy: granting(net) } },
    "CAPABILITY_DENIED",
    "This host does not serve net.read.",
    {
      hint: "Use another tool.",
      operatorHint: "Give the kernel a broker for net.read, or run the tool on a host that has one.",
    },
  ],
  [
    "where a tool has no grant",
    { tool: fetching("", { capabilities: [{ ...net, paths: ["/search"] }] }) },
    "CAPABILITY_DENIED",
    'subject@1.0.0 needs net.read, which is not granted to "anonymous".',
    {
      hint: whatIsMissing,
      operatorHint:
        'Add it to the grants of the policy: {"tool":"subject","caller":"anonymous","capability":{"kind":"net.read","hosts":["example.com"],"paths":["/search"]}}',
    },
  ],
  [
    "where a tool has no grant and declares every host",
    { tool: fetching("", { capabilities: [{ ...net, hosts: ["*"] }] }) },
    "CAPABILITY_DENIED",
    'subject@1.0.0 needs net.read, which is not granted to "anonymous".',
    {
      hint: whatIsMissing,
      operatorHint: "Add net.read to the grants of the policy, with no more than the tool needs.",
    },
  ],
  [
    "where a grant was revoked before",
    {
      tool: fetching("https://example.com/"),
      options: served,
      before: (kernel) => kernel.grants.revoke({ tool: "subject" }, "Enough."),
    },
    "CAPABILITY_DENIED",
    "subject@1.0.0 needs net.read, and the grant was revoked: Enough.",
    { hint: whatIsMissing, operatorHint: restore },
  ],
  [
    "where a grant is revoked during a request",
    revokedInFlight,
    "CAPABILITY_DENIED",
    "The grant for net.read was revoked: Enough.",
    { hint: whatIsMissing, operatorHint: restore },
  ],
  [
    "where a tool uses a secret in a kernel without secrets",
    { tool: revealing, options: { ...served, brokers: [reveals] } },
    "CAPABILITY_DENIED",
    "This kernel keeps no secrets.",
    {
      hint: "Ask for it without a secret.",
      operatorHint: "Give the kernel `secrets: secretKeeper(store)`.",
    },
  ],
  [
    "where a tool uses a secret without a value",
    { tool: revealing, options: { ...served, brokers: [reveals], secrets: secretKeeper({ get: () => undefined }) } },
    "TOOL_ERROR",
    "There is no value for the secret api_key.",
    {
      hint: "Use other arguments or another tool.",
      operatorHint: "Put a value of 8 to 4096 characters into the store of secrets.",
    },
  ],
  [
    "where a tool uses a placeholder of another call",
    {
      tool: revealing,
      input: { given: `keyhole-secret.${"0".repeat(32)}.api_key.` },
      options: { ...served, brokers: [reveals], secrets: secretKeeper({ get: () => "a long value" }) },
    },
    "TOOL_ERROR",
    "The request has a placeholder for a secret that is not this call's own.",
    { hint: "Call `context.secret(name)` in each call, and store no placeholder." },
  ],
])("a call %s explains itself", async (_, situation, code, message, hints) => {
  const error = await (typeof situation === "function" ? situation() : errorOf(situation));
  expect(error).toMatchObject({ code, message, ...hints });
});
