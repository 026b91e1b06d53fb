import { visible } from "@keyhole/kernel";
import { type ReactNode, useRef } from "react";
import { useDeliberate } from "../approval/useDeliberate.ts";
import { hostOf, isHere, isOfPage } from "../client/edge-address.ts";
import type { EdgeLink } from "../client/edge-settings.ts";
import { Button } from "../ui/Button.tsx";
import { Notice } from "../ui/Notice.tsx";

interface EdgeLinkNoticeProps {
  readonly link: EdgeLink;
  readonly onUse: (settings: Extract<EdgeLink, { kind: "offer" }>["settings"]) => void;
  readonly onIgnore: () => void;
}

export function EdgeLinkNotice({ link, onUse, onIgnore }: EdgeLinkNoticeProps): ReactNode {
  return link.kind === "offer" ? (
    <Offer link={link} onUse={onUse} onIgnore={onIgnore} />
  ) : (
    <Notice
      tone="bad"
      title="The link names an edge that cannot be used"
      urgent
      actions={<Button onPress={onIgnore}>Close this message</Button>}
    >
      <p>
        <code className="wrap">{visible(link.address)}</code> is not an http address, or it is plain http to another
        machine. Nothing has changed.
      </p>
    </Notice>
  );
}

interface OfferProps extends EdgeLinkNoticeProps {
  readonly link: Extract<EdgeLink, { kind: "offer" }>;
}

function Offer({ link: { settings, known }, onUse, onIgnore }: OfferProps): ReactNode {
  const place = useRef<HTMLParagraphElement>(null);
  const { isReady, guard } = useDeliberate(place);
  const { address } = settings;
  return (
    <Notice
      tone="warn"
      title={isOfPage(address) ? `Watch the kernel of ${hostOf(address)}?` : `Use the edge at ${address}?`}
      urgent
      actions={
        <>
          <Button look="primary" onPress={guard(() => onUse(settings))} isUnavailable={!isReady}>
            {isOfPage(address) ? "Watch it" : "Use this edge"}
          </Button>
          <Button onPress={onIgnore}>Ignore the link</Button>
        </>
      }
    >
      <p ref={place} tabIndex={-1}>
        A link asks for it.{" "}
        {isOfPage(address)
          ? "The page reads that kernel’s tools, policy and calls, and keeps the calls in its log."
          : `The edge is on ${isHere(address) ? "this machine" : "another machine"}. It receives what you enter into the forms of its tools.`}
        {known && " This tab has an edge at this address. The link replaces its token."}
      </p>
    </Notice>
  );
}
