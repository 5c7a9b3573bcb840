import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { type ContactField, type ContactMessage, type FieldErrors, MAX_LENGTH } from "../contract/contact-message.ts";
import {
  MAX_PEOPLE,
  MAX_SEARCH_LENGTH,
  type MessageDetail,
  type MessageItem,
  type Person,
  type PersonAnswer,
  type RestrictRequest,
} from "../contract/inbox.ts";
import { Dialog, DialogError, type Notice, saveFile, useActions } from "./actions.tsx";
import { api } from "./api.ts";
import { useKeys } from "./keys.tsx";
import { allCountries, formatTime, Moment, plural, VisitorText } from "./labels.tsx";
import { EmptyPanel, FailurePanel, LoadingRows, ScreenTitle } from "./panels.tsx";
import { messageQuery, peopleQuery, personQuery, queryClient, reloadAll, useNow } from "./queries.ts";
import { MessageRows } from "./rows.tsx";

const CHANGED: Notice = {
  tone: "warning",
  text: "Nothing was changed.",
  details: ["This person’s messages changed meanwhile. Look again, then repeat it."],
};
const GONE: Notice = {
  tone: "warning",
  text: "Nothing was changed.",
  details: ["There are no messages of this address any more."],
};

const route = getRouteApi("/people");

export function PersonScreen() {
  const { email } = route.useSearch();
  if (email !== undefined) {
    return (
      <>
        <Link className="back" to="/people">
          People
        </Link>
        <ScreenTitle name="People">
          <VisitorText text={email} />
        </ScreenTitle>
        <PersonOf key={email} email={email} />
      </>
    );
  }
  return (
    <>
      <ScreenTitle name="People" />
      <p className="intro">
        All messages of an e-mail address: see, export, correct, restrict or erase them, as the privacy policy promises.
      </p>
      <FindPeople />
    </>
  );
}

function FindPeople() {
  const navigate = useNavigate({ from: "/people" });
  const { search = "" } = route.useSearch();
  const now = useNow();
  const { data: people, error, refetch } = useQuery({ ...peopleQuery(search), enabled: search !== "" });
  const find = (typed: string) =>
    navigate({ search: typed.trim() === "" ? {} : { search: typed.trim() }, replace: true, resetScroll: false });
  useKeys({ "/": () => document.getElementById("search")?.focus() });
  return (
    <>
      <search className="find-person">
        <label className="filter">
          <span className="filter-label">Any part of a name or an e-mail address</span>
          <input
            id="search"
            type="search"
            defaultValue={search}
            maxLength={MAX_SEARCH_LENGTH}
            onChange={(event) => find(event.target.value)}
          />
        </label>
      </search>
      <p className="visually-hidden" role="status">
        {search !== "" && people ? `${plural(people.length, "address")} found` : ""}
      </p>
      {error && !people && <FailurePanel error={error} onRetry={refetch} />}
      {search !== "" && people?.length === 0 && (
        <EmptyPanel title="Nobody found">
          <p>No message has this in its name or address.</p>
        </EmptyPanel>
      )}
      {search !== "" && people && people.length > 0 && (
        <ul className="rows" aria-label="People, who wrote last first">
          {people.map(({ name, email, lastAt, messages }) => (
            <li key={email} className="row">
              <Link className="row-link person-row" to="/people" search={{ email }} activeOptions={{ exact: true }}>
                <span className="row-name">
                  <VisitorText text={name} />
                </span>
                <span className="row-email">
                  <VisitorText text={email} />
                </span>
                <span className="row-country">{plural(messages, "message")}</span>
                <span className="row-age">
                  <Moment at={lastAt} now={now} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {people?.length === MAX_PEOPLE && search !== "" && (
        <p className="intro">These are the first {MAX_PEOPLE}. Type more of the name or address to find others.</p>
      )}
    </>
  );
}

type OpenDialog = { kind: "correct"; person: Person; first: MessageDetail } | { kind: "erase"; person: Person } | null;

function PersonOf({ email }: { email: string }) {
  const now = useNow();
  const actions = useActions();
  const { data: person, error, refetch } = useQuery(personQuery(email));
  const [dialog, setDialog] = useState<OpenDialog>(null);
  if (!person && error) return <FailurePanel error={error} onRetry={refetch} />;
  if (!person) return <LoadingRows label="Loading this person’s messages" count={4} />;
  const { messages, restricted, version } = person;
  if (messages.length === 0) {
    return (
      <EmptyPanel title="No messages">
        <p>There are no messages of this address, or no longer.</p>
      </EmptyPanel>
    );
  }

  // Loaded again, so that the form shows what is stored, and nothing else is saved back.
  const correct = () =>
    actions.attempt(`correct ${email}`, async () => {
      const person = await queryClient.fetchQuery(personQuery(email));
      const [first] = person.messages;
      if (!first) return GONE;
      setDialog({ kind: "correct", person, first: await queryClient.fetchQuery(messageQuery(first.reference)) });
      return null;
    });
  const exportPerson = () =>
    actions.attempt(`export ${email}`, async () => {
      const { fileName, contentType, text, count } = await api.exportPerson(email);
      saveFile(fileName, contentType, [text]);
      return { tone: "success", text: `${plural(count, "message")} exported as ${fileName}.` };
    });
  const restrict = (isRestricted: boolean) =>
    actions.attempt(`restrict ${email}`, () => restrictPerson({ email, version, isRestricted }));

  return (
    <>
      <PersonFacts person={person} />
      <div className="person-actions">
        <button type="button" className="button button-outline" onClick={exportPerson}>
          Export
        </button>
        <button type="button" className="button button-outline" onClick={correct}>
          Correct
        </button>
        {restricted !== "all" && (
          <button type="button" className="button button-outline" onClick={() => restrict(true)}>
            Restrict
          </button>
        )}
        {restricted !== "none" && (
          <button type="button" className="button button-outline" onClick={() => restrict(false)}>
            Lift restriction
          </button>
        )}
        <button
          type="button"
          className="button button-danger-outline"
          onClick={() => setDialog({ kind: "erase", person })}
        >
          Erase
        </button>
      </div>
      <MessageRows messages={messages} now={now} label="Messages of this person, newest first" />
      {dialog?.kind === "correct" && (
        <CorrectDialog person={dialog.person} first={dialog.first} onClose={() => setDialog(null)} />
      )}
      {dialog?.kind === "erase" && <EraseDialog person={dialog.person} onClose={() => setDialog(null)} />}
    </>
  );
}

function PersonFacts({ person: { messages, restricted } }: { person: Person }) {
  const names = [...new Set(messages.map(({ name }) => name))];
  const [newest, oldest] = [messages[0], messages.at(-1)];
  const isOnlyOne = messages.length === 1;
  return (
    <dl className="person-facts">
      <div>
        <dt>{names.length === 1 ? "Name" : "Names"}</dt>
        <dd>
          {names.map((name, index) => (
            <span key={name}>
              {index > 0 && ", "}
              <VisitorText text={name} />
            </span>
          ))}
        </dd>
      </div>
      <div>
        <dt>Wrote</dt>
        <dd>{plural(messages.length, "message")}</dd>
      </div>
      {newest && (
        <div>
          <dt>{isOnlyOne ? "On" : "Last on"}</dt>
          <dd>{formatTime(newest.acceptedAt)}</dd>
        </div>
      )}
      {oldest && !isOnlyOne && (
        <div>
          <dt>First on</dt>
          <dd>{formatTime(oldest.acceptedAt)}</dd>
        </div>
      )}
      {restricted !== "none" && (
        <div>
          <dt>Restricted</dt>
          <dd>{restricted === "all" ? "All messages: kept, but not used" : "Some messages: kept, but not used"}</dd>
        </div>
      )}
    </dl>
  );
}

interface PersonDialogProps {
  /** As it was when the dialog opened: what the operator decides about. */
  person: Person;
  onClose: () => void;
}

const LABEL: Readonly<Record<ContactField, string>> = {
  name: "Name",
  email: "E-mail address",
  phone: "Phone",
  country: "Country",
  message: "Message",
};

const FIELDS = ["name", "email", "phone", "country", "message"] as const;

function CorrectDialog({ person, first, onClose }: PersonDialogProps & { first: MessageDetail }) {
  const { email, version, messages, hasFootprint } = person;
  const actions = useActions();
  const navigate = useNavigate();
  const form = useRef<HTMLFormElement>(null);
  const isOnlyOne = messages.length === 1;
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: api.correct,
    async onSuccess(answer, { changes }) {
      if (answer.outcome === "invalid") return;
      onClose();
      const newEmail = changes.email?.trim() ?? email;
      if (answer.outcome === "done" && newEmail !== email)
        await navigate({ to: "/people", search: { email: newEmail } });
      await reloadAll();
      actions.showNotice(noticeOf(answer, ({ messages }) => `${plural(messages, "message")} corrected.`));
    },
  });
  const errors: FieldErrors = data?.outcome === "invalid" ? data.fields : {};
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each answer
  useEffect(() => form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus(), [data]);

  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget);
    const changes: Partial<ContactMessage> = {};
    for (const field of FIELDS) {
      const value = typed.get(field);
      if (typeof value === "string" && value.replaceAll("\r\n", "\n") !== first[field]) changes[field] = value;
    }
    const removesFootprint = typed.has("removes-footprint");
    if (Object.keys(changes).length === 0 && !removesFootprint) onClose();
    else if (!isPending) mutate({ email, version, changes, removesFootprint });
  };

  return (
    <Dialog title={isOnlyOne ? "Correct this message" : `Correct all ${messages.length} messages`} onClose={onClose}>
      <p className="dialog-note">
        What you change here changes in {isOnlyOne ? "the message" : "every message of this address"}.{" "}
        {hasFootprint && "Another country gives another footprint estimate. "}E-mails that were already sent stay as
        they are.
      </p>
      <form className="dialog-form" ref={form} onSubmit={save} noValidate>
        <TextField field="name" value={first.name} error={errors.name} />
        <TextField field="email" value={first.email} error={errors.email} />
        <TextField field="phone" value={first.phone} error={errors.phone} />
        <CountryField value={first.country} error={errors.country} />
        {isOnlyOne && <TextField field="message" value={first.message} error={errors.message} />}
        {hasFootprint && (
          <label className="dialog-check">
            <input type="checkbox" name="removes-footprint" />
            {isOnlyOne ? "Remove the footprint estimate" : "Remove all footprint estimates"}
          </label>
        )}
        <DialogError error={error} />
        <div className="dialog-actions">
          <button type="button" className="button button-outline" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button button-primary">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface FieldProps {
  value: string;
  error: string | undefined;
}

function TextField({ field, value, error }: FieldProps & { field: Exclude<ContactField, "country"> }) {
  const id = useId();
  const common = {
    id,
    name: field,
    defaultValue: value,
    maxLength: MAX_LENGTH[field],
    autoComplete: "off",
    ...invalidProps(id, error),
  };
  return (
    <div className="filter">
      <label className="filter-label" htmlFor={id}>
        {LABEL[field]}
      </label>
      {field === "message" ? (
        <textarea rows={6} dir="auto" {...common} />
      ) : (
        <input type="text" dir="auto" {...common} />
      )}
      <FieldError id={`${id}-error`} error={error} />
    </div>
  );
}

function CountryField({ value, error }: FieldProps) {
  const id = useId();
  return (
    <div className="filter">
      <label className="filter-label" htmlFor={id}>
        {LABEL.country}
      </label>
      <select id={id} name="country" defaultValue={value} {...invalidProps(id, error)}>
        <option value="">No country</option>
        {allCountries().map(([code, name]) => (
          <option key={code} value={code}>
            {name}
          </option>
        ))}
      </select>
      <FieldError id={`${id}-error`} error={error} />
    </div>
  );
}

const invalidProps = (id: string, error: string | undefined) =>
  error ? { "aria-invalid": true, "aria-describedby": `${id}-error` } : {};

function FieldError({ id, error }: { id: string; error: string | undefined }) {
  return error ? (
    <p className="field-error" id={id}>
      {error}
    </p>
  ) : null;
}

function EraseDialog({ person: { email, version, messages }, onClose }: PersonDialogProps) {
  const actions = useActions();
  const [typed, setTyped] = useState("");
  const isSame = typed.trim().toLowerCase() === email.trim().toLowerCase();
  const count = plural(messages.length, "message");
  const { mutate, error, isPending } = useMutation({
    mutationFn: api.erase,
    async onSuccess(answer) {
      onClose();
      await reloadAll();
      const done = ({ messages, files }: { messages: number; files: number }) =>
        `${plural(messages, "message")} and ${plural(files, ".eml file")} erased.`;
      actions.showNotice(noticeOf(answer, done));
    },
  });
  const erase = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isSame && !isPending) mutate({ email, version, confirmation: typed.trim() });
  };

  return (
    <Dialog title={`Erase ${count}?`} onClose={onClose}>
      <p>
        Removes {count} of <VisitorText text={email} />, every trace of them in the database’s files, and their .eml
        files on this machine. It cannot be undone, and it reaches neither backups nor e-mails that were already sent.
      </p>
      {messages.some(({ hook }) => hook === "delivered") && (
        <p>The receiver of the web hook (HOOK_URL) has a copy, which has to be erased there.</p>
      )}
      <WaitingNote messages={messages} />
      <form className="dialog-form" onSubmit={erase}>
        <label className="filter">
          <span className="filter-label">Type the address to confirm</span>
          <input
            type="text"
            inputMode="email"
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
        <DialogError error={error} />
        <div className="dialog-actions">
          <button type="button" className="button button-outline" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button button-danger" disabled={!isSame}>
            Erase {count}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function WaitingNote({ messages }: { messages: readonly MessageItem[] }) {
  const waiting = messages.filter(({ state }) => state === "queued" || state === "failed").length;
  if (waiting === 0) return null;
  return <p>{plural(waiting, "message")} of these never reached the team.</p>;
}

/** Restricts all messages of an address, or lifts the restriction. */
export async function restrictPerson(request: RestrictRequest): Promise<Notice> {
  const answer = await api.restrict(request);
  await reloadAll();
  const done = request.isRestricted ? "restricted: kept, but neither sent nor deleted" : "free to be used again";
  return noticeOf(answer, ({ messages }) => `${plural(messages, "message")} of this address ${done}.`);
}

function noticeOf(answer: PersonAnswer, done: (answer: { messages: number; files: number }) => string): Notice {
  if (answer.outcome === "done") return { tone: "success", text: done(answer) };
  if (answer.outcome === "invalid") {
    return { tone: "failure", text: "Nothing was changed.", details: Object.values(answer.fields) };
  }
  return answer.outcome === "gone" ? GONE : CHANGED;
}
