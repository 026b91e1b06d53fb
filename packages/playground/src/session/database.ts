import type { AuditEvent, CallResult, JsonValue, LogEntry, ToolSummary } from "@keyhole/kernel";
import type { RunEntry } from "@keyhole/kernel/replay";
import { type DBSchema, deleteDB, type IDBPDatabase, type IDBPObjectStore, openDB } from "idb";
import type { Verification } from "@keyhole/worker-host/edge-protocol";
import type { CallHead } from "./call-head.ts";
import { sessionName } from "./names.ts";

/** The parts that the page reads when a person opens the call. */
export interface CallBody {
  readonly id: string;
  readonly tool: ToolSummary;
  readonly input: JsonValue;
  /** Without its data. */
  readonly result?: Omit<CallResult, "data">;
  readonly data?: JsonValue | Uint8Array;
  readonly verification?: Verification;
  /** The streamed output. */
  readonly file?: Blob;
  readonly recorded?: readonly RunEntry[];
  readonly fault?: { readonly message: string; readonly hint: string };
}

/** Events and log lines come while the call runs: each piece is written once. */
export interface Piece {
  readonly id: string;
  readonly number: number;
  readonly events: readonly AuditEvent[];
  readonly logs: readonly LogEntry[];
}

/** The parts of a call that one write stores. */
export interface CallChange {
  readonly head: CallHead;
  readonly body?: CallBody;
  readonly pieces: readonly Piece[];
}

interface Schema extends DBSchema {
  readonly heads: { readonly key: string; readonly value: unknown };
  readonly bodies: { readonly key: string; readonly value: unknown };
  readonly pieces: { readonly key: [string, number]; readonly value: unknown };
}

const version = 1;
const storeNames: ["heads", "bodies", "pieces"] = ["heads", "bodies", "pieces"];

/** The calls that this browser keeps, for all tabs of the page. Every method rejects with what the browser says. */
export class SessionDatabase {
  readonly #database: IDBPDatabase<Schema>;

  private constructor(database: IDBPDatabase<Schema>) {
    this.#database = database;
  }

  /** @param onLost the browser, or a page of a later version, closed it */
  static async open(onLost: () => void): Promise<SessionDatabase> {
    const database = await openDB<Schema>(sessionName, version, {
      upgrade(created) {
        created.createObjectStore("heads", { keyPath: "id" });
        created.createObjectStore("bodies", { keyPath: "id" });
        created.createObjectStore("pieces", { keyPath: ["id", "number"] });
      },
      blocking: () => {
        database.close();
        onLost();
      },
      terminated: onLost,
    });
    return new SessionDatabase(database);
  }

  /** As they are stored: another version of the page may have written them. */
  heads(): Promise<readonly unknown[]> {
    return this.#database.getAll("heads");
  }

  head(id: string): Promise<unknown> {
    return this.#database.get("heads", id);
  }

  async call(id: string): Promise<{ readonly body: unknown; readonly pieces: readonly unknown[] }> {
    const reading = this.#database.transaction(["bodies", "pieces"]);
    const [body, pieces] = await Promise.all([
      reading.objectStore("bodies").get(id),
      reading.objectStore("pieces").getAll(allOf(id)),
    ]);
    return { body, pieces };
  }

  /** All of it or nothing. */
  write(changes: readonly CallChange[]): Promise<void> {
    return this.#change((stores, made) => {
      for (const { head, body, pieces } of changes) {
        made(stores("heads").put(head));
        if (body !== undefined) made(stores("bodies").put(body));
        for (const piece of pieces) made(stores("pieces").put(piece));
      }
    });
  }

  remove(ids: readonly string[]): Promise<void> {
    return this.#change((stores, made) => {
      for (const id of ids) {
        made(stores("heads").delete(id));
        made(stores("bodies").delete(id));
        made(stores("pieces").delete(allOf(id)));
      }
    });
  }

  close(): void {
    this.#database.close();
  }

  async #change(change: Change): Promise<void> {
    const changing = this.#database.transaction(storeNames, "readwrite");
    const requests: Promise<unknown>[] = [changing.done];
    try {
      change(
        (name) => changing.objectStore(name),
        (request) => requests.push(request),
      );
      await Promise.all(requests);
    } catch (error) {
      // An unstorable value throws at once. The transaction takes back earlier requests, and no caller waits for them.
      for (const request of requests) request.catch(() => {});
      abort(changing);
      throw error;
    }
  }
}

type Stores = <Name extends (typeof storeNames)[number]>(
  name: Name,
) => IDBPObjectStore<Schema, typeof storeNames, Name, "readwrite">;
/** @param made takes each request */
type Change = (stores: Stores, made: (request: Promise<unknown>) => void) => void;

function abort(changing: { abort(): void }): void {
  try {
    changing.abort();
  } catch {
    // It has ended already.
  }
}

function allOf(id: string): IDBKeyRange {
  return IDBKeyRange.bound([id], [id, []]);
}

/** Also an unreadable one. */
export function deleteSession(): Promise<void> {
  return deleteDB(sessionName);
}
