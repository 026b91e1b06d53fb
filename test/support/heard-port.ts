import type { CallPort, CapabilityRequest } from "@keyhole/kernel";

/** The kernel's end of a call, which serves every request, and what it heard of the guest. */
export interface HeardPort extends CallPort {
  readonly logs: unknown[];
  readonly requests: CapabilityRequest[];
  readonly abort: () => void;
}

export function heardPort(): HeardPort {
  const controller = new AbortController();
  const logs: unknown[] = [];
  const requests: CapabilityRequest[] = [];
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    logs,
    requests,
    log: (entry) => logs.push(entry),
    progress: (progress) => logs.push(progress),
    async request(request) {
      requests.push(request);
      return { ok: true, value: null };
    },
  };
}
