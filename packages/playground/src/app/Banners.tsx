import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { type EdgeLink, saveEdgeSettings, takeEdgeLink } from "../client/edge-settings.ts";
import { useSessionFact } from "../session/useSession.ts";
import { Notice } from "../ui/Notice.tsx";
import { LockdownBar } from "./ModeSwitch.tsx";
import { StorageNotice } from "./StorageNotice.tsx";

const EdgeLinkNotice = lazy(async () => ({ default: (await import("./EdgeLinkNotice.tsx")).EdgeLinkNotice }));
const SessionNotice = lazy(async () => ({ default: (await import("./SessionNotice.tsx")).SessionNotice }));

interface BannersProps {
  readonly isLocked: boolean;
  readonly startLink: EdgeLink | undefined;
  readonly warning: string | undefined;
  /** The person took an edge, and the page saved it. */
  readonly onEdge: () => void;
}

/** Notices and decisions that stand above every screen. */
export function Banners({ isLocked, startLink, warning, onEdge }: BannersProps): ReactNode {
  const [link, setLink] = useState(startLink);
  const closeLink = (): void => setLink(undefined);
  useEffect(() => {
    // A link in the address bar of an open page comes without a reload.
    const take = (): void => setLink((last) => takeEdgeLink() ?? last);
    window.addEventListener("hashchange", take);
    return () => window.removeEventListener("hashchange", take);
  }, []);
  return (
    <div className="banners">
      {isLocked && <LockdownBar />}
      <StorageNotice />
      <SessionFaults />
      {link !== undefined && (
        <Suspense>
          <EdgeLinkNotice
            key={JSON.stringify(link)}
            link={link}
            onIgnore={closeLink}
            onUse={(settings) => {
              saveEdgeSettings(settings);
              closeLink();
              onEdge();
            }}
          />
        </Suspense>
      )}
      {warning !== undefined && <Notice tone="warn" title={warning} urgent />}
    </div>
  );
}

/** Loaded where there is something to say. */
function SessionFaults(): ReactNode {
  const hasFault = useSessionFact(
    ({ fault, unreadable, isLost }) => fault !== undefined || unreadable.length > 0 || isLost,
  );
  return (
    hasFault && (
      <Suspense>
        <SessionNotice />
      </Suspense>
    )
  );
}
