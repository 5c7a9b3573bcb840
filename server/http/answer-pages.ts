import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  FORM_BUNDLE,
  FORM_MARKER,
  type FormBundle,
  type FormOfBuild,
  serverDir,
} from "../../contract/build-manifest.ts";
import type { AnsweredPost } from "../../contract/send-email-answer.ts";

/**
 * Returns a function that renders the contact page as the answer to a post without script, in parts: unread answers
 * share all but the form. The first call loads React, which takes memory that a server without such posts does not need.
 */
export function answerPages(distDir: string, form: FormOfBuild): (answered: AnsweredPost) => Promise<Buffer[]> {
  const partsOf = (page: string) => page.split(FORM_MARKER).map((part) => Buffer.from(part));
  const pages = { sent: partsOf(form.pages.sent), refused: partsOf(form.pages.refused) };
  let bundle: Promise<FormBundle> | undefined;
  return async (answered) => {
    bundle ??= import(pathToFileURL(join(serverDir(distDir), FORM_BUNDLE)).href);
    const { renderForm } = await bundle;
    const [before = Buffer.of(), ...after] = pages[answered.kind];
    return [before, Buffer.from(renderForm(form, answered)), ...after];
  };
}
