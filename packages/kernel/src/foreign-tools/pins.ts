import type { JsonObject } from "../json/json.ts";

/** An accepted definition. */
export interface ToolPin {
  /** The server's name for the tool. */
  readonly tool: string;
  /** Digest of the definition's canonical JSON. */
  readonly hash: string;
  readonly definition: JsonObject;
}

/** The store of accepted definitions, by source. A method that rejects did nothing. */
export interface ToolPinStore {
  /** `undefined` for a source that was never seen. */
  read(source: string): Promise<readonly ToolPin[] | undefined>;
  write(source: string, pins: readonly ToolPin[]): Promise<void>;
}

/** Keeps pins as long as the program runs: at its next start each definition is seen for the first time again. */
export function memoryPins(): ToolPinStore {
  const bySource = new Map<string, readonly ToolPin[]>();
  return {
    read: async (source) => bySource.get(source),
    write: async (source, pins) => void bySource.set(source, pins),
  };
}
