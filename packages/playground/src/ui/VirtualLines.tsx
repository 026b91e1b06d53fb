import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useRef } from "react";
import { visible } from "@keyhole/kernel";
import { placeOf } from "./virtual-place.ts";

interface VirtualLinesProps {
  readonly label: string;
  readonly className: string;
  readonly count: number;
  /** In pixels, at first; the list measures a higher row. */
  readonly rowHeight: number;
  readonly children: (index: number) => ReactNode;
  /** The role for a screen reader. Default: a list of lines. */
  readonly role?: "list" | "tree";
  /** Another function has every row measured anew. */
  readonly keyOf?: (index: number) => string | number;
}

/** Any number of lines. The list draws only those in sight. It scrolls by keyboard. */
export function VirtualLines(props: VirtualLinesProps): ReactNode {
  const { label, className, count, rowHeight, children, role = "list", keyOf } = props;
  const scroller = useRef<HTMLDivElement>(null);
  // Its return value changes with each scroll: this component memoizes none of it.
  // oxlint-disable-next-line react/incompatible-library
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    // Until the browser has measured: the first draw is in sight.
    initialRect: { width: 600, height: 400 },
    ...(keyOf && { getItemKey: keyOf }),
  });
  const row = role === "list" ? "listitem" : "none";
  return (
    // It scrolls, so that the keyboard must reach it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <section ref={scroller} className={`shrinks virtual ${className}`} aria-label={visible(label)} tabIndex={0}>
      <div role={role} aria-label={visible(label)} className="virtual-all" style={placeOf(virtual)}>
        {virtual.getVirtualItems().map(({ index, key }) => (
          <div
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            role={row}
            aria-posinset={role === "list" ? index + 1 : undefined}
            aria-setsize={role === "list" ? count : undefined}
            className="virtual-row"
          >
            {children(index)}
          </div>
        ))}
      </div>
    </section>
  );
}
