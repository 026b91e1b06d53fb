import { fix } from "./fix.ts";

// Taken before the tool is loaded, which may replace them.
const Known = typeof Headers === "function" ? Headers : undefined;
const Stream = typeof ReadableStream === "function" ? ReadableStream<Uint8Array<ArrayBuffer>> : undefined;
/** The types say that a stream of bytes may give shared ones; ours are not. */
const ByteStream = Stream as unknown as new (source: object, strategy: QueuingStrategy) => ReadableStream<Bytes>;
const { parse, stringify } = JSON;

type Bytes = Uint8Array<ArrayBuffer>;

interface Init {
  readonly status?: number;
  readonly statusText?: string;
  readonly headers?: HeadersInit;
}

/** Fetch, "null body status". */
const bodiless: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * A response whose body is there already (Fetch, "Response class"). The engines' own reads a body in tasks of the platform, and wakes its reader from there: also when the call is over.
 * This one knows only the order of promises. Its `body` is a stream where the engine has streams.
 */
class GuestResponse {
  readonly #status: number;
  readonly #statusText: string;
  readonly #headers: Headers;
  #type: "default" | "error" = "default";
  #bytes: Bytes | undefined;
  #stream: ReadableStream<Bytes> | undefined;
  #used = false;

  constructor(body: unknown = null, init: Init | null = {}) {
    const { status = 200, statusText = "", headers } = init ?? {};
    const code = Math.trunc(Number(status));
    if (!(code >= 200 && code <= 599)) throw new RangeError("Invalid status");
    const text = String(statusText);
    if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) throw new TypeError("Invalid status text");
    this.#status = code;
    this.#statusText = text;
    this.#headers = new Known!(headers);
    if (body === null || body === undefined) return;
    if (bodiless.has(code)) throw new TypeError("A response with this status has no body");
    if (Stream && body instanceof Stream) {
      if (body.locked) throw new TypeError("The stream is locked");
      this.#stream = body;
      return;
    }
    const [bytes, type] = bodyOf(body);
    this.#bytes = bytes;
    if (type !== undefined && !this.#headers.has("content-type")) this.#headers.set("content-type", type);
  }

  static json(data: unknown, init: Init | null = {}): GuestResponse {
    const text = stringify(data) as string | undefined;
    if (text === undefined) throw new TypeError("The value has no JSON");
    const headers = new Known!(init?.headers);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    return new GuestResponse(text, { ...init, headers });
  }

  static error(): GuestResponse {
    const response = new GuestResponse();
    response.#type = "error";
    return response;
  }

  static redirect(url: string | URL, status = 302): GuestResponse {
    const location = new URL(url).href;
    if (!redirects.has(status)) throw new RangeError("Invalid status of a redirect");
    return new GuestResponse(null, { status, headers: { location } });
  }

  get status(): number {
    return this.#type === "error" ? 0 : this.#status;
  }

  get statusText(): string {
    return this.#statusText;
  }

  get headers(): Headers {
    return this.#headers;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status <= 299;
  }

  get type(): "default" | "error" {
    return this.#type;
  }

  get url(): string {
    return "";
  }

  get redirected(): boolean {
    return false;
  }

  get body(): ReadableStream<Bytes> | null {
    if (this.#stream === undefined && this.#bytes !== undefined && Stream) this.#stream = this.#streamed(this.#bytes);
    return this.#stream ?? null;
  }

  get bodyUsed(): boolean {
    return this.#used;
  }

  async bytes(): Promise<Bytes> {
    this.#assertUnread();
    const stream = this.#stream;
    const bytes = this.#bytes;
    if (bytes === undefined && stream === undefined) return new Uint8Array();
    this.#used = true;
    return stream === undefined ? bytes!.slice() : collected(stream);
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer;
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  async json(): Promise<unknown> {
    return parse(await this.text()) as unknown;
  }

  clone(): GuestResponse {
    this.#assertUnread();
    const copy = new GuestResponse(null, {
      status: this.#status,
      statusText: this.#statusText,
      headers: this.#headers,
    });
    copy.#type = this.#type;
    copy.#bytes = this.#bytes;
    if (this.#stream) [this.#stream, copy.#stream] = this.#stream.tee();
    return copy;
  }

  #assertUnread(): void {
    if (this.#used || this.#stream?.locked) throw new TypeError("The body has already been read");
  }

  #streamed(bytes: Bytes): ReadableStream<Bytes> {
    const isRead = (): void => {
      // A copied stream does not show it.
      if (this.#stream === stream) this.#used = true;
    };
    const stream = streamOf(bytes, isRead);
    return stream;
  }
}

function streamOf(bytes: Bytes, isRead: () => void): ReadableStream<Bytes> {
  const source = {
    pull(controller: ReadableByteStreamController | ReadableStreamDefaultController<Bytes>): void {
      isRead();
      // A copy: bytes read by a view leave with its buffer.
      if (bytes.length > 0) controller.enqueue(bytes.slice());
      controller.close();
      if ("byobRequest" in controller) controller.byobRequest?.respond(0);
    },
    cancel: isRead,
  };
  try {
    return new ByteStream({ ...source, type: "bytes" }, { highWaterMark: 0 });
  } catch {
    return new ReadableStream(source, { highWaterMark: 0 }); // WebKit has no streams of bytes.
  }
}

async function collected(stream: ReadableStream<Bytes>): Promise<Bytes> {
  const reader = stream.getReader();
  const parts: Bytes[] = [];
  let length = 0;
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    const part: unknown = step.value;
    if (!(part instanceof Uint8Array)) throw new TypeError("A stream of a body gives bytes");
    parts.push(part as Bytes);
    length += part.length;
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function bodyOf(body: unknown): readonly [bytes: Bytes, type: string | undefined] {
  if (body instanceof ArrayBuffer) return [new Uint8Array(body).slice(), undefined];
  if (ArrayBuffer.isView(body))
    return [new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength).slice(), undefined];
  const type = body instanceof URLSearchParams ? "application/x-www-form-urlencoded" : "text/plain";
  return [new Uint8Array(new TextEncoder().encode(String(body))), `${type};charset=UTF-8`];
}

/** Puts it where the engine's own was, which is out of reach then. */
export function hardenResponse(global: object): void {
  fix(GuestResponse, "name", "Response");
  Object.defineProperty(GuestResponse.prototype, Symbol.toStringTag, { value: "Response", configurable: true });
  fix(global, "Response", GuestResponse);
}
