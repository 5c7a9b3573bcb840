import { site } from "virtual:site";
import type { MenuItem } from "../site-schema.ts";
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

/**
 * A native popover: it opens without script, screen readers announce its state, and Escape closes it. A button behind
 * it receives presses outside the menu, so that they do not reach the page. The menu gets the focus when it opens;
 * header.css keeps the focus in it until it closes.
 */
function SmallMenu() {
  return (
    <>
      <button type="button" className="menu-toggle" popoverTarget={SMALL_MENU_ID} aria-label="Menu">
        <svg className="icon" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
          <path className="menu-toggle-top" d="M3 8h18" />
          <path className="menu-toggle-bottom" d="M3 16h18" />
        </svg>
      </button>
      {/* biome-ignore lint/a11y/noAutofocus: in a popover it takes effect when the popover opens, not when the page loads */}
      <nav id={SMALL_MENU_ID} className="menu-small" popover="auto" aria-label="Menu" tabIndex={-1} autoFocus>
        <div className="menu-panel">
          <ul>
            {site.menu.map((item) => (
              <li key={item.label}>
                <Label item={item} text={item.smallScreenLabel ?? item.label} />
              </li>
            ))}
          </ul>
          <ButtonLink link={site.openAccount} look="primary" />
          <ButtonLink link={site.login} look="outline" />
        </div>
        <button
          type="button"
          className="menu-outside"
          popoverTarget={SMALL_MENU_ID}
          popoverTargetAction="hide"
          aria-hidden="true"
          tabIndex={-1}
        />
      </nav>
    </>
  );
}

function Label({ item, text }: { item: MenuItem; text: string }) {
  return item.href === undefined ? <span>{text}</span> : <a href={item.href}>{text}</a>;
}
