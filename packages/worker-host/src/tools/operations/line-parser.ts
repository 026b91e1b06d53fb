/** A test of the report. */
interface TapResult {
  readonly ok: boolean;
  readonly skip: boolean | string;
  readonly todo: boolean | string;
  readonly name: string;
  readonly fullname: string;
  readonly diag: unknown;
}

/** The used part of the package `tap-parser`. Its own declarations need those of Node, and a tool has none of them. */
export interface LineParser {
  on(event: "result", listener: (result: TapResult) => void): unknown;
  parse(line: string): void;
  end(): unknown;
  readonly bailedOut: boolean | string;
  readonly count: number;
  readonly planStart: number;
  readonly planEnd: number;
}
