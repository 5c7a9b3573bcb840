import { Readable } from "node:stream";
import { fastifyTRPCPlugin } from "@trpc/server/adapters/fastify";
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from "fastify";
import superjson from "superjson";
import { securityHeaders } from "../../contract/response-headers.ts";
import { StoreUnavailable } from "../../server/store/errors.ts";
import type { Desk } from "../desk.ts";
import { exportMessages } from "../export-messages.ts";
import { describeProblems, FILTER, type Router, router } from "../operations.ts";
import { exportPerson } from "../person.ts";
import type { Guard } from "./guard.ts";

export interface PageFile {
  type: string;
  body: Buffer;
}

interface InboxAppOptions {
  desk: Desk;
  guard: Guard;
  files: ReadonlyMap<string, PageFile>;
  onDefect(error: unknown): void;
}

const MAX_BODY_BYTES = 128 * 1024;

/** If a visitor's text were ever rendered as markup, it could not run, load or send anything. */
const POLICY = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src", "font-src", "connect-src"].map((kind) => `${kind} 'self'`),
  ...["base-uri", "form-action", "frame-ancestors"].map((kind) => `${kind} 'none'`),
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

export const HEADERS: Readonly<Record<string, string>> = {
  ...securityHeaders("http:"),
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

export function createInboxApp({ desk, guard, files, onDefect }: InboxAppOptions): FastifyInstance {
  const app = Fastify({
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: 5000 },
    // Called for paths that cannot be decoded, before all hooks, so it must always refuse.
    frameworkErrors: (_error, _request, reply) => refuse(reply.headers(HEADERS), 404, "There is no such file."),
  });
  // Accepts only JSON, a content type that a form on another site cannot send.
  app.removeContentTypeParser("text/plain");
  app.addHook("onRequest", async (_request, reply) => void reply.headers(HEADERS));
  app.setErrorHandler((error: FastifyError, _request, reply) => {
    const status = error instanceof StoreUnavailable ? 503 : (error.statusCode ?? 500);
    if (status === 500) onDefect(error);
    return refuse(reply, status, status === 500 ? "Something went wrong; see the terminal." : error.message);
  });

  app.register(async (page) => {
    page.addHook("onRequest", async ({ raw }, reply) => {
      const refusal = guard.checkPage(raw);
      if (refusal) return refuse(reply, refusal.status, refusal.message);
    });
    for (const [path, { type, body }] of files) page.get(path, (_request, reply) => reply.type(type).send(body));
    page.setNotFoundHandler(({ method, url }, reply) => {
      if (method !== "GET" && method !== "HEAD") return refuse(reply, 400, "Only GET and HEAD are supported.");
      // Every screen has its own path.
      const index = url.startsWith("/assets/") ? undefined : files.get("/index.html");
      return index ? reply.type(index.type).send(index.body) : refuse(reply, 404, "There is no such file.");
    });
  });

  app.register(
    async (api) => {
      api.addHook("onRequest", async ({ raw, headers }, reply) => {
        const refusal = guard.checkOrigin(raw) ?? guard.checkToken(raw);
        if (refusal) return refuse(reply, refusal.status, refusal.message);
        // The operations would accept forms and files too, of any size.
        const { "content-type": type = "application/json" } = headers;
        if (!/^application\/json(;|$)/i.test(type)) return refuse(reply, 415, "Only JSON is accepted.");
      });
      api.register(fastifyTRPCPlugin<Router>, {
        prefix: "/operations",
        trpcOptions: {
          router,
          createContext: () => desk,
          onError: ({ error }) => {
            if (error.code === "INTERNAL_SERVER_ERROR") onDefect(error.cause ?? error);
          },
        },
      });
      serveDownloads(api, desk);
      api.setNotFoundHandler((_request, reply) => refuse(reply, 404, "There is no such operation."));
    },
    { prefix: "/api" },
  );
  return app;
}

/** Streams exports, so that a large file needs little memory. The query is a filter as superjson. */
function serveDownloads(api: FastifyInstance, { store }: Desk): void {
  const sendAs = async (reply: FastifyReply, name: string, type: string) => {
    const day = new Date().toISOString().slice(0, 10);
    const file = `${name}-${day}.${type.slice(type.indexOf("/") + 1)}`;
    reply.type(`${type}; charset=utf-8`).header("content-disposition", `attachment; filename="${file}"`);
  };

  api.get<{ Querystring: { filter?: string } }>("/export.csv", async ({ query }, reply) => {
    const filter = parseFilter(query.filter);
    if (!filter?.success) return refuse(reply, 400, filter ? describeProblems(filter.error) : "filter: not JSON");
    await sendAs(reply, "messages", "text/csv");
    return reply.send(Readable.from(exportMessages({ filter: filter.data, format: "csv" }, store.messages)));
  });
  api.get<{ Querystring: { email?: string } }>("/privacy-export.json", async ({ query: { email = "" } }, reply) => {
    await sendAs(reply, "privacy-export", "application/json");
    return reply.send(await exportPerson(email, store));
  });
}

function parseFilter(text: string | undefined) {
  try {
    return FILTER.safeParse(text ? superjson.parse(text) : {});
  } catch {
    return null;
  }
}

/** Answers with plain text, because a person reads it in a browser or a terminal. */
function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  if (status === 401) reply.header("www-authenticate", "Bearer");
  return reply.code(status).type("text/plain; charset=utf-8").send(`${message}\n`);
}
