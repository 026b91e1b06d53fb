// A Durable Object that does what one row says. Its own clock stands still while it computes, so whoever asks takes the time.
import { DurableObject } from "cloudflare:workers";
import { sqlSink } from "@keyhole/edge";
import { type AuditSink, memorySink } from "@keyhole/kernel";
import { type Row, rows } from "../rows.ts";

interface Env {
  readonly LOGS: DurableObjectNamespace<LogObject>;
}

export class LogObject extends DurableObject<Env> {
  readonly #sinks: ReadonlyMap<string | null, AuditSink> = new Map([
    ["memory", memorySink(1_000_000)],
    ["SQLite", sqlSink(this.ctx.storage)],
  ]);

  /** The answer leaves when everything before it is on the disk. */
  override async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const sink = this.#sinks.get(searchParams.get("store"));
    if (sink === undefined) return new Response("There is no such store.", { status: 404 });
    return Response.json(await rows[searchParams.get("row") as Row].run(sink));
  }
}

export default {
  async fetch(request, { LOGS }): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/healthz") return new Response("ok");
    return LOGS.getByName(searchParams.get("log")!).fetch(request);
  },
} satisfies ExportedHandler<Env>;
