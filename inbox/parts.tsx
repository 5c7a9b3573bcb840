import { Alert, Button, DataList, Group, Paper, Progress, Skeleton, Stack, Text } from "@mantine/core";
import { useDidUpdate, useDocumentTitle, useInterval } from "@mantine/hooks";
import { type FormEvent, type ReactNode, type SyntheticEvent, useLayoutEffect, useRef, useState } from "react";
import { Mark } from "../app/components/mark.tsx";
import { site } from "../app/site.ts";
import { describeFailure, useLive } from "./api.ts";
import { formatNumber } from "./labels.tsx";

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

export function FailurePanel({ error, onRetry }: { error: unknown; onRetry: () => unknown }) {
  return (
    <Alert color="red" title={<h2>This could not be loaded</h2>}>
      <p>{describeFailure(error)}</p>
      <Button mt="sm" onClick={onRetry}>
        Try again
      </Button>
    </Alert>
  );
}

interface LoadedProps<Data> {
  query: { data: Data | undefined; error: unknown; refetch: () => unknown };
  /** Read by screen readers while the data loads. */
  label: string;
  children: (data: Data) => ReactNode;
}

/** Renders the loaded data. Until then, renders grey rows, or the error. */
export function Loaded<Data>({ query: { data, error, refetch }, label, children }: LoadedProps<Data>) {
  if (data !== undefined) return children(data);
  if (error) return <FailurePanel error={error} onRetry={refetch} />;
  return (
    <div>
      <span className="visually-hidden">{label}</span>
      {[1, 2, 3, 4].map((row) => (
        <Skeleton key={row} height="4rem" mb="xs" aria-hidden="true" />
      ))}
    </div>
  );
}

/** A part of the screen that screen readers find by its heading. */
export function Card({ title, id, children }: { title: string; id: string; children: ReactNode }) {
  return (
    <Paper component="section" withBorder className="stack" p="md" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </Paper>
  );
}

export type Fact = readonly [name: ReactNode, value: ReactNode] | false | null | undefined;

export function Facts({ facts, labelWidth = "6.5rem" }: { facts: readonly Fact[]; labelWidth?: string }) {
  return (
    <DataList size="md" gap={6} labelWidth={labelWidth}>
      {facts.map(
        (fact, index) =>
          fact && (
            // biome-ignore lint/suspicious/noArrayIndexKey: facts keep their order
            <DataList.Item key={index}>
              <DataList.ItemLabel>{fact[0]}</DataList.ItemLabel>
              <DataList.ItemValue>{fact[1]}</DataList.ItemValue>
            </DataList.Item>
          ),
      )}
    </DataList>
  );
}

interface BarsProps {
  data: readonly (readonly [label: string, value: number])[];
  format: (value: number) => string;
}

/** A bar consists only of its colour, so forced colours would hide it. */
const IN_COLOR = { forcedColorAdjust: "none" } as const;

export function Bars({ data, format }: BarsProps) {
  const highest = Math.max(...data.map(([, value]) => value)) || 1;
  const percent = (value: number) => (value / highest) * 100;
  return (
    <ul className="plain stack" style={IN_COLOR}>
      {data.map(([label, value]) => (
        <li key={label}>
          <Group justify="space-between" wrap="nowrap">
            <span>{label}</span> <span>{format(value)}</span>
          </Group>
          <Progress value={percent(value)} size="md" color="var(--bar)" bg="var(--mist)" aria-hidden="true" />
        </li>
      ))}
    </ul>
  );
}

export interface DialogProps {
  title: string;
  onClose: () => void;
  /** The label of the button that closes the dialog. */
  close?: string;
  /** The label of the button that confirms; absent if there is no such button. */
  confirm?: string;
  onConfirm?: (event: FormEvent<HTMLFormElement>) => void;
  /** The colour of the button that confirms. */
  color?: "red";
  disabled?: boolean;
  /** Shown in the dialog, because the page behind it is not accessible. */
  error?: unknown;
  children: ReactNode;
}

/** Modal for as long as it is rendered; Escape closes it. The focus returns to where it was. */
export function Dialog(props: DialogProps) {
  const { title, children, onClose, close = "Cancel", confirm, onConfirm, error, ...button } = props;
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
            <Button type="submit" variant="filled" {...button}>
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

/** The current time, updated every half minute and after every change, because ages grow without changes too. */
export function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  const { token } = useLive();
  const tick = () => setNow(new Date());
  useInterval(tick, 30_000, { autoInvoke: true });
  useDidUpdate(tick, [token]);
  return now;
}
