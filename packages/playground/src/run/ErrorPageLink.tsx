import type { ErrorCode } from "@keyhole/kernel";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { Button } from "../ui/Button.tsx";

/** The project's own page per code. Each loads on demand. */
const pages = import.meta.glob<string>(["../../../../docs/errors/*.md", "!../../../../docs/errors/README.md"], {
  query: "?raw",
  import: "default",
});

function loaderOf(code: ErrorCode): (() => Promise<string>) | undefined {
  const path = Object.keys(pages).find((each) => each.endsWith(`/${code}.md`));
  return path === undefined ? undefined : pages[path];
}

const ErrorPage = lazy(async () => ({ default: (await import("./ErrorPage.tsx")).ErrorPage }));

export function ErrorPageLink({ code }: { readonly code: ErrorCode }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const load = loaderOf(code);
  if (load === undefined) return null;
  return (
    <>
      <Button onPress={() => setOpen(true)}>About this code</Button>
      {isOpen && (
        <Suspense>
          <ErrorPage code={code} load={load} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
