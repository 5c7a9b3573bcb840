import { site } from "virtual:site";
import { Fragment } from "react";
import type { Link } from "../site-schema.ts";

export type ButtonLook = "primary" | "outline" | "quiet";

/** Looks like a button, but leads to another page, so it is a link. */
export function ButtonLink({ link, look }: { link: Link; look: ButtonLook }) {
  return (
    <a className={`button button-${look}`} href={link.href}>
      {link.label}
    </a>
  );
}

/**
 * Wraps to the next line as a whole. An address that is wider than a line breaks after the `@` or before a dot. `end`
 * is the punctuation that follows on the same line.
 */
export function ContactEmail({ end }: { end?: string }) {
  const parts = site.contactEmail.split(/(?<=@)|(?=\.)/);
  return (
    <span className="email">
      <a href={`mailto:${site.contactEmail}`}>
        {parts.map((part, index) => (
          <Fragment key={part}>
            {index > 0 && <wbr />}
            {part}
          </Fragment>
        ))}
      </a>
      {end}
    </span>
  );
}
