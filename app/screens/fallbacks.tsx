import { site } from "virtual:site";
import { ErrorMessage } from "../components/error-message.tsx";
import { ButtonLink, ContactEmail } from "../components/links.tsx";
import type { Screen } from "../screen.ts";
import styles from "../styles/coming-soon.css?inline";

export const comingSoon: Screen = {
  name: "coming-soon",
  title: `Coming Soon | ${site.brand}`,
  headline: "Coming Soon",
  description: `This page of ${site.brand} is on its way.`,
  isIndexed: false,
  isPaintedWhole: true,
  styles,
  render: () => <ComingSoon />,
};

/** The server sends this page when a request fails unexpectedly. */
export const failure: Screen = {
  name: "error",
  title: `Unexpected Application Error! | ${site.brand}`,
  headline: "Unexpected Application Error!",
  description: `Something went wrong on the ${site.brand} site.`,
  isIndexed: false,
  isPaintedWhole: true,
  styles,
  render: () => (
    <div className="coming-soon">
      <TurbineIcon />
      <ErrorMessage level="h1" detail="500 Internal Server Error" email={site.contactEmail} />
    </div>
  ),
};

function ComingSoon() {
  return (
    <div className="coming-soon">
      <TurbineIcon />
      <h1>{comingSoon.headline}</h1>
      <p className="lead">Something amazing is on the way! Stay tuned.</p>
      <p>
        For more details, contact us at: <ContactEmail />
      </p>
      <ButtonLink link={{ label: "Get Notified", href: "/contact" }} look="primary" />
    </div>
  );
}

/** A wind turbine whose rotor turns by CSS; still under reduced motion. */
function TurbineIcon() {
  return (
    <svg className="turbine" viewBox="0 0 96 112" width="96" height="112" aria-hidden="true">
      <path className="turbine-tower" d="M46.800 48h2.400l2.300 60h-7Z" />
      <g className="turbine-rotor">
        {[0, 120, 240].map((turn) => (
          <path
            key={turn}
            d="M48 44c2.600-2 4.300-6.500 4.100-11.500C51.900 25 50.200 13 48 4c-1.300 9-2.600 20-2.700 27.500-.1 5.500.7 10 2.700 12.500Z"
            transform={`rotate(${turn} 48 46)`}
          />
        ))}
      </g>
      <circle className="turbine-hub" cx="48" cy="46" r="4" />
    </svg>
  );
}
