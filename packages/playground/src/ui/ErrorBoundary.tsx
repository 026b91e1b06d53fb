import { Component, type ReactNode } from "react";
import { Button } from "./Button.tsx";
import { Notice } from "./Notice.tsx";
import { visible } from "@keyhole/kernel";

interface ErrorBoundaryProps {
  /** The name of the part of the page, as its user sees it: "The events". */
  readonly part: string;
  /** Another value starts the part again: the page no longer has the data that failed. */
  readonly resetKey?: unknown;
  /** Where the part cannot be shown again without an effect elsewhere. */
  readonly onReset?: () => void;
  /** Beside "Show again". */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

interface ErrorBoundaryState {
  readonly failure: { readonly reason: string } | undefined;
  readonly resetKey: unknown;
}

/** A part of the page that fails on screen. The rest of the page stays. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  override state: ErrorBoundaryState = { failure: undefined, resetKey: this.props.resetKey };

  static getDerivedStateFromError(error: unknown): Partial<ErrorBoundaryState> {
    return { failure: { reason: reasonOf(error) } };
  }

  static getDerivedStateFromProps(
    { resetKey }: ErrorBoundaryProps,
    state: ErrorBoundaryState,
  ): Partial<ErrorBoundaryState> | null {
    return Object.is(resetKey, state.resetKey) ? null : { failure: undefined, resetKey };
  }

  override render(): ReactNode {
    const { failure } = this.state;
    if (failure === undefined) return this.props.children;
    const again = (): void => {
      this.props.onReset?.();
      this.setState({ failure: undefined });
    };
    return (
      <Notice
        tone="bad"
        title={`${this.props.part} cannot be shown`}
        urgent
        actions={
          <>
            <Button onPress={again}>Show again</Button>
            {this.props.actions}
          </>
        }
      >
        <p>The data has a form that this page does not expect. The rest of the page still works.</p>
        <p className="mono">{visible(failure.reason)}</p>
      </Notice>
    );
  }
}

/** An error may be anything, and its text may be long. */
export function reasonOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error).slice(0, 300);
  } catch {
    return "The error has no text.";
  }
}
