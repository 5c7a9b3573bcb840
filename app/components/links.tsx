import { Fragment } from "react";
import { type Link, site } from "../site.ts";

export type ButtonLook = "primary" | "outline" | "quiet";

/** Looks like a button, but leads to another page, so it is a link. */
export function ButtonLink({ link, look }: { link: Link; look: ButtonLook }) {
  return (
    <a className={`button button-${look}`} href={link.href}>
      {link.label}
    </a>
  );
}

/** In one piece where a line has room for it; else it breaks after the `@`, or before a dot. */
export function ContactEmail() {
  const parts = site.contactEmail.split(/(?<=@)|(?=\.)/);
  return (
    <a className="email" href={`mailto:${site.contactEmail}`}>
      {parts.map((part, index) => (
        <Fragment key={part}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </a>
  );
}
