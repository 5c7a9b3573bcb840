import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { Mark } from "../app/components/mark.tsx";
import { site } from "../app/site.ts";
import { describeFailure } from "./api.ts";
import { formatNumber } from "./labels.tsx";
import { useLive } from "./queries.ts";

/** Grey rows until the real ones are loaded; shown only if that takes a moment. */
export function LoadingRows({ label, count = 8 }: { label: string; count?: number }) {
  return (
    <div className="skeleton">
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
        <path d="M2 36h60" />
        <path className="panel-sun" d="M20 32a12 12 0 0 1 24 0Z" />
        <path d="M32 14V6M18.500 19.500 13 14M45.500 19.500 51 14" />
      </svg>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function FailurePanel({ error, onRetry }: { error: unknown; onRetry: () => unknown }) {
  return (
    <div className="panel-failure">
      <h2>This could not be loaded</h2>
      <p>{describeFailure(error)}</p>
      <button type="button" className="button button-outline" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}

/** A defect of the page itself leaves a way on, instead of an empty page. Another screen begins without it. */
export function ScreenFailure({ error }: { error: unknown }) {
  return (
    <>
      <ScreenTitle name="This page has a defect" />
      <FailurePanel error={error} onRetry={() => location.reload()} />
    </>
  );
}

export function UnknownScreen() {
  return (
    <>
      <ScreenTitle name="Nothing here" />
      <EmptyPanel title="The inbox has no such page">
        <Link to="/">All messages</Link>
      </EmptyPanel>
    </>
  );
}

/** `missing`: the page was opened without a token. `refused`: with one of another run. */
export function NoAccess({ reason }: { reason: "missing" | "refused" }) {
  useDocumentTitle("No access");
  return (
    <main className="no-access">
      <Mark />
      <h1>{reason === "missing" ? "Open the address from the terminal" : "This address is no longer valid"}</h1>
      <p>
        {reason === "missing"
          ? "The address that the command printed has a key in it, after the #. Without it nobody gets in."
          : "Each run of the inbox has a key of its own, and this page has the key of another run."}
      </p>
      <p>
        Run <code>npm run inbox</code>, or look where it runs, and open the whole address that it prints.
      </p>
    </main>
  );
}

interface ScreenTitleProps {
  /** Of the screen in the browser's tab, and its heading unless that is given. */
  name: string;
  children?: ReactNode;
}

/** The heading of a screen: it gets the focus when somebody comes to the screen. */
export function ScreenTitle({ name, children = name }: ScreenTitleProps) {
  const unanswered = useLive().counts?.unanswered ?? 0;
  useDocumentTitle(`${unanswered > 0 ? `(${formatNumber(unanswered)}) ` : ""}${name}`);
  return (
    <h1 id="screen-title" tabIndex={-1}>
      {children}
    </h1>
  );
}

function useDocumentTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} – ${site.brand} inbox`;
  }, [title]);
}
