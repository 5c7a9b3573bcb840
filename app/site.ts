import type { SiteSettings } from "./site-schema.ts";

/**
 * The settings an operator edits: brand, words, navigation, links and policy facts.
 * After a change run `npm run build` (`npm start` does so by itself).
 */
export const site: SiteSettings = {
  brand: "Brighter Carbon",
  legalName: "Brighter Carbon Private Limited",
  contactEmail: "hello@brightercarbon.example",
  /** Two to four capital letters; every message reference starts with them. */
  referencePrefix: "BC",

  footerTagline: "Carbon Offsetting Made Easy",
  contactTagline: "Carbon Offsetting for a Brighter Future",

  /** A label with an `href` is a link. */
  menu: [
    { label: "About Us" },
    { label: "Carbon Credits", smallScreenLabel: "Carbon Offsetting Credits" },
    { label: "Business Tools" },
    { label: "Energy Transition" },
    { label: "Support" },
  ],
  openAccount: { label: "Open an Account", href: "/open-account" },
  login: { label: "Login to the web", href: "/login" },
  startOffsetting: { label: "Start Offsetting Now", href: "/contact#footprint" },

  /** The company's look. Text is readable with every hue. */
  look: {
    /** OKLCH hues in degrees, e.g. 30 red, 70 amber, 140 green, 250 blue, 300 purple: text and surfaces, then buttons. */
    hue: 178,
    accentHue: 72,
    /** A WOFF2 file beside this one, for headings. `null` is the project's font. */
    displayFont: null,
    /** SVG path data: a part in the text's colour and a part in the accent colour. `null` is the project's mark. */
    mark: null,
  },

  hero: {
    headline: "Accelerate your path to net zero",
    subtitle: "Invest in a sustainable future with cost-effective carbon offsetting and renewable energy credits.",
    line: "Support renewable power projects to help neutralise the carbon footprint you cannot cut yet.",
    more: "Carbon neutrality starts with cutting your own emissions. Credits help to pay for projects elsewhere; on their own they do not make a company or a product carbon neutral.",
    /** For search engines. */
    description:
      "Carbon offsetting and renewable energy credits for businesses and individuals. Support solar and wind projects on your path to net zero.",
  },
  /** `own` is the project's film; `off` leaves the still picture; or the address of another film, as MP4 or WebM. */
  heroFilm: "own",
  /** e.g. `{ file: "hero.jpg", alt: "Hills in the evening." }`, beside this file: the film's first frame, dark on the left. */
  heroPicture: null,

  footerColumns: [
    {
      title: "Company",
      links: [
        { label: "About us", href: "/about" },
        { label: "Careers", href: "/careers" },
        { label: "Articles", href: "/articles" },
        { label: "Partner with us", href: "/partner" },
      ],
    },
    {
      title: "Help and support",
      links: [
        { label: "Support", href: "/support" },
        { label: "Contact us", href: "/contact" },
      ],
    },
    {
      title: "Legal",
      links: [
        { label: "Privacy policy", href: "/privacy" },
        { label: "Terms and conditions", href: "/terms" },
        { label: "Cancellations and refunds", href: "/cancellation" },
        { label: "Shipping and delivery", href: "/delivery" },
      ],
    },
  ],
  social: [
    { network: "Facebook", href: "/" },
    { network: "Twitter", href: "/" },
    { network: "Instagram", href: "/" },
    { network: "LinkedIn", href: "/" },
  ],

  /** e.g. `{ amount: 25, currency: "EUR", includes: "VAT" }`: says what credits for an estimate cost. `null` says nothing. */
  pricePerTonne: null,
  /**
   * e.g. `{ amount: 2, unit: "working days" }` or `{ amount: 24, unit: "hours" }`: the sender of a message is told, and an
   * alert names messages that wait longer. `null` promises nothing.
   */
  answerWithin: null,
  /** Below every reply, e.g. "The team of Brighter Carbon". `null` adds nothing. */
  mailSignature: null,

  /** `null` shows a visible placeholder, and the build lists it as a task before launch. */
  policyFacts: {
    /** As registered, e.g. "01234567"; many countries require it on a website. */
    companyNumber: null,
    /** e.g. "1 High Street, London EC1A 1AA, United Kingdom" */
    registeredAddress: null,
    /** e.g. "8 November 2024" */
    lastUpdated: null,
    /** Of the refund policy, which has its own date. */
    refundsLastUpdated: "8th Nov 2024",
    /** e.g. "the laws of England and Wales" */
    governingLaw: null,
    /** e.g. "the London Court of International Arbitration" */
    arbitrationBody: null,
    /** As in docs/operations.md, "Backup and restore". */
    backupsKept: "14 days",
    /** Only the proxy in front of this server keeps a request log; nginx on Debian keeps 14 days and today. */
    requestLogKept: "15 days",
  },
};
