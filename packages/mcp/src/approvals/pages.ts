import { BodyReader, knownOptions, type OptionNames } from "@keyhole/kernel/foreign";
import {
  isOfDomain,
  type ApprovalAnswer,
  type ApprovalRequest,
  type Approver,
  parseUrl,
  passkeyChallenge,
} from "@keyhole/kernel";
import { Shares } from "@keyhole/kernel/context";
import type { McpApprovals } from "../server/options.ts";
import { type ApprovalKey, digestOf } from "./keys.ts";
import { notePage, pageHeaders, questionPage } from "./page.ts";
import { assertionIn, passkeyPage, scriptHeaders, signedQuestionPage } from "./passkey-page.ts";

export interface ApprovalPagesOptions {
  /** Where people reach them: `https://approvals.example.com`. No client of the tools may have a key or a session there. */
  readonly origin: string;
  /** Keys of the approvers where the policy demands no passkey; or the owner of a key, `undefined` for an unknown one. */
  readonly keys: readonly ApprovalKey[] | ((key: string) => Promise<string | undefined>);
  /** Where its pages are, with a slash at both ends. Default `/approvals/`. */
  readonly path?: string;
  /** They take passkeys where the policy demands one, and there is one at `/approvals/passkey` on which a person makes one for the policy. */
  readonly passkeys?: {
    /** The domain of the origin, or one above it. As in the policy. */
    readonly rpId: string;
  };
  /** Tells people of a question: by mail, a message, a webhook. A failure is no answer. */
  readonly notify?: (question: ApprovalRequest, url: string) => void | Promise<void>;
}

export const pagesOptions: OptionNames<ApprovalPagesOptions> = {
  origin: true,
  keys: true,
  path: true,
  passkeys: true,
  notify: true,
};

/** Pages on which people answer questions of a kernel, for the option `approvals` of a server. */
export interface ApprovalPages extends McpApprovals {
  /** Serves the pages. Never rejects. */
  fetch(this: void, request: Request): Promise<Response>;
}

const DEFAULT_PATH = "/approvals/";
/** So short a body waits for no place: a form has no sender who could have a share of them. */
const MOST_FORM_BYTES = 16_384;
/** Open questions. Beyond, and beyond its share of them, the desk denies a question of a caller. */
const MOST_QUESTIONS = 1_000;

interface Open {
  readonly question: ApprovalRequest;
  readonly answer: (answer: ApprovalAnswer) => void;
}

/**
 * Makes pages that show a question to those who have its address, and take an answer only with a key. A token of a tool's caller is no key.
 *
 * @throws TypeError without keys, and for an origin that is none
 * @example
 * const pages = approvalPages({ origin: "https://approvals.example.com", keys: [{ approver: "ada", digest }] });
 * serveMcpHttp(kernel, { authenticate, approvals: pages });
 */
export function approvalPages(given: ApprovalPagesOptions): ApprovalPages {
  const options = knownOptions(given, pagesOptions, "approvalPages");
  const { origin, keys, passkeys } = options;
  const parsed = parseUrl(origin);
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.origin !== origin)
    throw new TypeError(`${JSON.stringify(origin)} is no origin, such as https://approvals.example.com.`);
  if (typeof keys !== "function" && keys.length === 0 && !passkeys)
    throw new TypeError("Pages without keys and passkeys answer nothing. Make a key with newApprovalKey().");
  // A browser gives no passkey to a page that it reached by an address.
  if (passkeys && !isOfDomain(parsed.hostname, passkeys.rpId))
    throw new TypeError(
      `Got the rpId ${JSON.stringify(passkeys.rpId)}, expected the domain of ${origin} or one above it.`,
    );
  return new Pages(options);
}

class Pages implements ApprovalPages {
  readonly #options: ApprovalPagesOptions;
  readonly #path: string;
  readonly #approverOf: (key: string) => Promise<string | undefined>;
  readonly #open = new Map<string, Open>();
  readonly #shares = new Shares();
  readonly #forms = new BodyReader();

  constructor(options: ApprovalPagesOptions) {
    const { keys, path = DEFAULT_PATH } = options;
    this.#options = options;
    this.#path = path;
    this.#approverOf = typeof keys === "function" ? keys : approverAmong(keys);
  }

  readonly url = ({ approvalId }: ApprovalRequest): string => `${this.#options.origin}${this.#path}${approvalId}`;

  readonly approver: Approver = Object.assign(this.#ask.bind(this), { concurrent: true });

  async #ask(question: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { approvalId, caller } = question;
    if (this.#shares.isFull(caller, MOST_QUESTIONS))
      return { answer: "deny", approver: "desk", reason: "Too many questions are open." };
    const answered = Promise.withResolvers<ApprovalAnswer>();
    this.#open.set(approvalId, { question, answer: answered.resolve });
    this.#shares.add(caller, 1);
    const closed = (): void =>
      answered.resolve({ answer: "deny", approver: "desk", reason: "The question is no longer open." });
    signal.addEventListener("abort", closed, { once: true });
    void this.#notify(question);
    try {
      return await answered.promise;
    } finally {
      signal.removeEventListener("abort", closed);
      this.#open.delete(approvalId);
      this.#shares.add(caller, -1);
    }
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const path = this.#path;
    const { origin } = this.#options;
    const url = parseUrl(request.url);
    // A name that leads here by DNS alone is a page of others.
    if (url?.origin !== origin) return reply(403, "Refused", "This page does not answer to that name.");
    if (!url.pathname.startsWith(path)) return reply(404, "Not found", "There is no such page.");
    const { passkeys } = this.#options;
    if (passkeys && url.pathname === `${path}passkey` && request.method === "GET")
      return html(200, passkeyPage(passkeys.rpId), await scriptHeaders());
    const open = this.#open.get(url.pathname.slice(path.length));
    if (!open) return answeredBefore();
    if (request.method === "GET") return this.#show(open);
    if (request.method !== "POST") return reply(405, "Refused", "This page takes GET and POST.");
    if (request.headers.get("origin") !== origin) return reply(403, "Refused", "Answers come from this page only.");
    const form = await formOf(request, this.#forms);
    if (form === "late") return reply(408, "Nothing was answered", "The form took too long to arrive. Send it again.");
    return this.#take(open, form);
  };

  async #show({ question }: Open): Promise<Response> {
    if (!question.passkey) return html(200, questionPage(question));
    if (!this.#options.passkeys)
      return reply(409, "This call needs a passkey", "The policy demands a passkey, and this page takes none.");
    return html(200, signedQuestionPage(question, await passkeyChallenge(question, "once")), await scriptHeaders());
  }

  /** The kernel checks the assertion, so a wrong one is a denial. A denial takes no credential: every party that knows the address can send a wrong one. */
  #takeSigned({ question, answer }: Open, form: URLSearchParams | undefined): Response {
    const assertion = assertionIn(form?.get("passkey") ?? "");
    const allows = form?.get("answer") === "allow";
    if (allows && !assertion) return reply(400, "Nothing was answered", "The answer has no assertion of a passkey.");
    if (!this.#open.delete(question.approvalId)) return answeredBefore();
    const key = question.passkey?.keys.find(({ credentialId }) => credentialId === assertion?.credentialId);
    if (!allows || !assertion || !key) {
      answer({ answer: "deny", approver: "desk", reason: "The approver denied the call on the page." });
      return reply(200, "Denied", "You denied the call.");
    }
    answer({ answer: "allow", scope: "once", approver: key.approver, passkey: assertion });
    return reply(200, "Sent", "The call runs once if the kernel finds that your passkey signed this question.");
  }

  async #take(open: Open, form: URLSearchParams | undefined): Promise<Response> {
    const { question, answer } = open;
    if (question.passkey) return this.#takeSigned(open, form);
    const approver = await this.#approverOf(form?.get("key") ?? "");
    if (approver === undefined) return html(403, questionPage(question, "The key is wrong. Nothing was answered."));
    // It can have been answered while form and key were read.
    if (!this.#open.delete(question.approvalId)) return answeredBefore();
    if (form?.get("answer") === "allow") {
      answer({ answer: "allow", scope: "once", approver });
      return reply(200, "Allowed", "You allowed the call once.");
    }
    answer({ answer: "deny", approver, reason: "The approver denied the call." });
    return reply(200, "Denied", "You denied the call.");
  }

  async #notify(question: ApprovalRequest): Promise<void> {
    try {
      await this.#options.notify?.(question, this.url(question));
    } catch {
      // The question stays open without it.
    }
  }
}

function approverAmong(keys: readonly ApprovalKey[]): (key: string) => Promise<string | undefined> {
  const approvers = new Map(keys.map(({ approver, digest }) => [digest, approver]));
  return async (key) => approvers.get(digestOf(key));
}

/** `undefined` for a value that is no short form, or is cut. */
async function formOf(request: Request, forms: BodyReader): Promise<URLSearchParams | "late" | undefined> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers.get("content-type") ?? "")) return undefined;
  try {
    const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = request.body?.getReader();
    const read = await forms.read("", reader, MOST_FORM_BYTES, (bytes) => new TextDecoder().decode(bytes));
    if (read.ok) return new URLSearchParams(read.value);
    reader?.cancel().catch(() => {});
    return read.reason === "late" ? "late" : undefined;
  } catch {
    return undefined;
  }
}

function html(status: number, text: string, headers = pageHeaders): Response {
  return new Response(text, { status, headers });
}

function answeredBefore(): Response {
  return reply(404, "No open question", "This question has an answer, or it has expired.");
}

function reply(status: number, title: string, text: string): Response {
  return html(status, notePage(title, text));
}
