import { Button, Checkbox, Group, NativeSelect, Textarea, TextInput } from "@mantine/core";
import { useWindowEvent } from "@mantine/hooks";
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import {
  CONTACT_FIELDS,
  COUNTRY_CODES,
  type ContactField,
  type ContactMessage,
  FIELD_NAMES,
  type FieldErrors,
} from "../../contract/contact-message.ts";
import { attempt, LostDrafts, type Notice, notify, saveAs, undoLast } from "./actions.tsx";
import { call, type Person, reloadAll, trpc } from "./api.ts";
import { discard } from "./draft.ts";
import { countryName, plural } from "./format.ts";
import { useKeys } from "./keys.tsx";
import { Dialog, EmptyPanel, Loaded, ScreenTitle, useNow, VisitorText } from "./parts.tsx";
import { MessageRows } from "./rows.tsx";

const route = getRouteApi("/people");

const COUNTRIES = [...COUNTRY_CODES]
  .map((value) => ({ value, label: countryName(value) }))
  .sort((one, other) => one.label.localeCompare(other.label));

export function PersonScreen() {
  const { email } = route.useSearch();
  return <OnePerson key={email} email={email} />;
}

function OnePerson({ email }: { email: string }) {
  /** Outside of the data, so that it keeps what is typed if the messages go. */
  const [dialog, setDialog] = useState<ReactNode>(null);
  useKeys({ z: () => undoLast() });
  const query = useQuery(trpc.person.queryOptions({ email }));
  return (
    <>
      <Link className="back" to="/">
        Messages
      </Link>
      <ScreenTitle name="Person">
        <VisitorText text={email} />
      </ScreenTitle>
      <Loaded query={query}>
        {(person) =>
          person.messages.length > 0 ? (
            <PersonOf person={person} show={setDialog} />
          ) : (
            <EmptyPanel title="No messages">There are no messages from this address.</EmptyPanel>
          )
        }
      </Loaded>
      {dialog}
    </>
  );
}

function PersonOf({ person, show }: { person: Person; show: (dialog: ReactNode) => void }) {
  const now = useNow();
  const { email, messages, restricted } = person;
  const close = () => show(null);
  const restrict = (isRestricted: boolean) =>
    attempt(`restrict ${email}`, () => restrictPerson({ email, isRestricted }));
  return (
    <>
      <Group gap="xs">
        <Button onClick={() => saveAs("privacy-export.json", { email })}>Export</Button>
        <Button onClick={() => show(<CorrectDialog person={person} onClose={close} />)}>Correct</Button>
        {restricted !== "all" && <Button onClick={() => restrict(true)}>Restrict</Button>}
        {restricted !== "none" && <Button onClick={() => restrict(false)}>Lift restriction</Button>}
        <Button variant="outline" color="red" onClick={() => show(<EraseDialog person={person} onClose={close} />)}>
          Erase
        </Button>
      </Group>
      <MessageRows messages={messages} now={now} label="Messages from this person, newest first" />
    </>
  );
}

interface PersonDialogProps {
  /** The person when the dialog opened, which is what the operator decides about. */
  person: Person;
  onClose: () => void;
}

export function CorrectDialog({ person: { email, messages, hasFootprint }, onClose }: PersonDialogProps) {
  const navigate = useNavigate();
  const isOnlyOne = messages.length === 1;
  const [first] = messages;
  const { mutate, data, error, isPending } = useMutation(
    trpc.correct.mutationOptions({
      async onSuccess(answer, { changes }) {
        if (answer.outcome === "invalid") return;
        onClose();
        const newEmail = changes.email?.trim() ?? email;
        if (newEmail !== email && location.pathname === "/people")
          await navigate({ to: "/people", search: { email: newEmail } });
        await reloadAll();
        notify(noticeOf(answer.messages, "corrected"));
      },
    }),
  );
  const errors: FieldErrors = data?.outcome === "invalid" ? data.fields : {};
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each answer
  useEffect(() => document.querySelector<HTMLElement>("dialog [aria-invalid=true]")?.focus(), [data]);
  useWindowEvent("beforeunload", (event) => {
    const form = document.querySelector<HTMLFormElement>("dialog form");
    if (form && Object.keys(changesIn(form)).length > 0) event.preventDefault();
  });
  if (!first) return null;

  const changesIn = (form: HTMLFormElement) => {
    const typed = new FormData(form);
    const changes: Partial<ContactMessage> = {};
    for (const field of FIELD_NAMES) {
      const value = String(typed.get(field) ?? first[field]);
      if (value.replaceAll("\r\n", "\n") !== first[field]) changes[field] = value;
    }
    return changes;
  };
  const save = ({ currentTarget: form }: FormEvent<HTMLFormElement>) => {
    const changes = changesIn(form);
    const footprint = new FormData(form).has("removes-footprint") ? "none" : undefined;
    if (Object.keys(changes).length === 0 && !footprint) onClose();
    else if (!isPending) mutate({ email, changes, footprint });
  };
  const input = (name: ContactField) => {
    const { label, maxLength, input: kind } = CONTACT_FIELDS[name];
    const native = { name, label, defaultValue: first[name], error: errors[name], autoComplete: "off" };
    if (kind === "country") {
      const data = [{ value: "", label: "No country" }, ...COUNTRIES];
      return <NativeSelect key={name} {...native} data={data} />;
    }
    const text = { ...native, maxLength, dir: "auto" };
    if (kind !== "textarea") return <TextInput key={name} {...text} />;
    // The same long text in every message would be a mistake.
    return isOnlyOne && <Textarea key={name} rows={6} {...text} />;
  };
  const title = isOnlyOne ? "Correct this message" : `Correct all ${messages.length} messages`;
  return (
    <Dialog title={title} confirm="Save" onConfirm={save} onClose={onClose} error={error}>
      <p>
        Your changes apply to {isOnlyOne ? "this message" : "every message from this address"}.{" "}
        {hasFootprint && "A footprint estimate is kept or removed, never computed again. "}Emails that were already sent
        do not change.
      </p>
      {FIELD_NAMES.map(input)}
      {hasFootprint && (
        <Checkbox
          name="removes-footprint"
          label={isOnlyOne ? "Remove the footprint estimate" : "Remove all footprint estimates"}
        />
      )}
    </Dialog>
  );
}

function EraseDialog({ person: { email, messages }, onClose }: PersonDialogProps) {
  const [typed, setTyped] = useState("");
  const isSame = typed.trim().toLowerCase() === email.trim().toLowerCase();
  const count = plural(messages.length, "message");
  const { mutate, error, isPending } = useMutation(
    trpc.erase.mutationOptions({
      async onSuccess(answer) {
        onClose();
        await reloadAll();
        for (const { reference } of messages) discard(reference);
        const details = answer.leftFiles.map((file) => `${file} may hold this person too: delete it.`);
        notify({ ...noticeOf(answer.messages, `and ${plural(answer.files, ".eml file")} erased`), details });
      },
    }),
  );
  return (
    <Dialog
      title={`Erase ${count}?`}
      confirm={`Erase ${count}`}
      color="red"
      disabled={!isSame}
      onConfirm={() => isSame && !isPending && mutate({ email })}
      onClose={onClose}
      error={error}
    >
      <p>
        Removes {count} from <VisitorText text={email} />, every trace of them in the database’s files, and their .eml
        files on this machine. This cannot be undone. It does not change backups, emails that were already sent, or what
        the receiver of HOOK_URL has: tell whoever has copies.
      </p>
      <LostDrafts messages={messages} />
      <TextInput
        label="Type the address to confirm"
        inputMode="email"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
    </Dialog>
  );
}

async function restrictPerson(request: Parameters<typeof call.restrict.mutate>[0]): Promise<Notice> {
  const { messages } = await call.restrict.mutate(request);
  await reloadAll();
  const done = request.isRestricted ? "restricted: kept, but neither sent nor deleted" : "no longer restricted";
  return noticeOf(messages, `from this address ${done}`);
}

function noticeOf(messages: number, done: string): Notice {
  return { tone: "success", text: `${plural(messages, "message")} ${done}.` };
}
