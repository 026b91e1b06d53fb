import { type AuditEvent, canonicalJson, type JsonValue, lineOf } from "@keyhole/kernel";
import { isProof } from "@keyhole/kernel/policy";
import type { Governance } from "../client/kernel-client.ts";
import { evidenceOf } from "../run/evidence.ts";
import type { ActiveRun } from "../run/run-state.ts";
import type { SessionStore } from "../session/session-store.ts";
import { chainsOf } from "./chains.ts";

interface EventsFile {
  readonly name: string;
  readonly content: Blob;
}

/** The events of the calls: a log of one event a line, or a list of logs where they are no single chain. */
export async function eventsFile(store: SessionStore, ids: readonly string[]): Promise<EventsFile> {
  const calls: (readonly AuditEvent[])[] = [];
  for (const id of ids) calls.push((await store.read(id))?.events ?? []);
  const logs = chainsOf(calls).map((events) => events.map(lineOfEvent));
  const [log = []] = logs;
  if (logs.length < 2) return { name: "keyhole-events.ndjson", content: new Blob(log.map((line) => `${line}\n`)) };
  const lists = logs.map((lines) => `[\n${lines.join(",\n")}\n]`);
  return { name: "keyhole-events.json", content: new Blob(['{"logs":[', lists.join(","), "]}\n"]) };
}

function lineOfEvent({ hash, ...rest }: AuditEvent): string {
  return lineOf({ seq: rest.seq, hash, body: canonicalJson(rest as unknown as JsonValue) });
}

/** @returns `undefined` where nothing was decided */
export async function evidenceText(run: ActiveRun, governance: Governance | undefined): Promise<string | undefined> {
  const proof = run.phase === "done" ? run.result.proof : undefined;
  if (!isProof(proof)) return undefined;
  return JSON.stringify(await evidenceOf(run, proof, governance), undefined, 2);
}
