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

/** The events of the calls, as a list of parts of a log: one where they are one chain. */
export async function eventsFile(store: SessionStore, ids: readonly string[]): Promise<EventsFile> {
  const calls: (readonly AuditEvent[])[] = [];
  for (const id of ids) calls.push((await store.read(id))?.events ?? []);
  const lists = chainsOf(calls).map((events) => `[\n${events.map(lineOfEvent).join(",\n")}\n]`);
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
