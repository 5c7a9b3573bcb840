import { useEffect, useRef, useState } from "react";
import { Dialog } from "./actions.tsx";

/** Set when the operator has switched the keys off. */
const OFF = "inbox-keys-off";

/** Somebody types, or is asked something. */
export function isOccupied(): boolean {
  const isTyping = document.activeElement?.matches("input:not([type=checkbox]), textarea, select") ?? false;
  return isTyping || document.querySelector("dialog[open]") !== null;
}

/** Letters do something unless somebody types, a dialog is open, or the operator has switched them off. */
export function useKeys(keys: Readonly<Record<string, () => unknown>>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, repeat, defaultPrevented, isComposing, ctrlKey, metaKey, altKey } = event;
      if (defaultPrevented || isComposing || ctrlKey || metaKey || altKey || localStorage.getItem(OFF)) return;
      if (isOccupied()) return;
      const act = latest.current[key];
      // Whoever holds a key down goes on to the next row, but does nothing twice.
      if (!act || (repeat && key !== "j" && key !== "k")) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

const KEYS = [
  ["j", "Next message"],
  ["k", "Previous message"],
  ["o", "Open the message"],
  ["u", "Back to the list"],
  ["e", "Mark as answered; from a message, go on to the next"],
  ["x", "Select the message"],
  ["/", "Search"],
  ["?", "Show these keys"],
] as const;

/** A button that lists the keys, and the key that presses it. */
export function KeyHelp() {
  const [isOpen, setIsOpen] = useState(false);
  const [isOff, setIsOff] = useState(() => localStorage.getItem(OFF) !== null);
  useKeys({ "?": () => setIsOpen(true) });
  const toggle = () => {
    if (isOff) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, "1");
    setIsOff(!isOff);
  };
  return (
    <>
      <button type="button" className="status-keys" onClick={() => setIsOpen(true)}>
        Keys
      </button>
      {isOpen && (
        <Dialog title="Keys" onClose={() => setIsOpen(false)}>
          <dl className="keys">
            {KEYS.map(([key, name]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{name}</dd>
              </div>
            ))}
          </dl>
          <label className="dialog-check">
            <input type="checkbox" checked={!isOff} onChange={toggle} />
            Use these keys
          </label>
          <div className="dialog-actions">
            <button type="button" className="button button-outline" onClick={() => setIsOpen(false)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
