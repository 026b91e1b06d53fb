import type { JsonValue, ModelError } from "@keyhole/kernel";

/** The outcome of a call, for a program and for its model. A model reads `text`. */
export type AgentAnswer =
  | {
      readonly ok: true;
      readonly data: JsonValue | Uint8Array;
      /** Of bytes, where the tool names one. */
      readonly mediaType?: string;
      readonly hash: string;
      readonly callId: string;
      readonly text: string;
    }
  | {
      readonly ok: false;
      readonly error: ModelError;
      readonly callId: string;
      /** The kinds that the call used before it failed. Absent where it used none. */
      readonly effects?: readonly string[];
      readonly text: string;
    };
