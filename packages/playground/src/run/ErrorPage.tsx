import type { ErrorCode } from "@keyhole/kernel";
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "../ui/Button.tsx";
import { Markdown } from "../ui/Markdown.tsx";
import { Loading } from "../ui/Notice.tsx";
import { Sheet } from "../ui/Sheet.tsx";

/** The project's own page per code, each loaded when it is asked for. */
const pages = import.meta.glob<string>(["../../../../docs/errors/*.md", "!../../../../docs/errors/README.md"], {
  query: "?raw",
  import: "default",
});

function loaderOf(code: ErrorCode): (() => Promise<string>) | undefined {
  const path = Object.keys(pages).find((each) => each.endsWith(`/${code}.md`));
  return path === undefined ? undefined : pages[path];
}

/** Opens the code's page beside the call, so that the person does not leave it. */
export function ErrorPageLink({ code }: { readonly code: ErrorCode }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const load = loaderOf(code);
  if (load === undefined) return null;
  return (
    <>
      <Button onPress={() => setOpen(true)}>About this code</Button>
      <Sheet title={code} isOpen={isOpen} onClose={() => setOpen(false)}>
        <ErrorPage load={load} />
      </Sheet>
    </>
  );
}

function ErrorPage({ load }: { readonly load: () => Promise<string> }): ReactNode {
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
