/** Names that RFC 2606 and 6761 keep for examples and tests: nobody has a site or a mailbox there. */
export function isReservedDomain(domain: string): boolean {
  return /(^|\.)(example|test|invalid|localhost|local|example\.(com|net|org))$/i.test(domain);
}

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1).toLowerCase();
}
