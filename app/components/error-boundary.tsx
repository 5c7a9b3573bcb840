import { Component, type ReactNode } from "react";
import { ErrorMessage } from "./error-message.tsx";

/** Shows the error screen in place of what it holds when that fails to render. React itself logs the error. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { failure: unknown }> {
  override state = { failure: undefined };

  static getDerivedStateFromError(failure: unknown) {
    return { failure: failure ?? "Unknown error" };
  }

  override render() {
    const { failure } = this.state as { failure: unknown };
    if (failure === undefined) return this.props.children;
    return <ErrorMessage level="h2" detail={failure instanceof Error ? failure.message : String(failure)} />;
  }
}
