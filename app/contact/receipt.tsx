import { useState } from "react";
import { formatTotal, unbroken } from "../../contract/footprint/fields.ts";
import type { Receipt } from "../../contract/send-email-answer.ts";
import { TextButton } from "./field.tsx";

const REFERENCE_ID = "reference";

interface ReceiptTextProps {
  receipt: Receipt;
  answerWithin: string;
  /** The picture of the estimate, which follows, has its total. Screen readers announce it here all the same. */
  hasPicture: boolean;
}

/** The ticket that a visitor keeps of a message. The text is in a live region, which screen readers announce. */
export function ReceiptText({ receipt, answerWithin, hasPicture }: ReceiptTextProps) {
  const { reference, sentAt, address, totalKg } = receipt;
  return (
    <div className="receipt-text" role="status">
      <h2>Message sent successfully!</h2>
      {reference !== "" && (
        <p className="receipt-reference">
          <span>Your reference is</span>{" "}
          <b id={REFERENCE_ID} translate="no">
            {reference}
          </b>
          <span className="visually-hidden">.</span>
        </p>
      )}
      {/* The spaces are for screen readers, which read a term and its value as one text. */}
      <dl>
        {sentAt !== "" && (
          <div>
            <dt>Sent on:</dt>{" "}
            <dd>
              {/* The server writes the time of UTC, the browser that of the visitor. */}
              <time dateTime={sentAt} suppressHydrationWarning>
                {dateText(sentAt)}
              </time>
            </dd>
          </div>
        )}
        <div>
          <dt>Answer goes to:</dt>{" "}
          <dd>
            {address === "" ? <span>you by email</span> : <bdi translate="no">{address}</bdi>}
            {answerWithin && <span> within {answerWithin}</span>}
          </dd>
        </div>
        {totalKg !== null && (
          <div className={hasPicture ? "visually-hidden" : undefined}>
            <dt>Your estimate:</dt>{" "}
            <dd>
              <span data-fact="total">{unbroken(formatTotal(totalKg))}</span>
            </dd>
          </div>
        )}
      </dl>
      {reference !== "" && <p>If you write again, give this reference.</p>}
    </div>
  );
}

function dateText(iso: string): string {
  const timeZone = typeof document === "undefined" ? "UTC" : undefined;
  const text = new Date(iso).toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short", timeZone });
  return timeZone ? `${text} ${timeZone}` : text;
}

/** Outside of the live region, which has only text. */
export function ReceiptActions({ reference }: Pick<Receipt, "reference">) {
  const [copied, setCopied] = useState<"yes" | "refused" | null>(null);
  async function copy() {
    try {
      await navigator.clipboard.writeText(reference);
      setCopied("yes");
    } catch {
      getSelection()?.selectAllChildren(document.getElementById(REFERENCE_ID) ?? document.body);
      setCopied("refused");
    }
  }
  return (
    <div className="actions">
      <button type="button" className="button button-primary" aria-live="polite" onClick={copy}>
        {copied === "yes" ? "Copied" : "Copy the reference"}
      </button>
      <p className="live" aria-live="polite">
        {copied === "refused" && <span>Your browser did not copy it. It is selected: copy it yourself.</span>}
      </p>
      <TextButton onClick={() => print()}>Print or save</TextButton>
    </div>
  );
}

/** What is left of the ticket once the next message was submitted. */
export function FoldedReceipt({ reference }: Pick<Receipt, "reference">) {
  return (
    <p className="receipt-folded">
      <span>Your last message has the reference</span> <b translate="no">{reference}</b>
    </p>
  );
}
