/** The host's functions. Values cross as text and bytes; bytes to the host are whole buffers. */
export interface Host {
  /** Once, when the shell is up. */
  ready(dispatch: (text: string, body?: Uint8Array<ArrayBuffer>) => void): void;
  /** Runs a module without imports; the promise gives its namespace. */
  evaluate(code: string): Promise<{ readonly default?: unknown }>;
  /** A message for the kernel as JSON, its bytes beside it. */
  post(text: string, body?: ArrayBuffer): void;
  /** UTF-8 of well-formed text. */
  encode(text: string): Uint8Array<ArrayBuffer>;
  /** @throws where `fatal` is set and the bytes are no text */
  decode(bytes: ArrayBuffer, label: string, flags: string): string;
  /** The parts of a URL as JSON; undefined where there is none. */
  parseUrl(url: string, base?: string): string | undefined;
  /** The same after one part was set. */
  changeUrl(url: string, part: string, value: string): string;
  random(count: string): Uint8Array<ArrayBuffer>;
}

/** The machine's maker puts it there; hardening the realm takes the name away. */
export const host: Host = (globalThis as unknown as { readonly host: Host }).host;
