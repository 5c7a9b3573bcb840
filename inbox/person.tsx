import { type FormEvent, useId, useState } from "react";
import { type ContactField, type ContactMessage, type FieldErrors, MAX_LENGTH } from "../contract/contact-message.ts";
import type { MessageItem, Person, PersonAnswer } from "../contract/inbox.ts";
import { Dialog, type Notice, saveFile, useActions } from "./actions.tsx";
import { api } from "./api.ts";
import { allCountries, formatTime, plural, VisitorText } from "./labels.tsx";
import { EmptyPanel, FailurePanel, LoadingRows } from "./panels.tsx";
import { useNow, useQuery } from "./queries.tsx";
import { hrefOf, Link, navigate } from "./router.tsx";
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

export function PersonScreen({ email }: { email: string }) {
  if (email !== "") {
    return (
      <>
        <Link className="back" href={hrefOf({ screen: "person", email: "" })}>
          People
        </Link>
        <h1 id="screen-title" tabIndex={-1}>
          <VisitorText text={email} />
        </h1>
        <PersonOf email={email} />
      </>
    );
  }
  return (
    <>
      <h1 id="screen-title" tabIndex={-1}>
        People
      </h1>
      <p className="intro">
        All messages of an e-mail address: see, export, correct, restrict or erase them, as the privacy policy promises.
      </p>
      <FindPerson />
    </>
  );
}

function FindPerson() {
  const find = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget).get("email");
    if (typeof typed === "string") navigate(hrefOf({ screen: "person", email: typed.trim() }));
  };
  return (
    <search>
      <form className="find-person" onSubmit={find}>
        <label className="filter">
          <span className="filter-label">E-mail address</span>
          <input type="email" name="email" maxLength={MAX_LENGTH.email} required />
        </label>
        <button type="submit" className="button button-outline">
          Show messages
        </button>
      </form>
    </search>
  );
}

type OpenDialog = { kind: "correct" | "erase"; person: Person } | null;

function PersonOf({ email }: { email: string }) {
  const now = useNow();
  const actions = useActions();
  const { loaded, reload } = useQuery(`person ${email}`, (options) => api.person(email, options));
  const [dialog, setDialog] = useState<OpenDialog>(null);
  if (loaded.state === "loading" || (loaded.state === "ready" && loaded.isOutdated)) {
    return <LoadingRows label="Loading this person’s messages" count={4} />;
  }
  if (loaded.state === "failed") return <FailurePanel error={loaded.error} onRetry={reload} />;
  const person = loaded.data;
  const { messages, restricted, version } = person;
  if (messages.length === 0) {
    return (
      <EmptyPanel title="No messages">
        <p>There are no messages of this address, or no longer.</p>
      </EmptyPanel>
    );
  }

  const exportPerson = () =>
    actions.attempt(async () => {
      const { fileName, contentType, text, count } = await api.exportPerson(email);
      saveFile(fileName, contentType, [text]);
      return { tone: "success", text: `${plural(count, "message")} exported as ${fileName}.` };
    });
  const restrict = (isRestricted: boolean) =>
    actions.attempt(async () => {
      const answer = await api.restrict({ email, version, isRestricted });
      await reload();
      const done = isRestricted ? "restricted: kept, but neither sent nor deleted" : "free to be used again";
      return noticeOf(answer, ({ messages }) => `${plural(messages, "message")} ${done}.`);
    });

  return (
    <>
      <PersonFacts person={person} />
      <div className="person-actions">
        <button type="button" className="button button-outline" onClick={exportPerson}>
          Export
        </button>
        <button type="button" className="button button-outline" onClick={() => setDialog({ kind: "correct", person })}>
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
        <CorrectDialog person={dialog.person} onClose={() => setDialog(null)} onDone={reload} />
      )}
      {dialog?.kind === "erase" && (
        <EraseDialog person={dialog.person} onClose={() => setDialog(null)} onDone={reload} />
      )}
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
  onDone: () => Promise<void>;
}

const LABEL: Readonly<Record<ContactField, string>> = {
  name: "Name",
  email: "E-mail address",
  phone: "Phone",
  country: "Country",
  message: "Message",
};

function CorrectDialog({ person: { email, version, messages, hasFootprint }, onClose, onDone }: PersonDialogProps) {
  const actions = useActions();
  const [errors, setErrors] = useState<FieldErrors>({});
  const [first] = messages;
  const { loaded } = useQuery(
    `message ${first?.reference}`,
    (options) => api.find(first?.reference ?? "", options),
    "once",
  );
  const isOnlyOne = messages.length === 1;
  const before: ContactMessage | null =
    loaded.state === "ready" && first
      ? {
          name: first.name,
          email: first.email,
          phone: loaded.data.phone,
          country: first.country,
          message: loaded.data.message,
        }
      : null;

  const save = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget);
    const changes: Partial<ContactMessage> = {};
    for (const field of ["name", "email", "phone", "country", "message"] as const) {
      const value = typed.get(field);
      if (typeof value === "string" && value.replaceAll("\r\n", "\n") !== before?.[field]) changes[field] = value;
    }
    const removesFootprint = typed.has("removes-footprint");
    if (Object.keys(changes).length === 0 && !removesFootprint) return onClose();
    await actions.attempt(async () => {
      const answer = await api.correct({ email, version, changes, removesFootprint });
      if (answer.outcome === "invalid") {
        setErrors(answer.fields);
        return null;
      }
      onClose();
      const newEmail = changes.email?.trim() ?? email;
      if (answer.outcome === "done" && newEmail !== email) navigate(hrefOf({ screen: "person", email: newEmail }));
      else await onDone();
      return noticeOf(answer, ({ messages }) => `${plural(messages, "message")} corrected.`);
    });
  };

  return (
    <Dialog title={isOnlyOne ? "Correct this message" : `Correct all ${messages.length} messages`} onClose={onClose}>
      <p className="dialog-note">
        What you change here changes in {isOnlyOne ? "the message" : "every message of this address"}.{" "}
        {hasFootprint && "Another country gives another footprint estimate. "}E-mails that were already sent stay as
        they are.
      </p>
      {before ? (
        <form className="dialog-form" onSubmit={save} noValidate>
          <TextField field="name" value={before.name} error={errors.name} />
          <TextField field="email" value={before.email} error={errors.email} />
          <TextField field="phone" value={before.phone} error={errors.phone} />
          <CountryField value={before.country} error={errors.country} />
          {isOnlyOne && <TextField field="message" value={before.message} error={errors.message} />}
          {hasFootprint && (
            <label className="dialog-check">
              <input type="checkbox" name="removes-footprint" />
              {isOnlyOne ? "Remove the footprint estimate" : "Remove all footprint estimates"}
            </label>
          )}
          <div className="dialog-actions">
            <button type="button" className="button button-outline" onClick={onClose}>
              Cancel
            </button>
            <button type="submit" className="button button-primary">
              Save
            </button>
          </div>
        </form>
      ) : (
        <LoadingRows label="Loading what is stored" count={3} />
      )}
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
    ...(error && { "aria-invalid": true, "aria-describedby": `${id}-error` }),
  };
  return (
    <div className="filter">
      <label className="filter-label" htmlFor={id}>
        {LABEL[field]}
      </label>
      {field === "message" ? <textarea rows={6} {...common} /> : <input type="text" {...common} />}
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
      <select id={id} name="country" defaultValue={value} {...(error && { "aria-describedby": `${id}-error` })}>
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

function FieldError({ id, error }: { id: string; error: string | undefined }) {
  return error ? (
    <p className="field-error" id={id} role="alert">
      {error}
    </p>
  ) : null;
}

function EraseDialog({ person: { email, version, messages }, onClose, onDone }: PersonDialogProps) {
  const actions = useActions();
  const [typed, setTyped] = useState("");
  const isSame = typed.trim().toLowerCase() === email.trim().toLowerCase();
  const count = plural(messages.length, "message");

  const erase = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!isSame) return;
    await actions.attempt(async () => {
      const answer = await api.erase({ email, version, confirmation: typed.trim() });
      onClose();
      await onDone();
      return noticeOf(
        answer,
        ({ messages, files }) => `${plural(messages, "message")} and ${plural(files, ".eml file")} erased.`,
      );
    });
  };

  return (
    <Dialog title={`Erase ${count}?`} onClose={onClose}>
      <p>
        Removes {count} of <VisitorText text={email} />, every trace of them in the database’s files, and their .eml
        files on this machine. It cannot be undone, and it reaches neither backups nor e-mails that were already sent.
      </p>
      {messages.some(({ hook }) => hook === "sent") && (
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

function noticeOf(answer: PersonAnswer, done: (answer: { messages: number; files: number }) => string): Notice {
  if (answer.outcome === "done") return { tone: "success", text: done(answer) };
  if (answer.outcome === "invalid") {
    return { tone: "failure", text: "Nothing was changed.", details: Object.values(answer.fields) };
  }
  return answer.outcome === "gone" ? GONE : CHANGED;
}
