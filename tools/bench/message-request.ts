let sent = 0;

/** A whole request with a message, never the same words twice, which would be one message. */
export function nextMessage(): string {
  sent += 1;
  const message = `Message ${sent}: how do I offset the carbon of a small office, and what does it cost a year?`;
  const body = JSON.stringify({
    name: "Ada Lovelace",
    email: "ada@example.com",
    phone: "+44 20",
    country: "GB",
    message,
  });
  return `POST /send-email HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}
