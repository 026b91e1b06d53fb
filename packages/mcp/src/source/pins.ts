import type { JsonObject } from "@keyhole/kernel";

/** A definition as it was accepted. */
export interface McpPin {
  /** The server's name for the tool. */
  readonly tool: string;
  /** Digest of the definition's canonical JSON. */
  readonly hash: string;
  readonly definition: JsonObject;
}

/** Where accepted definitions are kept, by source. A method that rejects did nothing. */
export interface McpPinStore {
  /** `undefined` for a source that was never seen. */
  read(source: string): Promise<readonly McpPin[] | undefined>;
  write(source: string, pins: readonly McpPin[]): Promise<void>;
}

/** Keeps pins as long as the program runs: at its next start each definition is seen for the first time again. */
export function memoryPins(): McpPinStore {
  const bySource = new Map<string, readonly McpPin[]>();
  return {
    read: async (source) => bySource.get(source),
    write: async (source, pins) => void bySource.set(source, pins),
  };
}
