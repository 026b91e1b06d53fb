import { Unusable } from "../../io.ts";
import { installLine } from "../../package-specs.ts";

/** The used part of `@keyhole/edge/dev`. Its own types would bring those of wrangler, which do not compile here. */
export interface RunningEdge {
  readonly url: string;
  /** Resolves with the reason when a part ended and does not come back. */
  readonly failed: Promise<string>;
  /** Starts the kernel again, with the Worker as its files are now. */
  reload(): Promise<void>;
  stop(): Promise<void>;
}

/** The page in which a person calls the tools. */
export interface RunningPlayground {
  readonly url: string;
  stop(): Promise<void>;
}

export interface EdgeParts {
  isFree(port: number): Promise<boolean>;
  /** Of `KEYHOLE_TOKEN`, which it takes away; else a new one. @throws {Error} for a text that no token is */
  chosenToken(): string;
  startEdge(options: {
    readonly config: string;
    readonly port: number;
    readonly state: string;
    readonly token: string;
    /** For the pages on which people answer an MCP client's questions. */
    readonly approvalKey: string;
    readonly vars: Readonly<Record<string, string>>;
    readonly onLine: (line: string) => void;
  }): Promise<RunningEdge>;
  /** `undefined` where the package came without the page. */
  servePlayground(port: number): Promise<RunningPlayground | undefined>;
}

/** A peer: most users of this command run no edge. */
const peer: string = "@keyhole/edge/dev";

/** @throws {Unusable} where the package is missing */
export async function edgeParts(): Promise<EdgeParts> {
  try {
    return (await import(peer)) as EdgeParts;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")
      throw new Unusable(`dev --edge needs two packages: ${await installLine(["@keyhole/edge", "wrangler"])}`, {
        cause: error,
      });
    throw error;
  }
}
