import { Button, Checkbox, Kbd } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { Dialog, Facts } from "./parts.tsx";

/** Set when the operator has switched the keys off. */
const OFF = "inbox-keys-off";

/** The operator types, chooses from a menu, or is asked something. */
export function isOccupied(): boolean {
  const isTyping = document.activeElement?.matches("input:not([type=checkbox]), textarea, select") ?? false;
  return isTyping || document.querySelector("dialog[open], [role=menu]") !== null;
}

/** Shortcuts work unless the operator is occupied or has switched them off. */
export function useKeys(keys: Readonly<Record<string, () => unknown>>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, repeat, defaultPrevented, isComposing, ctrlKey, metaKey, altKey } = event;
      if (defaultPrevented || isComposing || ctrlKey || metaKey || altKey || localStorage.getItem(OFF)) return;
      const act = latest.current[key];
      // A key that is held down moves on, but repeats no action.
      if (!act || isOccupied() || (repeat && key !== "j" && key !== "k")) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

const KEYS = {
  j: "Next message",
  k: "Previous message",
  o: "Open the message",
  u: "Back to the list",
  r: "Reply; Ctrl+Enter sends, Escape leaves the text",
  e: "Mark as answered; from a message, go on to the next",
  "!": "Mark as spam; from a message, go on to the next",
  z: "Undo what was marked last",
  x: "Select the message",
  "/": "Search",
  "?": "Show these keys",
};

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
      <Button
        className="wide-only"
        variant="subtle"
        size="compact-sm"
        ml="auto"
        flex="none"
        onClick={() => setIsOpen(true)}
      >
        Keys
      </Button>
      {isOpen && (
        <Dialog title="Keys" close="Close" onClose={() => setIsOpen(false)}>
          <Facts
            labelWidth="2.5rem"
            facts={Object.entries(KEYS).map(([key, name]) => [<Kbd key={key}>{key}</Kbd>, name])}
          />
          <Checkbox label="Use these keys" checked={!isOff} onChange={toggle} />
        </Dialog>
      )}
    </>
  );
}
