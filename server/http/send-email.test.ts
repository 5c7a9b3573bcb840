import { expect, test } from "vitest";
import { judgeOrigin } from "./send-email.ts";

const SITE = "https://www.example.com";
const ALLOWED = ["https://pages.example.net"];

test.each([
  [{ host: "www.example.com" }, "own"],
  [{ host: "www.example.com", origin: "https://www.example.com" }, "own"],
  [{ host: "10.0.0.5:3000", origin: "https://www.example.com" }, "own"],
  [{ host: "localhost:3000", origin: "http://localhost:3000" }, "own"],
  [{ host: "LOCALHOST:3000", origin: "http://localhost:3000" }, "own"],
  [{ host: "www.example.com", origin: "https://pages.example.net" }, "allowed"],
  [{ host: "www.example.com", origin: "https://evil.example" }, "foreign"],
  [{ host: "www.example.com", origin: "https://www.example.com.evil.example" }, "foreign"],
  [{ host: "www.example.com", origin: "null" }, "foreign"],
  [{ host: "www.example.com", origin: "" }, "foreign"],
  [{ host: "www.example.com", "sec-fetch-site": "cross-site" }, "foreign"],
  [{ host: "www.example.com", "sec-fetch-site": "same-origin" }, "own"],
  [{ origin: "https://evil.example" }, "foreign"],
  [{ host: "www.example.com", origin: "https://evil.example", "x-forwarded-host": "evil.example" }, "foreign"],
])("%j is %s", (headers, kind) => {
  expect(judgeOrigin(headers, SITE, ALLOWED)).toBe(kind);
});
