import type { CallPort, CapabilityReply, CapabilityRequest } from "@keyhole/kernel";
import { type CallHistory, newCall } from "../../protocol/suspended-call.ts";

/** The kernel's end of one call, with what a suspended call has to remember of it. */
export interface TrackedPort extends CallHistory {
  readonly port: CallPort;
}

export function trackedPort(port: CallPort, before: CallHistory = newCall): TrackedPort {
  const outstanding = new Map<number, CapabilityRequest>();
  let { messages, requests } = before;
  /** The first requests of a resumed call, under the numbers that its guest knows. */
  const again = before.outstanding.map(({ number }) => number);

  const ask = async (number: number, request: CapabilityRequest): Promise<CapabilityReply> => {
    outstanding.set(number, request);
    const reply = await port.request(request);
    outstanding.delete(number);
    return reply;
  };

  return {
    port: {
      signal: port.signal,
      request: (request) => ask(again.shift() ?? requests++, request),
      log(entry) {
        messages += 1;
        port.log(entry);
      },
      progress(progress) {
        messages += 1;
        port.progress(progress);
      },
      used: (usage) => port.used?.(usage),
      read: async () => port.read?.(),
      write: async (piece) => (await port.write?.(piece)) ?? false,
    },
    get messages() {
      return messages;
    },
    get requests() {
      return requests;
    },
    get outstanding() {
      return [...outstanding].map(([number, request]) => ({ number, request }));
    },
  };
}
