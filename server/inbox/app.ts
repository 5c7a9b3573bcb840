import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from "fastify";
import type { InboxError } from "../../contract/inbox.ts";
import { securityHeaders } from "../../contract/response-headers.ts";
import { OperatorError } from "../log.ts";
import { StoreUnavailable } from "../store/store.ts";
import { type ApiOptions, InvalidCall, NotFound, serveApi } from "./api.ts";
import type { Guard, Refusal } from "./guard.ts";

export interface PageFile {
  type: string;
  body: Buffer;
}

export interface InboxAppOptions extends ApiOptions {
  guard: Guard;
  /** Of the built page, by their path. */
  files: ReadonlyMap<string, PageFile>;
  /** Called for each call that the operator caused. */
  onUsed(): void;
  /** Called once for an error that is a defect of ours, so that somebody can see it. */
  onDefect(error: unknown): void;
}

const MAX_BODY_BYTES = 128 * 1024;

/**
 * Nothing but the page's own files, and no inline script or style. Should a visitor's text ever get into the page as
 * markup, the browser runs, loads and sends nothing for it.
 */
const POLICY = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src", "font-src", "connect-src"].map((kind) => `${kind} 'self'`),
  ...["base-uri", "form-action", "frame-ancestors"].map((kind) => `${kind} 'none'`),
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** Of every answer. */
export const HEADERS: Readonly<Record<string, string>> = {
  // By which a server of the site recognises what has taken its port.
  server: "inbox",
  ...securityHeaders("http:"),
  "content-security-policy": POLICY,
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

/** The page and its API, without a server. */
export function createInboxApp(options: InboxAppOptions): FastifyInstance {
  const { guard, files, onUsed, onDefect } = options;
  const app = Fastify({
    bodyLimit: MAX_BODY_BYTES,
    ajv: { customOptions: { verbose: true } },
    schemaErrorFormatter: ([first]) => new InvalidCall(first ? sentenceOf(first) : "The call is not understood."),
    // Called for paths that cannot be decoded, before all hooks: nothing but a refusal.
    frameworkErrors: (_error, _request, reply) => fail(reply.headers(HEADERS), new NotFound("There is no such file.")),
  });
  // Only JSON is understood: a form of another site cannot have its type.
  app.removeContentTypeParser("text/plain");
  app.addHook("onRequest", async (_request, reply) => void reply.headers(HEADERS));
  app.setErrorHandler((error: FastifyError, _request, reply) => fail(reply, error));

  function fail(reply: FastifyReply, error: FastifyError | Error): FastifyReply {
    const known = failureOf(error);
    if (!known) onDefect(error);
    const { status, ...answer } = known ?? DEFECT;
    return reply.code(status).send(answer);
  }

  app.register(async (page) => {
    page.addHook("onRequest", async ({ raw }, reply) => {
      const refusal = guard.checkPage(raw);
      // For a person in a browser, so not as JSON. Most often the port was forwarded under another number.
      if (refusal) return reply.code(refusal.status).type("text/plain; charset=utf-8").send(`${refusal.message}\n`);
    });
    for (const [path, { type, body }] of files) page.get(path, (_request, reply) => reply.type(type).send(body));
    page.setNotFoundHandler(({ method, url }, reply) => {
      if (method !== "GET" && method !== "HEAD") throw new InvalidCall("Only GET and HEAD are understood.");
      // Every screen of the page has a path of its own.
      const index = url.startsWith("/assets/") ? undefined : files.get("/index.html");
      if (!index) throw new NotFound("There is no such file.");
      return reply.type(index.type).send(index.body);
    });
  });
  app.register(
    async (api) => {
      api.addHook("onRequest", async (request, reply) => {
        const refusal = guard.checkOrigin(request.raw) ?? (await guard.checkToken(request.raw));
        if (refusal) return refuse(reply, refusal);
        const isBackground = (request.query as { background?: string }).background === "1";
        if (!isBackground && request.routeOptions.url !== "/api/changes") onUsed();
      });
      serveApi(api, options);
      api.setNotFoundHandler(({ method }) => {
        if (method !== "GET" && method !== "POST") throw new InvalidCall("Only GET and POST are understood.");
        throw new NotFound("There is no such call.");
      });
    },
    { prefix: "/api" },
  );
  return app;
}

function refuse(reply: FastifyReply, refusal: Refusal | null): FastifyReply | undefined {
  if (!refusal) return undefined;
  const { status, error, message } = refusal;
  if (status === 401) reply.header("www-authenticate", "Bearer");
  if (status === 429) reply.header("retry-after", "60");
  return reply.code(status).send({ error, message } satisfies InboxError);
}

type Failure = InboxError & { status: number };

const DEFECT: Failure = { status: 500, error: "failed", message: "Something went wrong; the terminal says what." };

/** What to answer to an error that is known; `null` for a defect of ours. */
function failureOf(error: FastifyError | Error): Failure | null {
  const { message } = error;
  if (error instanceof InvalidCall) return { status: 400, error: "invalid", message };
  if (error instanceof NotFound) return { status: 404, error: "not-found", message };
  if (error instanceof StoreUnavailable) return { status: 503, error: "unavailable", message };
  if (error instanceof OperatorError) return { status: 500, error: "failed", message };
  switch ("statusCode" in error ? error.statusCode : 500) {
    case 413:
      return { status: 413, error: "too-large", message: "That is more than one call may carry." };
    case 415:
      return { status: 400, error: "invalid", message: "Send JSON." };
    case 400:
      return { status: 400, error: "invalid", message: "The body is not JSON." };
    default:
      return null;
  }
}

interface SchemaError {
  instancePath: string;
  params: Record<string, unknown>;
  /** The schema that refused the value. */
  parentSchema?: { description?: string };
}

function sentenceOf({ instancePath, params, parentSchema }: SchemaError): string {
  if (typeof params.missingProperty === "string") return `${params.missingProperty} is missing.`;
  const name = instancePath.split("/").at(-1);
  return name ? `${name} is not ${parentSchema?.description ?? "understood"}.` : "Send a JSON object.";
}
