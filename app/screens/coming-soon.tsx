import { ButtonLink } from "../components/button.tsx";
import { ContactEmail } from "../components/contact-email.tsx";
import { TurbineIcon } from "../components/turbine-icon.tsx";
import type { Screen } from "../screen.ts";
import { site } from "../site.ts";
import styles from "../styles/coming-soon.css?inline";

export const comingSoon: Screen = {
  name: "coming-soon",
  title: `Coming Soon | ${site.brand}`,
  headline: "Coming Soon",
  description: `This page of ${site.brand} is on its way.`,
  isIndexed: false,
  styles,
  render: () => <ComingSoon />,
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
