const tasks = "The extension `tasks` (SEP-2663) is not in the SDK 2.4, and a kernel's call is no task.";

/** Scenarios that do not count for conformance and fail, each with the reason. */
export const unscored: { readonly server: Readonly<Record<string, string>> } = {
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
};
