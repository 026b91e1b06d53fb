import { type ReactNode, useCallback } from "react";
import { Markdown } from "../ui/Markdown.tsx";
import { Loading } from "../ui/Notice.tsx";
import { Sheet } from "../ui/Sheet.tsx";
import { useRead } from "../ui/time.ts";

interface ErrorPageProps {
  readonly code: string;
  readonly load: () => Promise<string>;
  readonly onClose: () => void;
}

/** The page of a code beside the call, so that the person does not leave it. */
export function ErrorPage({ code, load, onClose }: ErrorPageProps): ReactNode {
  return (
    <Sheet title={code} onClose={onClose}>
      <Content load={load} />
    </Sheet>
  );
}

function Content({ load }: { readonly load: () => Promise<string> }): ReactNode {
  const text = useRead(useCallback(() => load().catch(() => "This page could not be loaded."), [load]));
  return text === undefined ? <Loading>Loading…</Loading> : <Markdown text={text} />;
}
