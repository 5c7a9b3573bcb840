import { Component, type ReactNode } from "react";

interface ErrorMessageProps {
  level: "h1" | "h2";
  /** The status or the error's message; never a stack trace. */
  detail: string;
  /** The company's address. */
  email: string;
  /** Further buttons. */
  children?: ReactNode;
}

export function ErrorMessage({ level: Heading, detail, email, children }: ErrorMessageProps) {
  return (
    <div className="error-message" role="alert">
      <Heading>Unexpected Application Error!</Heading>
      <p className="error-detail">{detail}</p>
      <p>
        Something broke on our side, not yours. Please try again in a moment, or write to us at{" "}
        <a href={`mailto:${email}`}>{email}</a>.
      </p>
      <div className="actions">
        {children}
        <a className={`button button-${children ? "outline" : "primary"}`} href="/">
          Back to the home page
        </a>
      </div>
    </div>
  );
}

export function ReloadButton() {
  return (
    <button type="button" className="button button-primary" onClick={() => location.reload()}>
      Reload: what you typed is kept
    </button>
  );
}

interface ErrorBoundaryProps {
  email: string;
  children: ReactNode;
  /** Called before the visitor can reload the page. */
  onError(): void;
}

/** Shows the error message instead of its children when they fail to render. React itself logs the error. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { failure: unknown }> {
  override state = { failure: undefined };

  static getDerivedStateFromError(failure: unknown) {
    return { failure: failure ?? "Unknown error" };
  }

  override componentDidCatch() {
    this.props.onError();
  }

  override render() {
    const { failure } = this.state as { failure: unknown };
    if (failure === undefined) return this.props.children;
    return (
      <ErrorMessage
        level="h2"
        detail={failure instanceof Error ? failure.message : String(failure)}
        email={this.props.email}
      >
        <ReloadButton />
      </ErrorMessage>
    );
  }
}
