/**
 * The platform of the kernel: names of every WinterTC (ECMA-429) runtime, and no others. The kernel
 * compiles without the DOM and without Node's types, so a name that is not declared here does not
 * compile. The file declares only the members that the kernel uses; a program that imports the kernel
 * brings the full types of its own platform.
 */

declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string, base?: string): boolean;
  readonly href: string;
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  hostname: string;
  readonly port: string;
  readonly pathname: string;
  readonly search: string;
  hash: string;
  readonly origin: string;
}

declare const Request: { readonly prototype: object };

declare class TextEncoder {
  encode(input?: string): Uint8Array<ArrayBuffer>;
  encodeInto(input: string, target: Uint8Array): { read: number; written: number };
}

declare class TextDecoder {
  constructor(label?: "utf-8", options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(input?: Uint8Array): string;
}

interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

interface WritableStreamDefaultWriter<T> {
  readonly closed: Promise<unknown>;
  readonly ready: Promise<unknown>;
  write(chunk: T): Promise<void>;
  close(): Promise<void>;
  abort(reason?: unknown): Promise<void>;
}

interface WritableStream<T> {
  readonly locked: boolean;
  getWriter(): WritableStreamDefaultWriter<T>;
}

interface ReadableStreamDefaultReader<T> {
  readonly closed: Promise<unknown>;
  read(): Promise<{ done: boolean; value?: T }>;
  cancel(reason?: unknown): Promise<void>;
}

declare class ReadableStream<T> {
  constructor(
    source: { pull(controller: { enqueue(chunk: T): void; close(): void }): Promise<void> },
    strategy: { highWaterMark: number },
  );
  getReader(): ReadableStreamDefaultReader<T>;
  [Symbol.asyncIterator](): AsyncIterator<T>;
}

declare class Response {
  constructor(
    body: Uint8Array<ArrayBuffer> | null,
    init?: { status?: number; statusText?: string; headers?: [string, string][] },
  );
  readonly status: number;
}
declare class CompressionStream {
  constructor(format: "gzip");
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array<ArrayBuffer>>;
}
declare class DecompressionStream extends CompressionStream {}

/** AES in Galois/Counter Mode (NIST SP 800-38D), with a tag of 16 bytes. */
interface AesGcm {
  readonly name: "AES-GCM";
  readonly iv: Uint8Array<ArrayBuffer>;
  readonly additionalData: Uint8Array<ArrayBuffer>;
}
/** Of the keys that a passkey can have. */
interface SignatureAlgorithm {
  readonly name: "ECDSA" | "Ed25519" | "RSASSA-PKCS1-v1_5";
  readonly namedCurve?: "P-256";
  readonly hash?: "SHA-256";
}
declare const crypto: {
  getRandomValues<T extends Uint8Array | Uint32Array>(array: T): T;
  readonly subtle: {
    encrypt(algorithm: AesGcm, key: CryptoKey, data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>;
    decrypt(algorithm: AesGcm, key: CryptoKey, data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>;
    importKey(
      format: "raw",
      key: Uint8Array<ArrayBuffer>,
      algorithm: "AES-GCM",
      extractable: false,
      usages: ("encrypt" | "decrypt")[],
    ): Promise<CryptoKey>;
    digest(algorithm: "SHA-256", data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>;
    generateKey(algorithm: "Ed25519", extractable: true, usages: ("sign" | "verify")[]): Promise<unknown>;
    exportKey(format: "jwk", key: CryptoKey): Promise<unknown>;
    importKey(
      format: "jwk",
      key: { kty: "OKP"; crv: "Ed25519"; x: string; d?: string },
      algorithm: "Ed25519",
      extractable: false,
      usages: ("sign" | "verify")[],
    ): Promise<CryptoKey>;
    importKey(
      format: "spki",
      key: Uint8Array<ArrayBuffer>,
      algorithm: SignatureAlgorithm,
      extractable: false,
      usages: "verify"[],
    ): Promise<CryptoKey>;
    verify(
      algorithm: SignatureAlgorithm,
      key: CryptoKey,
      signature: Uint8Array<ArrayBuffer>,
      data: Uint8Array<ArrayBuffer>,
    ): Promise<boolean>;
    sign(algorithm: "Ed25519", key: CryptoKey, data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>;
    verify(
      algorithm: "Ed25519",
      key: CryptoKey,
      signature: Uint8Array<ArrayBuffer>,
      data: Uint8Array<ArrayBuffer>,
    ): Promise<boolean>;
  };
};
/** A key inside the platform; what it is made of stays there. */
interface CryptoKey {
  readonly type: string;
}
declare class MessageChannel {
  readonly port1: MessagePort;
  readonly port2: MessagePort;
}
interface MessagePort {
  onmessage: (() => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}
declare const performance: { now(): number };
declare function setTimeout(callback: () => void, delayMs: number): unknown;
declare function clearTimeout(timer: unknown): void;

declare function atob(base64: string): string;
declare function btoa(binary: string): string;
