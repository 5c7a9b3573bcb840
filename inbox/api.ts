import {
  type ActionAnswer,
  type ActionRequest,
  type ChangeNotice,
  type CorrectRequest,
  type CountryCount,
  type EraseRequest,
  type ExportPart,
  type ExportQuery,
  type InboxError,
  type ListQuery,
  type MessageDetail,
  type MessagePage,
  type MessagePlace,
  type Overview,
  type People,
  type Person,
  type PersonAnswer,
  type PlaceQuery,
  type RestrictRequest,
  TOKEN_IN_FRAGMENT,
} from "../contract/inbox.ts";

const TOKEN_KEY = "inbox-token";
const ASK_TABS_MS = 250;

/** `unreachable`: nothing answered, so that nobody knows whether the call had an effect. */
export class ApiFailure extends Error {
  readonly kind: InboxError["error"] | "unreachable";

  constructor(kind: ApiFailure["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface CallOptions {
  signal?: AbortSignal;
  /** The page calls by itself, without the operator. */
  isBackground?: boolean;
}

let token: string | null = null;

/**
 * Takes the token from the address's fragment, where no server sees it, and removes it from there; else uses the one
 * this tab had before a reload; else asks the inbox's other tabs, for a link that was opened in a new one. Resolves to
 * whether there is one.
 */
export async function obtainToken(): Promise<boolean> {
  const given = TOKEN_IN_FRAGMENT.exec(location.hash)?.[1];
  if (given) {
    sessionStorage.setItem(TOKEN_KEY, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  // A new address that is pasted into this tab differs in its fragment only, which loads nothing by itself.
  addEventListener("hashchange", () => TOKEN_IN_FRAGMENT.test(location.hash) && location.reload());

  // Only pages of this very server hear it: a channel belongs to one host and port.
  const channel = new BroadcastChannel(TOKEN_KEY);
  token = given ?? sessionStorage.getItem(TOKEN_KEY) ?? (await askOtherTabs(channel));
  if (token) sessionStorage.setItem(TOKEN_KEY, token);
  channel.addEventListener("message", ({ data }) => {
    if (data === "ask" && token) channel.postMessage({ token });
  });
  return token !== null;
}

function askOtherTabs(channel: BroadcastChannel): Promise<string | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), ASK_TABS_MS);
    channel.addEventListener("message", ({ data }) => {
      if (typeof data?.token !== "string") return;
      clearTimeout(timer);
      resolve(data.token);
    });
    channel.postMessage("ask");
  });
}

export const api = {
  list: (query: ListQuery, options?: CallOptions) => get<MessagePage>("messages", { ...query }, options),
  find: (reference: string, options?: CallOptions) =>
    get<MessageDetail>(`messages/${encodeURIComponent(reference)}`, {}, options),
  place: (reference: string, query: PlaceQuery, options?: CallOptions) =>
    get<MessagePlace>(`messages/${encodeURIComponent(reference)}/place`, { ...query }, options),
  addNote: ({ reference, text }: { reference: string; text: string }) =>
    post<MessageDetail>(`messages/${encodeURIComponent(reference)}/notes`, { text }),
  act: (request: ActionRequest, options?: CallOptions) => post<ActionAnswer>("actions", request, options),
  person: (email: string, options?: CallOptions) => get<Person>("people", { email }, options),
  findPeople: (search: string, options?: CallOptions) => get<People>("people/search", { search }, options),
  exportPerson: (email: string, options?: CallOptions) => get<ExportPart>("people/export", { email }, options),
  correct: (request: CorrectRequest) => post<PersonAnswer>("people/correct", request),
  restrict: (request: RestrictRequest) => post<PersonAnswer>("people/restrict", request),
  erase: (request: EraseRequest) => post<PersonAnswer>("people/erase", request),
  exportPart: (query: ExportQuery, options?: CallOptions) => get<ExportPart>("export", { ...query }, options),
  countries: (options?: CallOptions) => get<readonly CountryCount[]>("countries", {}, options),
  overview: (query: { days?: number }, options?: CallOptions) => get<Overview>("overview", query, options),
  changes: (since: string | null, options?: CallOptions) =>
    get<ChangeNotice>("changes", { since: since ?? undefined }, { ...options, isBackground: true }),
};

type Query = Readonly<Record<string, string | number | undefined>>;

function get<T>(path: string, query: Query, { signal, isBackground }: CallOptions = {}): Promise<T> {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  if (isBackground) parameters.set("background", "1");
  const search = parameters.size > 0 ? `?${parameters}` : "";
  return call<T>(path + search, signal ? { signal } : {});
}

function post<T>(path: string, body: object, { signal }: CallOptions = {}): Promise<T> {
  return call<T>(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

async function call<T>(path: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`/api/${path}`, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${token}` },
      cache: "no-store",
    });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiFailure("unreachable", "The inbox does not answer. It may have been stopped in its terminal.");
  }
  const answer: unknown = await response.json().catch(() => null);
  if (init.signal?.aborted) throw new DOMException("The call was cancelled.", "AbortError");
  // The page and the command are of the same version and agree on the contract: its answers are trusted.
  if (response.ok) return answer as T;
  const { error = "failed", message = `The inbox answered with an unexpected status (${response.status}).` } =
    (answer ?? {}) as Partial<InboxError>;
  throw new ApiFailure(error, message);
}

/** What to tell the operator about anything that was thrown. */
export function describeFailure(error: unknown): string {
  return error instanceof ApiFailure ? error.message : "Something went wrong in this page. Reload it and try again.";
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
