import type { Link } from "../site.ts";

export type ButtonLook = "primary" | "outline" | "quiet";

/** Looks like a button, and leads somewhere, so it is a link. */
export function ButtonLink({ link, look }: { link: Link; look: ButtonLook }) {
  return (
    <a className={`button button-${look}`} href={link.href}>
      {link.label}
    </a>
  );
}
