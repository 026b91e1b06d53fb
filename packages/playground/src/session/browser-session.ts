import { saved, type SavedKey } from "../client/saved.ts";
import { Calls } from "./calls.ts";
import { deleteSession, SessionDatabase } from "./database.ts";
import { sessionName } from "./names.ts";
import { SessionStore } from "./session-store.ts";

export interface Session {
  readonly store: SessionStore;
  readonly calls: Calls;
}

const storedKey: SavedKey = { area: "local", key: `${sessionName}.stored`, what: "a note that calls are saved" };

let session: Session | undefined;

/** The session of this browser. One for the page, for all of its renders. */
export function browserSession(): Session {
  return (session ??= open());
}

function open(): Session {
  const tab = crypto.randomUUID();
  const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel(sessionName) : undefined;
  const held = hold(lockOf(tab));
  const store = new SessionStore({
    tab,
    open: async (onLost) => {
      // Other tabs take a call for abandoned whose tab holds no lock.
      await held;
      return SessionDatabase.open(onLost);
    },
    destroy: deleteSession,
    hasStored: {
      read: () => saved.read(storedKey) !== undefined,
      write: (has) => {
        if (has !== (saved.read(storedKey) !== undefined)) saved.write(storedKey, has ? "yes" : undefined);
      },
    },
    tell: (told) => channel?.postMessage(told),
    listen: (listener) => channel?.addEventListener("message", ({ data }: MessageEvent<unknown>) => listener(data)),
    whenGone: async (other) => {
      await locksOf()?.request(lockOf(other), () => {});
    },
  });
  return { store, calls: new Calls(store, tab) };
}

/** Held for as long as the tab lives; the browser lets go of it. */
function hold(lock: string): Promise<void> {
  const locks = locksOf();
  if (locks === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    const untilClosed = (): Promise<never> => {
      resolve();
      return new Promise(() => {});
    };
    // Without the lock the session still stores the calls.
    locks.request(lock, untilClosed).catch(() => resolve());
  });
}

function lockOf(tab: string): string {
  return `${sessionName}.${tab}`;
}

/** Absent outside of a secure context. */
function locksOf(): LockManager | undefined {
  return (navigator as { readonly locks?: LockManager }).locks;
}
