import { site } from "virtual:site";
import { Alert, Button, Group, Paper, Stack, Table, Text } from "@mantine/core";
import { useDidUpdate, useDocumentTitle, useInterval, useWindowEvent } from "@mantine/hooks";
import {
  type FormEvent,
  type ReactNode,
  type SyntheticEvent,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { Mark } from "../../app/components/mark.tsx";
import { hiddenIn, visible } from "../../contract/text.ts";
import { describeFailure, useLive } from "./api.ts";
import { formatNumber } from "./format.ts";

/** The heading of a screen: it gets the focus when the screen opens. `name` is for the browser's tab. */
export function ScreenTitle({ name, children = name }: { name: string; children?: ReactNode }) {
  const { counts, hasNewAnswer } = useLive();
  const unanswered = counts?.unanswered ?? 0;
  const news = `${unanswered > 0 ? `(${formatNumber(unanswered)}) ` : ""}${hasNewAnswer ? "New answer – " : ""}`;
  useDocumentTitle(`${news}${name} – ${site.brand} inbox`);
  return (
    <h1 id="screen-title" tabIndex={-1}>
      {children}
    </h1>
  );
}

export const focusTitle = () => document.getElementById("screen-title")?.focus({ preventScroll: true });

export function EmptyPanel({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Stack align="center" ta="center" py="4rem" gap="sm">
      <Mark />
      <h2>{title}</h2>
      <div>{children}</div>
    </Stack>
  );
}

export const FailurePanel = ({ error, onRetry }: { error: unknown; onRetry: () => unknown }) => (
  <Alert color="red" title={<h2>This could not be loaded</h2>}>
    <p>{describeFailure(error)}</p>
    <Button mt="sm" onClick={onRetry}>
      Try again
    </Button>
  </Alert>
);

interface LoadedProps<Data> {
  query: { data: Data | undefined; error: unknown; refetch: () => unknown };
  children: (data: Data) => ReactNode;
}

export function Loaded<Data>({ query: { data, error, refetch }, children }: LoadedProps<Data>) {
  if (data !== undefined) return children(data);
  return error ? <FailurePanel error={error} onRetry={refetch} /> : <p className="soft">Loading …</p>;
}

export function Card({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <Paper component="section" withBorder className="stack" p="md" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </Paper>
  );
}

type Fact = readonly [name: ReactNode, value: ReactNode] | false | null | undefined;

export const Facts = ({ facts }: { facts: readonly Fact[] }) => (
  <Table className="facts" data={{ body: facts.filter((fact) => !!fact).map(([name, value]) => [name, value]) }} />
);

export interface DialogProps {
  title: string;
  onClose: () => void;
  close?: string;
  confirm?: string;
  onConfirm?: (event: FormEvent<HTMLFormElement>) => void;
  color?: "red";
  disabled?: boolean;
  /** Shown in the dialog, because the page behind it is not accessible. */
  error?: unknown;
  children: ReactNode;
}

/** Modal for as long as it is rendered; Escape closes it. The focus returns to where it was. */
export function Dialog(props: DialogProps) {
  const { title, children, onClose, close = "Cancel", confirm, onConfirm, error, color, disabled = false } = props;
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const instead = (act?: (event: FormEvent<HTMLFormElement>) => void) => (event: SyntheticEvent) => {
    event.preventDefault();
    act?.(event as FormEvent<HTMLFormElement>);
  };
  return (
    <dialog ref={element} aria-labelledby="dialog-title" onCancel={instead(onClose)}>
      <form className="stack" onSubmit={instead(onConfirm)} noValidate>
        <h2 id="dialog-title">{title}</h2>
        {children}
        <Failure text={error ? describeFailure(error) : null} />
        <Group justify="end">
          <Button onClick={onClose}>{close}</Button>
          {confirm && (
            <Button type="submit" variant="filled" disabled={disabled} {...(color && { color })}>
              {confirm}
            </Button>
          )}
        </Group>
      </form>
    </dialog>
  );
}

/** Always rendered, so that screen readers announce a text that is added later. */
export const Failure = ({ text }: { text: string | null }) => (
  <Text role="alert" c="red" size="sm">
    {text}
  </Text>
);

const FIELD = "input:not([type=checkbox]), textarea, select";

/** New data above the field in which somebody types scrolls the page, so that the field stays where it is. */
export function useSteadyField(data: unknown): void {
  const place = useRef<{ field: Element; top: number } | null>(null);
  const note = () => {
    const field = document.activeElement;
    place.current = field?.matches(FIELD) ? { field, top: field.getBoundingClientRect().top } : null;
  };
  useWindowEvent("focusin", note);
  useWindowEvent("input", note);
  useWindowEvent("scroll", note, true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is above a field changes with the data
  useLayoutEffect(() => {
    const main = document.getElementById("main");
    const { field, top } = place.current ?? {};
    if (main && field?.isConnected && top !== undefined) main.scrollTop += field.getBoundingClientRect().top - top;
  }, [data]);
}

const LONGEST_TICK_MS = 3_600_000;

/** Updated every half minute, after every change and at the given time, because ages grow without changes too. */
export function useNow(at: Date | null = null): Date {
  const [now, setNow] = useState(() => new Date());
  const { token } = useLive();
  const tick = () => setNow(new Date());
  useInterval(tick, 30_000, { autoInvoke: true });
  useDidUpdate(tick, [token]);
  const atMs = at?.getTime() ?? 0;
  useEffect(() => {
    const waitMs = atMs - Date.now();
    if (waitMs <= 0 || waitMs > LONGEST_TICK_MS) return;
    const timer = setTimeout(() => setNow(new Date()), waitMs + 1);
    return () => clearTimeout(timer);
  }, [atMs]);
  return now;
}

/** In a text from right to left, its groups would change places; and no line ends inside it. */
const TELEPHONE = String.raw`\+?\p{Nd}(?:[ ()/.-]{0,2}\p{Nd}){6,17}`;

/** Makes hidden characters visible, also line ends unless `isMultiline`. Isolates right-to-left text, and numbers in it. */
export function VisitorText({ text, isMultiline = false }: { text: string; isMultiline?: boolean }) {
  const parts = text.split(new RegExp(`(${hiddenIn(text).source}|${TELEPHONE})`, "u"));
  return (
    <bdi dir="auto">
      {parts.map((part, index) => {
        if (index % 2 === 0 || (isMultiline && part === "\n")) return part;
        if (part.length > 2)
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
            <bdi key={index} className="telephone" dir="ltr">
              {part}
            </bdi>
          );
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
          <mark key={index} title="A hidden character in the text">
            {visible(part)}
          </mark>
        );
      })}
    </bdi>
  );
}
