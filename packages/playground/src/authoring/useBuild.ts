import type { ToolPackage, ToolSummary } from "@keyhole/kernel";
import { useEffect, useMemo, useState } from "react";
import { faultOf, type KernelClient } from "../client/kernel-client.ts";
import { readLink } from "./link.ts";
import { type GivenModule, openFiles } from "./open-files.ts";
import { type PackAnswer, type PackRequest, packTool } from "./pack.ts";
import { loadDraft, saveDraft } from "./source-draft.ts";

export interface Build {
  /** TypeScript, or the manifest of a module. */
  readonly source: string;
  readonly isModule: boolean;
  /** Of the source as it is; `undefined` while it is not packed. */
  readonly packed: PackAnswer | undefined;
  readonly isPacking: boolean;
  /** The source of a link, until a person packs it: no code of it has run. */
  readonly isFromLink: boolean;
  /** It came from elsewhere, and the kernel does not have it: no other tool can call it before a person gives it. */
  readonly isUngiven: boolean;
  /** Why the page did not open a link or a file. */
  readonly openFault: string | undefined;
  /** The tool of the last pack, as the kernel has it. */
  readonly tool: ToolSummary | undefined;
  /** Why the kernel does not take the package. */
  readonly refusal: string | undefined;
  readonly change: (source: string) => void;
  readonly open: (files: readonly File[]) => Promise<void>;
  /** Back to the source in TypeScript. */
  readonly leaveModule: () => void;
  /** A person has read what a link brought. */
  readonly accept: () => void;
  /** Lets the kernel have it. */
  readonly give: () => void;
}

/** After the last key. */
const pauseMs = 600;

/** @param link the address behind the name of the screen */
export function useBuild(client: KernelClient | undefined, link: string, onLinkTaken: () => void): Build {
  const [start] = useState(loadDraft);
  const [source, setSource] = useState(start.source);
  const [module, setModule] = useState<GivenModule>();
  const [openFault, setOpenFault] = useState<string>();
  const [isFromLink, setFromLink] = useState(link !== "");
  const [isUngiven, setUngiven] = useState(start.isUngiven);
  useEffect(() => {
    if (link === "") return undefined;
    let isLeft = false;
    void readLink(link).then((read) => {
      if (isLeft) return;
      if (read.ok) {
        setSource(read.source);
        setModule(undefined);
        setUngiven(true);
      }
      setOpenFault(read.ok ? undefined : read.reason);
      setFromLink(read.ok);
      // The address holds no draft: a reload shows the person's own.
      onLinkTaken();
    });
    return () => {
      isLeft = true;
    };
  }, [link, onLinkTaken]);
  const request = useMemo(() => requestOf(source, module), [source, module]);
  const isHeld = isFromLink || link !== "";
  const packed = usePacked(request, isHeld);
  useSaved(request, isUngiven, isHeld);
  const taken = useRegistered(client, packed?.ok === true && !isUngiven ? packed.package : undefined);
  return {
    source: request.source,
    isModule: module !== undefined,
    packed,
    isPacking: packed === undefined && !isHeld,
    isFromLink,
    isUngiven,
    openFault,
    ...taken,
    change: (text) => (module === undefined ? setSource(text) : setModule({ ...module, manifest: text })),
    async open(files) {
      const opened = await openFiles(files);
      setOpenFault(opened.ok ? undefined : opened.reason);
      if (!opened.ok) return;
      setFromLink(false);
      setUngiven(true);
      setModule(opened.module);
      if (opened.module === undefined) setSource(opened.source);
    },
    leaveModule() {
      setModule(undefined);
      setUngiven(true);
    },
    accept: () => setFromLink(false),
    give: () => setUngiven(false),
  };
}

function requestOf(source: string, module: GivenModule | undefined): PackRequest {
  return module === undefined ? { source } : { source: module.manifest, module: module.bytes };
}

/** The answer to the request, a pause after the last change. */
function usePacked(request: PackRequest, isHeld: boolean): PackAnswer | undefined {
  const [packed, setPacked] = useState<{ readonly request: PackRequest; readonly answer: PackAnswer }>();
  useEffect(() => {
    if (isHeld) return undefined;
    let isLeft = false;
    const timer = setTimeout(() => {
      void packTool(request).then((answer) => isLeft || setPacked({ request, answer }));
    }, pauseMs);
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [request, isHeld]);
  return packed?.request === request ? packed.answer : undefined;
}

/** A reload keeps the draft, a pause after the last change. */
function useSaved({ source, module }: PackRequest, isUngiven: boolean, isHeld: boolean): void {
  useEffect(() => {
    if (isHeld || module !== undefined) return undefined;
    const timer = setTimeout(() => saveDraft({ source, isUngiven }), pauseMs);
    return () => clearTimeout(timer);
  }, [source, module, isUngiven, isHeld]);
}

interface Registered {
  readonly tool: ToolSummary | undefined;
  readonly refusal: string | undefined;
}

const nothing: Registered = { tool: undefined, refusal: undefined };

/** The kernel has the last package. */
function useRegistered(client: KernelClient | undefined, pkg: ToolPackage | undefined): Registered {
  const [taken, setTaken] = useState<Registered & { readonly pkg: ToolPackage | undefined }>({ ...nothing, pkg });
  useEffect(() => {
    if (pkg === undefined || client?.register === undefined) return undefined;
    let isLeft = false;
    const take = (registered: Registered): void => {
      if (!isLeft) setTaken({ ...registered, pkg });
    };
    client.register(pkg).then(
      (setup) =>
        take(
          setup.ok
            ? { tool: setup.value, refusal: undefined }
            : { tool: undefined, refusal: `${setup.error.message} ${setup.error.hint}`.trim() },
        ),
      (error: unknown) => take({ tool: undefined, refusal: faultOf(error).message }),
    );
    return () => {
      isLeft = true;
    };
  }, [client, pkg]);
  return taken.pkg === pkg ? taken : nothing;
}
