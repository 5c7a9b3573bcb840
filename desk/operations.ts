import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { initTRPC, TRPCError } from "@trpc/server";
import superjson from "superjson";
import { z } from "zod";
import { adviceLine } from "../contract/commands.ts";
import { FIELD_NAMES } from "../contract/contact-message.ts";
import { asSentence } from "../contract/text.ts";
import { OperatorError } from "../server/errors.ts";
import { StoreReplaced, StoreUnavailable } from "../server/store/errors.ts";
import { TABS } from "../server/store/messages.ts";
import { ACTIONS } from "../server/store/model.ts";
import type { Desk } from "./desk.ts";
import {
  actOn,
  eachPage,
  NoMessage,
  readDetail,
  replyTo,
  sendAgain,
  takeBackReply,
  undoStep,
  viewerOf,
} from "./message-view.ts";
import { correctPerson, erasePerson, readPerson, restrictPerson } from "./person.ts";
import { readStatus } from "./status.ts";
import { MAX_NOTE_LENGTH, MAX_REPLY_LENGTH, MAX_SEARCH_LENGTH, MAX_SUBJECT_LENGTH } from "./words.ts";

// What operators do, for the inbox page over HTTP (browser/) and for the command line in its own process (terminal/).
// Exports, backups and the list of the command line read the store themselves.

const t = initTRPC.context<Desk>().create({
  transformer: superjson,
  errorFormatter: ({ shape: { code, data }, error, ctx }) => ({
    code,
    message: sentencesOf(error, ctx?.program),
    data: { code: data.code, httpStatus: data.httpStatus },
  }),
});

const operation = t.procedure.use(async ({ ctx, type, next }) => {
  const unavailable = (cause: unknown): never => {
    throw new TRPCError({ code: "SERVICE_UNAVAILABLE", cause });
  };
  if (type === "mutation") await ctx.requireSameDatabase?.().catch(unavailable);
  const result = await next();
  if (result.ok || result.error.code !== "INTERNAL_SERVER_ERROR") return result;
  const { cause } = result.error;
  if (cause instanceof StoreUnavailable) throw new TRPCError({ code: "SERVICE_UNAVAILABLE", cause });
  if (cause instanceof NoMessage) throw new TRPCError({ code: "NOT_FOUND", cause });
  if (cause instanceof OperatorError) throw new TRPCError({ code: "UNPROCESSABLE_CONTENT", cause });
  return result;
});

function sentencesOf({ code, cause, message }: TRPCError, program: string | undefined): string {
  if (cause instanceof z.ZodError) return asSentence(describeProblems(cause));
  if (cause instanceof OperatorError)
    return cause.advice.map((advice) => asSentence(adviceLine(advice, program))).join(" ");
  return asSentence(code === "INTERNAL_SERVER_ERROR" ? "Something went wrong; see the terminal" : message);
}

export function describeProblems({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
}

const MAX_TARGETS = 200;
const PAGE_SIZE = 500;
const CHANGES_INTERVAL_MS = 700;

/** PostgreSQL cannot store NUL. */
const text = (maxLength = 500) =>
  z
    .string()
    .max(maxLength)
    .refine((value) => !value.includes("\0"), "must not contain a NUL character");
const written = (maxLength: number) => text(maxLength).trim().min(1, "must not be empty");

export const FILTER = z.strictObject({
  tab: z.enum(TABS).default("all"),
  /** In the words of the tabs. */
  state: z
    .enum(["waiting", "delivered", "failed", "quarantined"])
    .transform((state) => (state === "waiting" ? "queued" : state))
    .optional(),
  email: text().optional(),
  hasDraft: z.boolean().optional(),
  /** Words that are all in the message, its notes or replies, ignoring case and accents. */
  search: text(MAX_SEARCH_LENGTH).optional(),
  since: z.date().optional(),
});
const REFERENCE = z.object({ reference: text() });
/** If a version is given, a message with another version is not changed. */
const TARGET = REFERENCE.extend({ version: text().optional() });
const PERSON = z.object({ email: text() });

export const router = t.router({
  list: operation
    .input(FILTER.extend({ offset: z.int().min(0).default(0), limit: z.int().min(1).max(PAGE_SIZE).default(50) }))
    .query(async ({ input: { offset, limit, ...filter }, ctx: { store } }) => {
      const messages = await store.messages.list({ ...filter, offset, limit });
      const counts = await store.messages.countTabs(filter);
      return { messages: messages.map(await viewerOf(messages, store)), counts };
    }),

  message: operation.input(REFERENCE).query(({ input: { reference }, ctx }) => readDetail(reference, ctx)),

  neighbours: operation
    .input(FILTER.extend(REFERENCE.shape))
    .query(async ({ input: { reference, ...filter }, ctx: { store } }) => {
      const neighbours = await store.messages.neighbours(reference, filter);
      if (!neighbours) throw new NoMessage(reference);
      return neighbours;
    }),

  act: operation
    .input(
      z.object({
        action: z.enum(ACTIONS),
        targets: z.array(TARGET).min(1).max(MAX_TARGETS),
        /** Calls with the same step are undone together. */
        step: z.uuid().optional(),
      }),
    )
    .mutation(({ input: { action, targets, step }, ctx }) => actOn(action, targets, ctx, step)),

  undo: operation.input(z.object({ step: z.uuid() })).mutation(({ input: { step }, ctx }) => undoStep(step, ctx)),

  actOnAll: operation
    .input(z.object({ action: z.enum(["retry", "release"]), state: FILTER.shape.state, since: z.date().optional() }))
    .mutation(async ({ input: { action, ...filter }, ctx: { store } }) => {
      const now = await store.status.time();
      let count = 0;
      for await (const messages of eachPage(filter, PAGE_SIZE, store.messages)) {
        const references = messages.map(({ reference }) => reference);
        count += (await store.actions.act(action, { references }, now)).length;
      }
      return count;
    }),

  note: operation
    .input(REFERENCE.extend({ text: written(MAX_NOTE_LENGTH), key: z.uuid().default(() => randomUUID()) }))
    .mutation(async ({ input: { reference, text, key }, ctx: { store } }) => {
      const isAdded = await store.actions.addNote(reference, text, await store.status.time(), key);
      if (!isAdded) throw new NoMessage(reference);
    }),

  reply: operation
    .input(
      TARGET.extend({
        key: z.uuid().default(() => randomUUID()),
        subject: written(MAX_SUBJECT_LENGTH).optional(),
        /** Another address that wrote in the thread, instead of the form's. */
        to: text().optional(),
        text: written(MAX_REPLY_LENGTH),
        isUndoable: z.boolean().default(false),
        /** When the operator opened the message: a later reply of somebody else comes back instead. */
        since: z.date().optional(),
      }),
    )
    .mutation(({ input: { reference, version, key, subject, to, text, ...options }, ctx: { store } }) =>
      replyTo({ reference, version }, { key, subject, to, text }, options, store),
    ),

  /** Sends the last reply again, also if it may have been sent: the operator has looked at it. */
  sendAgain: operation.input(REFERENCE).mutation(({ input, ctx: { store } }) => sendAgain(input.reference, store)),

  takeBackReply: operation
    .input(REFERENCE.extend({ key: z.uuid().optional() }))
    .mutation(({ input: { reference, key }, ctx: { store } }) => takeBackReply(reference, key, store)),

  /** The last save wins; nothing but spaces is removed. */
  saveDraft: operation
    .input(
      REFERENCE.extend({
        subject: text(MAX_SUBJECT_LENGTH),
        text: text(MAX_REPLY_LENGTH),
        note: text(MAX_NOTE_LENGTH),
      }),
    )
    .mutation(async ({ input: { reference, ...draft }, ctx: { store } }) => {
      const savedAt = await store.status.time();
      if (!(await store.replies.saveDraft(reference, draft, savedAt))) throw new NoMessage(reference);
      return { savedAt };
    }),

  status: operation.query(({ ctx }) => readStatus(ctx)),

  person: operation.input(PERSON).query(async ({ input: { email }, ctx: { store } }) => {
    const person = await readPerson(email, store);
    return { ...person, messages: person.messages.map(await viewerOf(person.messages, store)) };
  }),

  /** `invalid` contains one sentence for each invalid field. */
  correct: operation
    .input(
      PERSON.extend({
        changes: z.partialRecord(z.enum(FIELD_NAMES), z.string()),
        footprint: z.literal("none", "must be none").optional(),
      }).refine(
        ({ changes, footprint }) => Object.keys(changes).length > 0 || footprint !== undefined,
        "Give at least one field to correct",
      ),
    )
    .mutation(({ input: { email, changes, footprint }, ctx }) =>
      correctPerson(email, { changes, removesFootprint: footprint === "none" }, ctx),
    ),

  restrict: operation
    .input(PERSON.extend({ isRestricted: z.boolean() }))
    .mutation(({ input: { email, isRestricted }, ctx }) => restrictPerson(email, isRestricted, ctx)),

  erase: operation
    .input(PERSON)
    .mutation(async ({ input, ctx }) => ({ ...(await erasePerson(input.email, ctx)), leftFiles: ctx.leftFiles() })),

  changes: operation.subscription(async function* ({ ctx: { store, requireSameDatabase }, signal }) {
    let last: string | undefined;
    while (!signal?.aborted) {
      try {
        await requireSameDatabase?.();
        const token = await store.messages.changeToken();
        // Counts only after a change, because counting many messages takes long.
        if (token !== last) {
          // It lists those with a new answer first.
          const [first] = await store.messages.list({ tab: "unanswered", limit: 1 });
          const hasNewAnswer = (first?.newAnswerAt ?? null) !== null;
          yield { problem: null, token, counts: await store.messages.countTabs({}), hasNewAnswer };
        }
        last = token;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        const problem = error instanceof StoreReplaced ? "replaced" : "unavailable";
        const reason = asSentence(error.message);
        if (reason !== last) yield { problem, reason } as const;
        last = reason;
      }
      await sleep(CHANGES_INTERVAL_MS, undefined, { signal: signal as AbortSignal }).catch(() => {});
    }
  }),
});

export type Router = typeof router;

export const createCaller = t.createCallerFactory(router);
