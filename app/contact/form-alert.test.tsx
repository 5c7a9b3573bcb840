import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { SENT_ALERT_HIDDEN, SENT_ALERT_SHOWN } from "../../contract/send-email-answer.ts";
import { FormAlert } from "./form-alert.tsx";
import { START } from "./form-state.ts";

test("without script the success stays hidden until our server shows it; another host's pages have nobody to ask", () => {
  const htmlFor = (apiBase: string) => renderToStaticMarkup(<FormAlert state={START} apiBase={apiBase} />);
  expect(htmlFor("")).toContain(`<div ${SENT_ALERT_HIDDEN}`);
  expect(htmlFor("https://api.example")).toContain(`<div ${SENT_ALERT_SHOWN}`);
});
