import { type ReactNode, type RefObject, useState } from "react";
import { formatTotal, unbroken } from "../../contract/footprint/fields.ts";
import { type Receipt, SENT_ALERT_ID } from "../../contract/send-email-answer.ts";
import { FORM_HEAD_ID, TextButton } from "./field.tsx";
import type { Act } from "./form-state.ts";

const REFERENCE_ID = "reference";

interface ReceiptTextProps {
  receipt: Receipt | null;
  answerWithin: string;
  heading?: RefObject<HTMLHeadingElement | null>;
  /** The picture of the estimate, which follows, has its total. Screen readers announce it here all the same. */
  hasPicture?: boolean;
}

/** The ticket that a visitor keeps of a message. The text is in a live region, which screen readers announce. */
export function ReceiptText({ receipt, answerWithin, heading, hasPicture }: ReceiptTextProps) {
  const { reference = "", sentAt = "", address = "", totalKg = null } = receipt ?? {};
  const within = answerWithin && ` within ${answerWithin}`;
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
          <div>
            <ReceiptTerm name="Sent on" />
            {/* The server writes the time of UTC, the browser that of the visitor. */}
            <dd>
              <time dateTime={sentAt} suppressHydrationWarning>
                {dateText(sentAt)}
              </time>
            </dd>
          </div>
        )}
        <div>
          <ReceiptTerm name="Answer goes to" />
          <dd>
            {address === "" ? (
              <span>you by email{within}</span>
            ) : (
              <span>
                <bdi translate="no">{address}</bdi>
                {within}
              </span>
            )}
          </dd>
        </div>
        {totalKg !== null && (
          <div className={hasPicture ? "visually-hidden" : undefined}>
            <ReceiptTerm name="Your estimate" />
            <dd data-fact="total">{unbroken(formatTotal(totalKg))}</dd>
          </div>
        )}
      </dl>
      {reference !== "" && <p>If you write again, give this reference.</p>}
    </div>
  );
}

/** The colon is for screen readers, which read the term and its value as one text. */
function ReceiptTerm({ name }: { name: string }) {
  return (
    <dt>
      {name}
      <span className="visually-hidden">: </span>
    </dt>
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
      <WriteAnother
        onClick={(event) => {
          if (isOfAddress) return;
          event.preventDefault();
          // Not the first field: Orca moves there silently when the link is removed, and would not announce the focus.
          act({ type: "again" }, FORM_HEAD_ID);
        }}
      />
    </div>
  );
}

function WriteAnother({ onClick }: { onClick?(event: { preventDefault(): void }): void }) {
  return (
    <a className="text-button" href="/contact" onClick={onClick}>
      Write another message
    </a>
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

/** For a static host, which cannot write the reference into the page: CSS shows it as the page's `:target`. */
export function SentElsewhere({ answerWithin }: { answerWithin: string }): ReactNode {
  return (
    <div className="receipt sent-elsewhere">
      <ReceiptText receipt={null} answerWithin={answerWithin} />
      <div className="actions">
        <WriteAnother />
      </div>
    </div>
  );
}
