import { BodyReader, knownOptions, type OptionNames } from "@keyhole/kernel/foreign";
import {
  isOfDomain,
  type ApprovalAnswer,
  type ApprovalRequest,
  type Approver,
  parseUrl,
  passkeyChallenge,
} from "@keyhole/kernel";
import { ApprovalDesk } from "@keyhole/worker-host/approval-desk";
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
  /** The desk of the questions that they show. Default: one of their own. */
  readonly desk?: ApprovalDesk;
}

export const pagesOptions: OptionNames<ApprovalPagesOptions> = {
  origin: true,
  keys: true,
  path: true,
  passkeys: true,
  notify: true,
  desk: true,
};

/** Pages on which people answer questions of a kernel, for the option `approvals` of a server. */
export interface ApprovalPages extends McpApprovals {
  /** Serves the pages. Never rejects. */
  fetch(this: void, request: Request): Promise<Response>;
}

const DEFAULT_PATH = "/approvals/";
/** So short a body waits for no place: a form has no sender who could have a share of them. */
const MOST_FORM_BYTES = 16_384;

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
  readonly #desk: ApprovalDesk;
  readonly #forms = new BodyReader();

  constructor(options: ApprovalPagesOptions) {
    const { keys, path = DEFAULT_PATH, desk = new ApprovalDesk() } = options;
    this.#options = options;
    this.#desk = desk;
    this.#path = path;
    this.#approverOf = typeof keys === "function" ? keys : approverAmong(keys);
  }

  readonly url = ({ approvalId }: ApprovalRequest): string => `${this.#options.origin}${this.#path}${approvalId}`;

  readonly approver: Approver = Object.assign(this.#ask.bind(this), { concurrent: true });

  #ask(question: ApprovalRequest, signal: AbortSignal): ReturnType<Approver> {
    const answer = this.#desk.approverApart(question, signal);
    if (this.#desk.find(question.approvalId)) void this.#notify(question);
    return answer;
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
    const question = this.#desk.find(url.pathname.slice(path.length))?.request;
    if (!question) return answeredBefore();
    if (request.method === "GET") return this.#show(question);
    if (request.method !== "POST") return reply(405, "Refused", "This page takes GET and POST.");
    if (request.headers.get("origin") !== origin) return reply(403, "Refused", "Answers come from this page only.");
    const form = await formOf(request, this.#forms);
    if (form === "late") return reply(408, "Nothing was answered", "The form took too long to arrive. Send it again.");
    return this.#take(question, form);
  };

  async #show(question: ApprovalRequest): Promise<Response> {
    if (!question.passkey) return html(200, questionPage(question));
    if (!this.#options.passkeys)
      return reply(409, "This call needs a passkey", "The policy demands a passkey, and this page takes none.");
    return html(200, signedQuestionPage(question, await passkeyChallenge(question, "once")), await scriptHeaders());
  }

  /** The kernel checks the assertion, so a wrong one is a denial. A denial takes no credential: every party that knows the address can send a wrong one. */
  #takeSigned(question: ApprovalRequest, form: URLSearchParams | undefined): Response {
    const { approvalId, passkey } = question;
    const assertion = assertionIn(form?.get("passkey") ?? "");
    const allows = form?.get("answer") === "allow";
    if (allows && !assertion) return reply(400, "Nothing was answered", "The answer has no assertion of a passkey.");
    const key = passkey?.keys.find(({ credentialId }) => credentialId === assertion?.credentialId);
    if (!allows || !assertion || !key) {
      const denial = { answer: "deny", approver: "desk", reason: "The approver denied the call on the page." } as const;
      return this.#answer(approvalId, denial, denied);
    }
    const { approver } = key;
    return this.#answer(approvalId, { answer: "allow", scope: "once", approver, passkey: assertion }, sent);
  }

  async #take(question: ApprovalRequest, form: URLSearchParams | undefined): Promise<Response> {
    const { approvalId, passkey } = question;
    if (passkey) return this.#takeSigned(question, form);
    const approver = await this.#approverOf(form?.get("key") ?? "");
    if (approver === undefined) return html(403, questionPage(question, "The key is wrong. Nothing was answered."));
    if (form?.get("answer") === "allow")
      return this.#answer(approvalId, { answer: "allow", scope: "once", approver }, allowed);
    return this.#answer(approvalId, { answer: "deny", approver, reason: "The approver denied the call." }, denied);
  }

  /** It can have been answered while form and key were read. */
  #answer(approvalId: string, answer: ApprovalAnswer, said: readonly [title: string, text: string]): Response {
    return this.#desk.answer(approvalId, answer) ? reply(200, ...said) : answeredBefore();
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

const sent = ["Sent", "The call runs once if the kernel finds that your passkey signed this question."] as const;
const allowed = ["Allowed", "You allowed the call once."] as const;
const denied = ["Denied", "You denied the call."] as const;

function html(status: number, text: string, headers = pageHeaders): Response {
  return new Response(text, { status, headers });
}

function answeredBefore(): Response {
  return reply(404, "No open question", "This question has an answer, or it has expired.");
}

function reply(status: number, title: string, text: string): Response {
  return html(status, notePage(title, text));
}
