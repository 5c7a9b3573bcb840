import { useSyncExternalStore } from "react";

/** A value outside of React that components can follow. */
export function createSignal<Value>(value: Value) {
  const listeners = new Set<() => void>();
  const get = () => value;
  const follow = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return {
    get,
    set(next: Value) {
      value = next;
      for (const listener of listeners) listener();
    },
    use: () => useSyncExternalStore(follow, get),
  };
}
