import { knownOptions } from "@keyhole/kernel/foreign";
import type { ApprovalAnswer, ApprovalRequest, Approver, CallOptions, CallResult, ToolFilter } from "@keyhole/kernel";
import { readPages } from "@keyhole/kernel/audit";
import type { KernelClient } from "../browser/kernel-client.ts";
import { calledTool } from "../called-tool.ts";
import { type EdgeSettings, readAddress } from "./address.ts";
import { answerOver, eventsFrom } from "./call.ts";
import { callTrusting } from "./checked-call.ts";
import { EdgeFault } from "./fault.ts";
import { Edge, type EdgeTransport } from "./http.ts";
import { askedTool } from "./pinned.ts";
import { Summaries } from "./summaries.ts";
import { requestOf } from "./options.ts";
import {
  type EdgePolicy,
  eventsOfPage,
  readGovernance,
  readPreview,
  readQuestions,
  readStanding,
  readToolHealth,
  readTools,
} from "./wire.ts";

export interface EdgeOptions extends EdgeTransport {
  /** Answers for every call, and every call within one, that has no approver of its own. Default: others answer, such as `keyhole approve`. */
  readonly approver?: Approver;
  /** The token that answers questions and ends approvals: its scope is `approvals:write`. Default: the token of the calls. */
  readonly approvalsToken?: string;
  /** Milliseconds that one call may take, questions to people included. Default 3,600,000. */
  readonly callMs?: number;
}

/**
 * A kernel behind HTTP, with the methods of a kernel in a worker. Each rejects only with an {@link EdgeFault}. The members of {@link notOverHttp} reject with
 * `EDGE_UNSUPPORTED`: subscriptions throw it.
 */
export interface EdgeClient extends KernelClient {
  /** Questions that wait for a person, of all calls. */
  readonly questions: {
    /** Oldest first. */
    list(): Promise<readonly ApprovalRequest[]>;
    /** `false` where nothing of this id waits. The approver is the token's subject. */
    answer(approvalId: string, answer: ApprovalAnswer): Promise<boolean>;
  };
}

/** Members of a kernel that the HTTP API does not have, each with the reason. */
const notOverHttp = {
  register: "The edge's program registers its tools.",
  registerTrusted: "The edge's program registers its tools.",
  unregister: "The edge's program registers its tools.",
  onToolsChange: "The HTTP API reports no changes. Ask list() again.",
  suspend: "The edge's program suspends calls.",
  resume: "The edge's program resumes calls.",
  verifyPure: "The edge's program checks its tools.",
  setPolicy: "The edge's settings hold the policy.",
  "audit.subscribe": "The HTTP API reports no events outside of calls. Ask audit.read() again.",
  "grants.list": "The edge's program revokes grants.",
  "grants.revoke": "The edge's program revokes grants.",
  "grants.restore": "The edge's program revokes grants.",
  "health()": "GET /healthz says whether the edge serves calls. health(tool) asks one tool.",
} as const;

type Missing = keyof typeof notOverHttp;

/**
 * Connects to an edge. The client refuses an answer whose hash, proof or events do not fit, with `EDGE_UNTRUE`. Calls need the scopes `tools:call` and `tools:read`.
 *
 * @param url origin of the edge: `https:`, or `http:` on this machine
 * @throws {EdgeFault} `EDGE_ADDRESS_REFUSED`
 * @example
 * const kernel = connectEdge("https://tools.example.com", token, { approver });
 * const result = await kernel.call("word_count", { text: "one two" });
 */
export function connectEdge(url: string, token: string, given: EdgeOptions = {}): EdgeClient {
  const options = knownOptions(
    given,
    { approver: true, approvalsToken: true, callMs: 1, fetch: true, silenceMs: 1 },
    "connectEdge",
  );
  const edge = new Edge(settingsOf(url, token), options);
  const { approvalsToken } = options;
  const approvals = approvalsToken === undefined ? edge : new Edge(settingsOf(url, approvalsToken), options);
  const summaries = new Summaries(edge);
  const closed = new AbortController();
  const around = { edge, approvals, summaries, closed: closed.signal, options };
  const call = (foreign: unknown, input: unknown, wanted: CallOptions = {}): Promise<CallResult> =>
    callTrusting(around, { ...askedTool(foreign), input, given: wanted });
  return {
    ready: async () => void (await edge.get("/v1/tools?text=%20")),
    call,
    ...governingOver(edge),
    ...approvalsOver(approvals),
    ...refusing,
    close: async () => closed.abort(),
  };
}

type Governing = Pick<EdgeClient, "preview" | "list" | "health" | "mode" | "setMode" | "policyHash" | "audit">;

function governingOver(edge: Edge): Governing {
  const governed = async (): Promise<EdgePolicy> => readGovernance(await edge.get("/v1/policy"));
  const path = (tool: string, what: string): string => `/v1/tools/${encodeURIComponent(tool)}/${what}`;
  return {
    async preview(foreign: unknown, input: unknown, given: CallOptions = {}) {
      const { name, version } = calledTool(foreign);
      const { body } = requestOf(input, given, version);
      return readPreview(await edge.post(path(name, "preview"), body));
    },
    list: async (filter) => readTools(await edge.get(`/v1/tools${queryOf(filter)}`)).tools,
    health: (async (foreign?: unknown) => {
      if (foreign === undefined) throw missing("health()");
      return readToolHealth(await edge.post(path(calledTool(foreign).name, "health"), {}, 503));
    }) as Governing["health"],
    mode: async () => (await governed()).mode,
    // The token names the author; the caller of the request does not.
    setMode: async (mode, reason) => void (await edge.put("/v1/mode", { mode, reason })),
    policyHash: async () => (await governed()).policyHash,
    audit: {
      writable: async () => (await edge.optional("/healthz")) !== undefined,
      read: (first = 0, limit = Infinity) =>
        readPages((from, most) => eventsFrom(edge, from, most), first, limit, eventsOfPage),
      subscribe: throwing("audit.subscribe"),
    },
  };
}

function approvalsOver(edge: Edge): Pick<EdgeClient, "approvals" | "questions"> {
  return {
    approvals: {
      list: async () => readStanding(await edge.get("/v1/approvals")).standing,
      revoke: (approvalId) => edge.remove(`/v1/approvals/${encodeURIComponent(approvalId)}`),
    },
    questions: {
      list: async () => readQuestions(await edge.get("/v1/approvals")).approvals,
      answer: (approvalId, answer) => answerOver(edge, approvalId, answer),
    },
  };
}

/** A token of RFC 6750, as long as an edge takes one. */
const tokenForm = /^[\w.~+/-]{1,512}=*$/;

function settingsOf(url: string, token: string): EdgeSettings {
  const address = readAddress(url);
  if (address === undefined)
    throw new EdgeFault(
      "EDGE_ADDRESS_REFUSED",
      "The address of an edge is https:, or http: on this machine.",
      "Pass an origin such as https://tools.example.com.",
    );
  if (tokenForm.test(token)) return { address, token };
  const message = "The token is not a bearer token: 1 to 512 letters, digits and -._~+/.";
  throw new EdgeFault("EDGE_ADDRESS_REFUSED", message, "Pass the token that the edge printed.");
}

function queryOf(filter: ToolFilter = {}): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) asked.set(name, String(value));
  return asked.size === 0 ? "" : `?${asked}`;
}

function missing(member: Missing): EdgeFault {
  return new EdgeFault("EDGE_UNSUPPORTED", `An edge has no ${member} over HTTP.`, notOverHttp[member]);
}

const rejecting = (member: Missing) => async (): Promise<never> => {
  throw missing(member);
};

const throwing = (member: Missing) => (): never => {
  throw missing(member);
};

const refusing = {
  register: rejecting("register"),
  registerTrusted: rejecting("registerTrusted"),
  unregister: rejecting("unregister"),
  onToolsChange: throwing("onToolsChange"),
  suspend: rejecting("suspend"),
  resume: rejecting("resume"),
  verifyPure: rejecting("verifyPure"),
  setPolicy: rejecting("setPolicy"),
  grants: {
    list: rejecting("grants.list"),
    revoke: rejecting("grants.revoke"),
    restore: rejecting("grants.restore"),
  },
} satisfies Partial<EdgeClient>;
