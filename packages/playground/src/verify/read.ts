import { isJsonObject, type JsonObject, type JsonValue } from "@keyhole/kernel";
import { type EnclosedKeys, pinKeys, type TrustedKeys, trustKeys } from "@keyhole/kernel/audit";
import { jsonTextFault } from "@keyhole/kernel/foreign";
import { type EvidenceFile, readEvidence } from "@keyhole/kernel/policy";

export const members = ["proof", "keys", "events", "checkpoints", "policy", "tool", "input"] as const;
export type Member = (typeof members)[number];

export type Given = Readonly<Record<Member, string>>;

/** Evidence from anywhere, and apart from it what the person trusts. */
interface Read extends EvidenceFile {
  readonly trusted: TrustedKeys | undefined;
}

interface Fault {
  readonly ok: false;
  readonly member: Member;
  readonly message: string;
}

export type ReadGiven = { readonly ok: true; readonly value: Read } | Fault;

/** The text or file that a person chose. A field of its own takes the place of what the proof's file says, but for the keys: the page never trusts those of the file. */
export async function readGiven(given: Given): Promise<ReadGiven> {
  const read = readFiles(given);
  if (!read.ok) return read;
  const trusted = await readTrust(given.keys.trim(), read.value.evidence.enclosedKeys);
  if (typeof trusted === "string") return { ok: false, member: "keys", message: trusted };
  return { ok: true, value: { ...read.value, trusted } };
}

function readFiles(given: Given): { readonly ok: true; readonly value: EvidenceFile } | Fault {
  let file: JsonValue | undefined;
  let fields: JsonObject = {};
  for (const member of members) {
    const text = given[member].trim();
    if (text === "" || member === "keys") continue;
    const parsed = member === "events" && !text.startsWith("[") ? parseLines(text) : parse(text);
    if (!parsed.ok) return { ok: false, member, message: (member === "proof" && asideOfLines(text)) || parsed.message };
    const { value } = parsed;
    const aside = member === "proof" ? asideOf(value) : undefined;
    if (aside !== undefined) return { ok: false, member, message: aside };
    if (member === "proof") file = value;
    else fields = { ...fields, [member]: member === "checkpoints" && !Array.isArray(value) ? [value] : value };
  }
  if (file === undefined) return { ok: false, member: "proof", message: "Paste a proof, or choose a file with one." };
  const read = readEvidence(file, fields);
  if (read.ok) return read;
  // A fault of the keys of the file is no fault of the field for keys.
  const member = members.find((each) => each === read.member && each !== "keys") ?? "proof";
  return { ok: false, member, message: read.message };
}

/** Lines of JSON are a log or a run. */
function asideOfLines(text: string): string | undefined {
  const first = parse(text.slice(0, text.indexOf("\n") + 1));
  return first.ok ? asideOf(first.value) : undefined;
}

/** Recognizes a file that is no proof: as one it would be broken, though nothing changed it. */
function asideOf(value: JsonValue): string | undefined {
  if (Array.isArray(value)) return "This is a list. A log goes beside a proof; alone, keyhole verify LOG checks it.";
  if (!isJsonObject(value) || ["proof", "proofId", "ok"].some((member) => member in value)) return undefined;
  if (("seq" in value && "prev" in value) || ("events" in value && "next" in value) || "logs" in value)
    return "This is an audit log, which goes beside a proof. Alone, keyhole verify LOG checks it.";
  if (value["format"] === "keyhole-run") return "This is a recorded run. keyhole verify RUN checks it.";
  if ("root" in value && "size" in value)
    return "This is a checkpoint, which goes beside a proof. Its log: keyhole verify LOG --checkpoint FILE.";
  if ("kty" in value || "keys" in value) return "These are keys. They have a field of their own.";
  if ("manifest" in value || "posture" in value) return "This is a tool or a policy. Each has a field of its own.";
  return undefined;
}

async function readTrust(text: string, enclosed: EnclosedKeys | undefined): Promise<TrustedKeys | string | undefined> {
  if (text === "") return undefined;
  if (text.startsWith("-----BEGIN ")) return "This is PEM. Give a key as a JSON Web Key.";
  if (/^[\w-]/.test(text)) {
    if (enclosed === undefined)
      return "A thumbprint names a key that came with the proof, and none did. Give the key itself.";
    return pinKeys(text.split(/\s+/), enclosed);
  }
  const parsed = parse(text);
  return parsed.ok ? trustKeys(parsed.value) : parsed.message;
}

type Parsed = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly message: string };

function parse(text: string): Parsed {
  try {
    const value = JSON.parse(text) as JsonValue;
    return jsonTextFault(text, "any")
      ? { ok: false, message: "It has a duplicate member, so JSON parsers disagree about its value." }
      : { ok: true, value };
  } catch (error) {
    return { ok: false, message: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** JSON Lines: one event a line. */
function parseLines(text: string): Parsed {
  const events: JsonValue[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const parsed = parse(line);
    if (!parsed.ok) return { ok: false, message: `Line ${index + 1}. ${parsed.message}` };
    events.push(parsed.value);
  }
  return { ok: true, value: events };
}
