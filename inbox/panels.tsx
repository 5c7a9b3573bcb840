import { Component, type ReactNode } from "react";
import { describeFailure } from "./api.ts";

/** Grey rows until the real ones are loaded; shown only if that takes a moment. */
export function LoadingRows({ label, count = 8 }: { label: string; count?: number }) {
  return (
    <div className="skeleton" role="status">
      <span className="visually-hidden">{label}</span>
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <div key={index} className="skeleton-row" aria-hidden="true" />
      ))}
    </div>
  );
}

interface PanelProps {
  title: string;
  children?: ReactNode;
}

/** Shown where a list or a message would be, when there is none. */
export function EmptyPanel({ title, children }: PanelProps) {
  return (
    <div className="panel-empty">
      <svg viewBox="0 0 64 40" width="96" height="60" aria-hidden="true" focusable="false">
        <path className="panel-horizon" d="M2 36h60" />
        <path className="panel-sun" d="M20 32a12 12 0 0 1 24 0Z" />
        <path className="panel-rays" d="M32 14V6M18.500 19.500 13 14M45.500 19.500 51 14" />
      </svg>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function FailurePanel({ error, onRetry }: { error: unknown; onRetry: () => unknown }) {
  return (
    <div className="panel-failure" role="alert">
      <h2>This could not be loaded</h2>
      <p>{describeFailure(error)}</p>
      <button type="button" className="button button-outline" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}

/** A defect of the page itself leaves a way on, instead of an empty page. */
export class ScreenBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <>
        <h1 id="screen-title" tabIndex={-1}>
          This page has a defect
        </h1>
        <FailurePanel error={this.state.error} onRetry={() => location.reload()} />
      </>
    );
  }
}
