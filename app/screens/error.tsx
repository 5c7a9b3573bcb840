import { ErrorMessage } from "../components/error-message.tsx";
import type { Screen } from "../screen.ts";
import { site } from "../site.ts";

/** The server sends this page when a request fails unexpectedly. */
export const failure: Screen = {
  name: "error",
  title: `Unexpected Application Error! | ${site.brand}`,
  headline: "Unexpected Application Error!",
  description: `Something went wrong on the ${site.brand} site.`,
  isIndexed: false,
  isPaintedWhole: true,
  styles: "",
  render: () => <ErrorMessage level="h1" detail="500 Internal Server Error" email={site.contactEmail} />,
};
