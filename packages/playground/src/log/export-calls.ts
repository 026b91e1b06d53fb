import { type AuditEvent, canonicalJson, type JsonValue, lineOf } from "@keyhole/kernel";
import { isProof } from "@keyhole/kernel/policy";
import type { Governance } from "../client/kernel-client.ts";
import { evidenceOf } from "../run/evidence.ts";
import type { ActiveRun } from "../run/run-state.ts";
import type { SessionStore } from "../session/session-store.ts";

/** The events of the calls, one in each line, as a log file has them. The oldest call comes first. */
export async function eventLines(store: SessionStore, ids: readonly string[]): Promise<Blob> {
  const parts: string[] = [];
  for (const id of ids) {
    const run = await store.read(id);
    for (const event of run?.events ?? []) parts.push(`${lineOfEvent(event)}\n`);
  }
  return new Blob(parts);
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
