const tasks = "The extension `tasks` (SEP-2663) is not in the SDK 2.4, and a kernel's call is no task.";

const grant = "A grant of an extension: the source signs a person in, by authorization code and PKCE.";
const refuses = "The source refuses each request of a server, so it answers no elicitation.";

type Reasons = Readonly<Record<string, string>>;

/** Scenarios that fail, each with the reason. Those of the server and `unscored` ones of the client do not count for conformance. */
export const failing: {
  readonly server: Reasons;
  readonly client: { readonly scored: Readonly<Record<string, Reasons>>; readonly unscored: Reasons };
} = {
  server: {
    "tasks-lifecycle": tasks,
    "tasks-capability-negotiation": tasks,
    "tasks-wire-fields": tasks,
    "tasks-request-state-removal": tasks,
    "tasks-mrtr-input": tasks,
    "tasks-request-headers": tasks,
    "tasks-dispatch-and-envelope": tasks,
    "tasks-required-task-error": tasks,
    "tasks-mrtr-composition": tasks,
  },
  client: {
    scored: {
      "2026-07-28": { "sep-2322-client-request-state": refuses },
      "2025-11-25": { "elicitation-sep1034-client-defaults": refuses },
    },
    unscored: {
      "auth/client-credentials-jwt": grant,
      "auth/client-credentials-basic": grant,
      "auth/enterprise-managed-authorization": grant,
      "auth/dpop": "Proofs of possession are an extension; the token is a bearer's.",
      "auth/dpop-nonce": "Proofs of possession are an extension; the token is a bearer's.",
      "auth/wif-jwt-bearer": grant,
    },
  },
};
