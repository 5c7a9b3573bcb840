import { Alert, Button, Group, Paper, Stack, Table, Text } from "@mantine/core";
import { useDidUpdate, useDocumentTitle, useInterval } from "@mantine/hooks";
import { type FormEvent, type ReactNode, type SyntheticEvent, useId, useLayoutEffect, useRef, useState } from "react";
import { Mark } from "../app/components/mark.tsx";
import { site } from "../app/site.ts";
import { HIDDEN_CHARACTER, visible } from "../contract/text.ts";
import { describeFailure, useLive } from "./api.ts";
import { formatNumber } from "./words.ts";

/** The heading of a screen: it gets the focus when the screen opens. `name` is for the browser's tab. */
export function ScreenTitle({ name, children = name }: { name: string; children?: ReactNode }) {
  const unanswered = useLive().counts?.unanswered ?? 0;
  useDocumentTitle(`${unanswered > 0 ? `(${formatNumber(unanswered)}) ` : ""}${name} – ${site.brand} inbox`);
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
        <Failure error={error} />
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
export function Failure({ error }: { error: unknown }) {
  return (
    <Text role="alert" c="red" size="sm">
      {error ? describeFailure(error) : null}
    </Text>
  );
}

/** Updated every half minute and after every change, because ages grow without changes too. */
export function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  const { token } = useLive();
  const tick = () => setNow(new Date());
  useInterval(tick, 30_000, { autoInvoke: true });
  useDidUpdate(tick, [token]);
  return now;
}

const HIDDEN_OR_NOT = new RegExp(`(${HIDDEN_CHARACTER.source})`, "u");

/** Makes hidden characters visible, also line ends unless `isMultiline`. Isolates right-to-left text. */
export function VisitorText({ text, isMultiline = false }: { text: string; isMultiline?: boolean }) {
  const parts = text.split(HIDDEN_OR_NOT);
  return (
    <bdi dir="auto">
      {parts.map((part, index) => {
        if (index % 2 === 0 || (isMultiline && part === "\n")) return part;
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
