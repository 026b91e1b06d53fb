import { type ReactNode, useEffect, useState } from "react";
import { Markdown } from "../ui/Markdown.tsx";
import { Loading } from "../ui/Notice.tsx";
import { Sheet } from "../ui/Sheet.tsx";

interface ErrorPageProps {
  readonly code: string;
  readonly load: () => Promise<string>;
  readonly onClose: () => void;
}

/** The page of a code beside the call, so that the person does not leave it. */
export function ErrorPage({ code, load, onClose }: ErrorPageProps): ReactNode {
  return (
    <Sheet title={code} isOpen onClose={onClose}>
      <Content load={load} />
    </Sheet>
  );
}

function Content({ load }: { readonly load: () => Promise<string> }): ReactNode {
  const [text, setText] = useState<string | undefined>(undefined);
  useEffect(() => {
    let left = false;
    load().then(
      (loaded) => left || setText(loaded),
      () => left || setText("This page could not be loaded."),
    );
    return () => {
      left = true;
    };
  }, [load]);
  return text === undefined ? <Loading>Loading…</Loading> : <Markdown text={text} />;
}
