/** Of tools offered on a bus, where the program names none. */
const defaultPrefix = "keyhole.tool";
/** Of the subjects at which callers hear answers. */
export const defaultInbox = "_INBOX";

/** Keyed calls are spread over so many subjects. A constant: kernels and callers have to agree. */
export const partitions = 64;

/** The token of subjects that belong to no one tool. No tool has this name. */
const everyTool = "_";

const MOST_UNITS = 256;
const namePattern = /^[a-z][a-z0-9_]{0,63}$/;
const plainPattern = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

/** Whether a text can be one token of a subject as a tool's name: no dots, spaces or wildcards. */
export function isToolName(name: string): boolean {
  return namePattern.test(name);
}

/** Whether a text names one subject: no wildcards, no spaces, no empty tokens, nothing of the server's own. */
export function isSubject(text: string): boolean {
  return text.length <= MOST_UNITS && plainPattern.test(text);
}

/** @throws TypeError for a prefix that is no subject */
export function checkPrefix(prefix: string): string {
  if (isSubject(prefix)) return prefix;
  throw new TypeError(
    `Got the prefix ${JSON.stringify(prefix)}, expected tokens of letters, digits, "_" and "-" between dots.`,
  );
}

/** The subjects under one prefix. */
export class Subjects {
  readonly prefix: string;
  readonly #inboxes: readonly string[];

  /**
   * @param inboxes prefixes of the subjects at which callers hear answers
   * @throws TypeError for a prefix that is no subject
   */
  constructor(prefix: string = defaultPrefix, inboxes: readonly string[] = [defaultInbox]) {
    this.prefix = checkPrefix(prefix);
    this.#inboxes = inboxes.map((inbox) => `${checkPrefix(inbox)}.`);
  }

  request(tool: string): string {
    return `${this.prefix}.${tool}.request`;
  }

  partition(tool: string, partition: number): string {
    return `${this.prefix}.${tool}.request.${partition}`;
  }

  /** Cancels a call, or asks after one. */
  control(tool: string): string {
    return `${this.prefix}.${tool}.control`;
  }

  get describeAll(): string {
    return `${this.prefix}.${everyTool}.describe`;
  }

  get describePattern(): string {
    return `${this.prefix}.*.describe`;
  }

  /** Kernels say here that their tools changed. */
  get announce(): string {
    return `${this.prefix}.${everyTool}.announce`;
  }

  /** Whether an answer can go there. The server lets a kernel publish more than its callers, who must not choose the subject of what it says. */
  isReply(reply: string | undefined): reply is string {
    if (reply === undefined || !isSubject(reply) || reply.startsWith(`${this.prefix}.`)) return false;
    return this.#inboxes.some((inbox) => reply.startsWith(inbox));
  }
}

/** The partition of an idempotency key's digest. */
export function partitionOf(keyDigest: string): number {
  return Number.parseInt(keyDigest.slice(0, 8), 16) % partitions;
}

/** Whether a subject matches a pattern with the wildcards `*` and `>`. */
export function matchesSubject(pattern: string, subject: string): boolean {
  const [wanted, given] = [pattern.split("."), subject.split(".")];
  for (const [at, token] of wanted.entries()) {
    if (token === ">") return given.length > at;
    const other = given[at];
    if (other === undefined || (token !== "*" && token !== other)) return false;
  }
  return wanted.length === given.length;
}
