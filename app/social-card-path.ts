/** Where the build puts the picture that a link to this page shows when it is shared. */
export function socialCardPath(url: string): string {
  return `/assets/social${new URL(url, "http://localhost").pathname.replace(/\/$/, "/home")}.jpg`;
}
