import { type MenuItem, site } from "../site.ts";
import { ButtonLink } from "./links.tsx";
import { Mark } from "./mark.tsx";

const SMALL_MENU_ID = "menu";

export function Header({ isOverlaid }: { isOverlaid: boolean }) {
  return (
    <header className={isOverlaid ? "header header-overlaid" : "header"}>
      <a className="logo" href="/" aria-label={`${site.brand}, home`}>
        <Mark />
        <span className="wordmark">{site.brand}</span>
      </a>
      <nav className="menu-wide" aria-label="Main">
        <ul>
          {site.menu.map((item) => (
            <li key={item.label}>
              <Label item={item} text={item.label} />
            </li>
          ))}
        </ul>
        <ButtonLink link={site.openAccount} look="outline" />
        <ButtonLink link={site.login} look="quiet" />
      </nav>
      <SmallMenu />
    </header>
  );
}

/** A native popover: it opens without script, its state is announced, and Escape or a press outside closes it. */
function SmallMenu() {
  return (
    <>
      <button type="button" className="menu-toggle" popoverTarget={SMALL_MENU_ID} aria-label="Menu">
        <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" focusable="false">
          <path className="menu-toggle-top" d="M3 8h18" />
          <path className="menu-toggle-bottom" d="M3 16h18" />
        </svg>
      </button>
      <nav id={SMALL_MENU_ID} className="menu-small" popover="auto" aria-label="Menu">
        <ul>
          {site.menu.map((item) => (
            <li key={item.label}>
              <Label item={item} text={item.smallScreenLabel ?? item.label} />
            </li>
          ))}
        </ul>
        <ButtonLink link={site.openAccount} look="primary" />
        <ButtonLink link={site.login} look="outline" />
      </nav>
    </>
  );
}

function Label({ item, text }: { item: MenuItem; text: string }) {
  return item.href === undefined ? <span>{text}</span> : <a href={item.href}>{text}</a>;
}
