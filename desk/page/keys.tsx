import { Button, Kbd } from "@mantine/core";
import { useWindowEvent } from "@mantine/hooks";
import { useState } from "react";
import { Dialog, Facts } from "./parts.tsx";

export function isOccupied(): boolean {
  const isTyping = document.activeElement?.matches("input:not([type=checkbox]), textarea, select") ?? false;
  return isTyping || document.querySelector("dialog[open]") !== null;
}

export function useKeys(keys: Readonly<Record<string, () => unknown>>): void {
  useWindowEvent("keydown", (event) => {
    const { key, repeat, defaultPrevented, isComposing, ctrlKey, metaKey, altKey } = event;
    if (defaultPrevented || isComposing || ctrlKey || metaKey || altKey) return;
    const act = keys[key];
    // A key that is held down repeats only movement, no other action.
    if (!act || isOccupied() || (repeat && key !== "j" && key !== "k")) return;
    event.preventDefault();
    act();
  });
}

const KEYS = {
  j: "Next message",
  k: "Previous message",
  o: "Open the message",
  u: "Back to the list",
  r: "Reply; Ctrl+Enter sends, Ctrl+Shift+Enter also goes to the next unanswered message, Escape leaves the form",
  e: "Mark as answered; in a message, also go to the next one",
  "!": "Mark as spam; in a message, also go to the next one",
  z: "Undo the last mark, or take back a reply that waits",
  x: "Select the message",
  "/": "Search",
  "?": "Show these keys",
};

export function KeyHelp() {
  const [isOpen, setIsOpen] = useState(false);
  const open = () => setIsOpen(true);
  useKeys({ "?": open });
  return (
    <>
      <Button className="wide-only" variant="subtle" size="compact-sm" ml="auto" flex="none" onClick={open}>
        Keys
      </Button>
      {isOpen && (
        <Dialog title="Keys" close="Close" onClose={() => setIsOpen(false)}>
          <Facts facts={Object.entries(KEYS).map(([key, name]) => [<Kbd key={key}>{key}</Kbd>, name])} />
        </Dialog>
      )}
    </>
  );
}
