import { visible } from "@keyhole/kernel";
import { type ComponentProps, lazy, type ReactNode, type RefObject, Suspense, useState } from "react";
import { CallForm } from "../form/CallForm.tsx";
import { IconButton } from "../ui/Button.tsx";
import { TierBars } from "../ui/Glyph.tsx";
import { Inline } from "../ui/Markdown.tsx";
import { Empty, Loading } from "../ui/Notice.tsx";
import { tierText } from "./words.ts";

const ToolDetails = lazy(async () => ({ default: (await import("./ToolDetails.tsx")).ToolDetails }));

interface ToolPanelProps extends ComponentProps<typeof CallForm> {
  readonly headingRef: RefObject<HTMLHeadingElement | null>;
  /** Another program calls it. */
  readonly isWatched: boolean;
  readonly onBack: () => void;
}

export function ToolPanel({ headingRef, isWatched, onBack, ...call }: ToolPanelProps): ReactNode {
  const { tool } = call;
  return (
    <section className="tool" aria-labelledby="tool-name">
      <ToolHead tool={tool} headingRef={headingRef} onBack={onBack} />
      {isWatched ? (
        <Empty title="This kernel is watched">
          <p>Its own program calls the tools. Each call stands in the log below, with its events and decision.</p>
        </Empty>
      ) : (
        <CallForm key={tool.id} {...call} />
      )}
    </section>
  );
}

function ToolHead({ tool, headingRef, onBack }: Pick<ToolPanelProps, "tool" | "headingRef" | "onBack">): ReactNode {
  const { name, title, version, description, tier, effects } = tool.manifest;
  const [isOpen, setOpen] = useState(false);
  return (
    <header className="stack-s under tool-head">
      <div className="bar tool-title">
        <span className="narrow-only">
          <IconButton icon="back" label="Back to the tools" onPress={onBack} />
        </span>
        <h1 id="tool-name" ref={headingRef} tabIndex={-1}>
          {visible(name)}
        </h1>
        <span className="muted mono">{visible(version)}</span>
        <ul className="mono-s tool-effects" aria-label="Effects">
          {effects.map((effect) => (
            <li key={effect}>{visible(effect)}</li>
          ))}
        </ul>
        <span className="line note tool-tier">
          <TierBars tier={tier} />
          <span title={tierText(tier)}>tier {tier}</span>
        </span>
        <button
          type="button"
          className="button"
          data-look="quiet"
          data-square
          aria-expanded={isOpen}
          aria-controls="tool-description"
          aria-label={`Details of ${visible(name)}`}
          onClick={() => setOpen(!isOpen)}
        >
          ?
        </button>
      </div>
      <p id="tool-description" className={`${isOpen ? "" : "clamp "}muted tool-description`}>
        {title !== undefined && <b>{visible(title)}. </b>}
        <Inline text={description} />
      </p>
      {isOpen && (
        <Suspense fallback={<Loading>Loading…</Loading>}>
          <ToolDetails tool={tool} />
        </Suspense>
      )}
    </header>
  );
}
