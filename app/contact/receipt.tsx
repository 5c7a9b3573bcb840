import { type ReactNode, type RefObject, useState } from "react";
import { formatTotal, unbroken } from "../../contract/footprint/fields.ts";
import { type Receipt, SENT_ALERT_ID } from "../../contract/send-email-answer.ts";
import { FORM_HEAD_ID, TextButton } from "./field.tsx";
import type { Act } from "./form-state.ts";

const REFERENCE_ID = "reference";

interface ReceiptTextProps {
  receipt: Receipt;
  answerWithin: string;
  heading: RefObject<HTMLHeadingElement | null>;
  /** The picture of the estimate, which follows, has its total. Screen readers announce it here all the same. */
  hasPicture: boolean;
}

/** The ticket that a visitor keeps of a message. The text is in a live region, which screen readers announce. */
export function ReceiptText({ receipt, answerWithin, heading, hasPicture }: ReceiptTextProps) {
  const { reference, sentAt, address, totalKg } = receipt;
  return (
    <div className="receipt-text" role="status" id={SENT_ALERT_ID}>
      <h2 ref={heading}>Message sent successfully!</h2>
      {reference !== "" && (
        <p className="receipt-reference">
          <span>Your reference is</span>{" "}
          <b id={REFERENCE_ID} translate="no">
            {reference}
          </b>
          <span className="visually-hidden">.</span>
        </p>
      )}
      <dl>
        {sentAt !== "" && (
          <ReceiptLine name="Sent on">
            {/* The server writes the time of UTC, the browser that of the visitor. */}
            <time dateTime={sentAt} suppressHydrationWarning>
              {dateText(sentAt)}
            </time>
          </ReceiptLine>
        )}
        <ReceiptLine name="Answer goes to">
          {address === "" ? <span>you by email</span> : <bdi translate="no">{address}</bdi>}
          {answerWithin && <span> within {answerWithin}</span>}
        </ReceiptLine>
        {totalKg !== null && (
          <ReceiptLine name="Your estimate" className={hasPicture ? "visually-hidden" : undefined}>
            <span data-fact="total">{unbroken(formatTotal(totalKg))}</span>
          </ReceiptLine>
        )}
      </dl>
      {reference !== "" && <p>If you write again, give this reference.</p>}
    </div>
  );
}

/** The space is for screen readers, which read the term and its value as one text. */
function ReceiptLine({
  name,
  className,
  children,
}: {
  name: string;
  className?: string | undefined;
  children: ReactNode;
}) {
  return (
    <div className={className}>
      <dt>{`${name}:`}</dt> <dd>{children}</dd>
    </div>
  );
}

function dateText(iso: string): string {
  const isServer = typeof document === "undefined";
  const text = new Date(iso).toLocaleString("en-GB", {
    dateStyle: "long",
    timeStyle: "short",
    ...(isServer && { timeZone: "UTC" }),
  });
  return isServer ? `${text} UTC` : text;
}

interface ReceiptActionsProps {
  reference: string;
  isInteractive: boolean;
  /** The page's address shows this receipt again. */
  isOfAddress: boolean;
  act: Act;
}

/** Outside of the live region, which has only text. Without script, only the link works. */
export function ReceiptActions({ reference, isInteractive, isOfAddress, act }: ReceiptActionsProps) {
  return (
    <div className="actions">
      {isInteractive && <CopyReference reference={reference} />}
      {isInteractive && <TextButton onClick={() => print()}>Print or save</TextButton>}
      <a
        className="text-button"
        href="/contact"
        onClick={(event) => {
          if (isOfAddress) return;
          event.preventDefault();
          // Not the first field: Orca moves there silently when the link is removed, and would not announce the focus.
          act({ type: "again" }, FORM_HEAD_ID);
        }}
      >
        Write another message
      </a>
    </div>
  );
}

function CopyReference({ reference }: { reference: string }) {
  const [result, setResult] = useState<"copied" | "refused" | null>(null);
  async function copy() {
    try {
      await navigator.clipboard.writeText(reference);
      setResult("copied");
    } catch {
      getSelection()?.selectAllChildren(document.getElementById(REFERENCE_ID) ?? document.body);
      setResult("refused");
    }
  }
  return (
    <>
      <button type="button" className="button button-primary" aria-live="polite" onClick={copy}>
        {result === "copied" ? "Copied" : "Copy the reference"}
      </button>
      <p className="live" aria-live="polite">
        {result === "refused" && <span>Your browser did not copy it. It is selected: copy it yourself.</span>}
      </p>
    </>
  );
}
